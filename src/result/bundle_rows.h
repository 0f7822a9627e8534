/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* For bundle_keep_cells() alone. */

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"

/* Replaces the file of rows at path by one without those that keep() does not want.  No
 * file is no error. */
int bundle_rows_keep(const char *path,
	bool (*keep)(const void *data, uint32_t block, uint32_t position),
	const void *data, struct err *e);
