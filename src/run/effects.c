/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The primary metric over the blocks; see effects.h. */

#include "run/effects.h"

#include <errno.h>
#include <math.h>
#include <string.h>

int effects_init(struct effects *f, size_t arms, struct err *e)
{
	*f = (struct effects){.arms = arms, .room = 16};
	f->values = calloc(f->room * arms, sizeof(*f->values));
	return f->values ? 0 : err_set(e, ENOMEM, "count blocks");
}

void effects_deinit(struct effects *f)
{
	free(f->values);
	*f = (struct effects){0};
}

static int grow(struct effects *f, uint32_t blocks, struct err *e)
{
	double *values;

	if (blocks > f->room) {
		uint32_t room = MAX(blocks, 2 * f->room);

		values = reallocarray(f->values, room * f->arms, sizeof(*values));
		if (!values)
			return err_set(e, ENOMEM, "count blocks");
		f->values = values;
		f->room = room;
	}
	for (; f->blocks < blocks; f->blocks++)
		for (size_t arm = 0; arm < f->arms; arm++)
			f->values[f->blocks * f->arms + arm] = NAN;
	return 0;
}

int effects_take(struct effects *f, const char *primary, const struct result_run *run,
	uint32_t block, size_t arm, struct err *e)
{
	const struct result_metric *m = result_run_metric(run, primary);
	int r = grow(f, block + 1, e);

	if (!r && m)
		f->values[block * f->arms + arm] = m->value;
	return r;
}

int effects_copy(struct effects *f, uint32_t block, size_t arm,
	const struct effects *from, uint32_t from_block, size_t from_arm, struct err *e)
{
	int r = grow(f, block + 1, e);

	if (!r && from_block < from->blocks)
		f->values[block * f->arms + arm] =
			from->values[from_block * from->arms + from_arm];
	return r;
}

void effects_drop(struct effects *f, uint32_t block)
{
	for (size_t arm = 0; block < f->blocks && arm < f->arms; arm++)
		f->values[block * f->arms + arm] = NAN;
}

/* Only of two positive values there is a ratio. */
static double log_ratio(const struct effects *f, uint32_t block, size_t arm)
{
	const double *v = &f->values[block * f->arms];

	return block < f->blocks && v[0] > 0 && v[arm] > 0 ? log(v[arm] / v[0]) : NAN;
}

int effects_schedule(const struct effects *f, const struct schedule *s, uint32_t blocks,
	struct schedule_step *out, struct err *e)
{
	size_t others = f->arms - 1;
	_cleanup_free_ double *d = calloc(others * blocks + 1, sizeof(*d));
	_cleanup_free_ const double **series = calloc(others + 1, sizeof(*series));
	const struct schedule_effects all = {series, others, blocks};

	if (!d || !series)
		return err_set(e, ENOMEM, "count blocks");
	for (size_t i = 0; i < others; i++) {
		series[i] = d + i * blocks;
		for (uint32_t b = 0; b < blocks; b++)
			d[i * blocks + b] = log_ratio(f, b, i + 1);
	}
	schedule_next(s, &all, out);
	return 0;
}
