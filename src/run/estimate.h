/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What a run will do, before it does anything: cells, bytes, space, and a rough time.
 * The time assumes a rate for plain transfers and a fixed cost for moving, checking and
 * mounting; synchronous writes can take many times longer, which is said where it is
 * printed.
 */

#include <stdint.h>

#include "plan/experiment.h"

/* Transfers on a single disk, and what a cell costs beside them. */
#define ESTIMATE_BYTES_PER_SECOND UINT64_C(100000000)
#define ESTIMATE_CELL_NS UINT64_C(2000000000)

struct estimate {
	uint32_t cells;
	uint64_t cell_bytes;  /* written and read in one cell */
	uint64_t bytes;	      /* in all */
	uint64_t space_bytes; /* free space that the files need, over all volumes */
	uint64_t time_ns;
};

void estimate_run(const struct experiment *x, struct estimate *out);
