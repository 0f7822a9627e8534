/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The calibration of a bundle; see calibration.h.  Which of the two a cell was, its record
 * says. */

#include "report/calibration.h"

#include <errno.h>

#include "report/tables.h"
#include "stats/verdict.h"

int calibration_take_run(struct report *r, const struct result_run *run, struct err *e)
{
	const struct result_metric *m = result_run_metric(run, r->bundle.info.primary);
	struct calibration_value *values;

	if (!m || !(m->value > 0))
		return 0;
	values = reallocarray(
		r->calibration, r->calibration_count + 1, sizeof(*values));
	if (!values)
		return err_set(e, ENOMEM, "report");
	r->calibration = values;
	values[r->calibration_count++] = (struct calibration_value){
		run->block, run->position, m->value};
	return 0;
}

/* 0 or 1; -1: the cell is not known. */
static json_int_t role_of(const struct report *r, const struct calibration_value *v)
{
	const json_t *cell;
	size_t i;

	json_array_foreach(r->bundle.cells, i, cell) {
		const json_t *role = json_object_get(cell, "role");

		if (json_is_integer(role) &&
			json_integer_value(json_object_get(cell, "block")) == v->block &&
			json_integer_value(json_object_get(cell, "position")) ==
				v->position)
			return json_integer_value(role);
	}
	return -1;
}

/* Pairs of the same block; returns how many. */
static size_t pair(const struct report *r, double *first, double *other)
{
	size_t n = 0;

	for (size_t i = 0; i < r->calibration_count; i++)
		for (size_t k = 0; k < r->calibration_count; k++) {
			const struct calibration_value *a = &r->calibration[i];
			const struct calibration_value *b = &r->calibration[k];

			if (a->block != b->block || n == r->calibration_count ||
				role_of(r, a) != 0 || role_of(r, b) != 1)
				continue;
			first[n] = a->value;
			other[n++] = b->value;
		}
	return n;
}

int calibration_remark(struct report *r, struct err *e)
{
	const struct bundle_info *info = &r->bundle.info;
	_cleanup_free_ double *a = calloc(r->calibration_count + 1, sizeof(*a));
	_cleanup_free_ double *b = calloc(r->calibration_count + 1, sizeof(*b));
	struct contrast c;
	size_t n;

	if (!a || !b)
		return err_set(e, ENOMEM, "report");
	n = pair(r, a, b);
	if (!n)
		return 0;
	contrast_make(&c, a, b, n, info->design.margin, BUNDLE_LEVEL);
	return report_add_remark(r, e,
		"Calibration: %s against itself in %s, %zu blocks: ratio %.3f, 95%% %.3f-%.3f: "
		"%s.",
		info->arms[0].name, info->primary, n, c.ratio, c.ratio_low, c.ratio_high,
		contrast_is_alarm(&c)
			? "A DIFFERENCE WHERE THERE IS NONE; do not believe the others"
			: contrast_of_itself(&c));
}
