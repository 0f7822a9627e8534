/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Which blocks of a bundle count.  A block that was invalid is measured again under
 * another number; the cells say which block of the plan each was.  Of several the last
 * one counts.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

struct report_rows {
	struct report_row {
		bool known;
		bool superseded; /* was measured again */
		uint32_t slot;	 /* number in the plan, from 0 */
	} *rows;		 /* by the number of measuring */
	size_t count;
};

/* cells: the array of a bundle.  -ENOMEM. */
int rows_make(struct report_rows *r, const json_t *cells, struct err *e);
void rows_deinit(struct report_rows *r);

/* NULL: no cell of that block is known. */
const struct report_row *rows_of(const struct report_rows *r, uint64_t block);
