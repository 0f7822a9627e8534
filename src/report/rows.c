/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Which blocks count; see rows.h.  Cells of earlier versions have no "slot": each block is
 * that of the plan. */

#include "report/rows.h"

#include <errno.h>
#include <string.h>

#include "core/macros.h"

/* More blocks than any experiment has; what is beyond is not from us. */
enum { BLOCKS_MAX = 1000000 };

static json_int_t number(const json_t *cell, const char *key, json_int_t missing)
{
	const json_t *value = json_object_get(cell, key);

	return json_is_integer(value) ? json_integer_value(value) : missing;
}

/* Calibrations have slots of their own. */
static bool is_calibration(const json_t *cell)
{
	const char *stage = json_string_value(json_object_get(cell, "stage"));

	return stage && !strcmp(stage, "calibrate");
}

static bool has_number(const json_t *cell, json_int_t *block, json_int_t *slot)
{
	*block = number(cell, "block", -1);
	*slot = number(cell, "slot", *block);
	return *block >= 0 && *block < BLOCKS_MAX && *slot >= 0 && *slot <= *block;
}

int rows_make(struct report_rows *r, const json_t *cells, struct err *e)
{
	_cleanup_free_ size_t *last = NULL; /* of each slot, + 1; then those of calibrations */
	const json_t *cell;
	json_int_t block, slot;
	size_t i, count = 0;

	json_array_foreach(cells, i, cell)
		if (has_number(cell, &block, &slot))
			count = MAX(count, (size_t)block + 1);
	r->rows = calloc(count + 1, sizeof(*r->rows));
	last = calloc(2 * count + 1, sizeof(*last));
	if (!r->rows || !last)
		return err_set(e, ENOMEM, "read the cells");
	r->count = count;
	json_array_foreach(cells, i, cell) {
		size_t *at;

		if (!has_number(cell, &block, &slot))
			continue;
		at = &last[is_calibration(cell) ? count + (size_t)slot : (size_t)slot];
		if (*at && *at - 1 < (size_t)block)
			r->rows[*at - 1].superseded = true;
		*at = MAX(*at, (size_t)block + 1);
		r->rows[block].known = true;
		r->rows[block].slot = (uint32_t)slot;
	}
	return 0;
}

void rows_deinit(struct report_rows *r)
{
	free(r->rows);
	*r = (struct report_rows){0};
}

const struct report_row *rows_of(const struct report_rows *r, uint64_t block)
{
	return block < r->count && r->rows[block].known ? &r->rows[block] : NULL;
}
