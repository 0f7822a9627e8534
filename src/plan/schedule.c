/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Number of blocks; see schedule.h.
 *
 * Looks: with L looks at 5 % / L each the chance of any false claim is at most 5 %
 * (Bonferroni).  An arm is decided when its interval at that level excludes 1, or when
 * both one-sided tests at that level put it within the margin.  Six blocks can never be
 * decided by the signed-rank test at that level; the first look is there so that the
 * pilot is a pilot.
 */

#include "plan/schedule.h"

#include <math.h>
#include <stdlib.h>

#include "core/macros.h"
#include "stats/plan_n.h"
#include "stats/verdict.h"

#define LEVEL 0.95

/* How many blocks the second stage has depends on the signs within the pilot, of which
 * the signed-rank test knows nothing: at the level of 95 % it claims a difference that is
 * not there in up to 5.9 % of the experiments, at this one in less than 5.5 %
 * (tests/simulate). */
#define STEIN_LEVEL 0.955

/* Below this a standard deviation says nothing. */
enum { SPREAD_VALUES_MIN = 3 };

static const uint32_t looks[] = {6, 12, 24, 48};

static size_t look_count(const struct schedule *s)
{
	size_t n = 0;

	while (n < ARRAY_SIZE(looks) && looks[n] <= s->max)
		n++;
	return n;
}

double schedule_level(const struct schedule *s)
{
	size_t n = s->kind == SCHEDULE_LOOKS ? look_count(s) : 1;

	if (s->kind == SCHEDULE_STEIN)
		return STEIN_LEVEL;
	return 1 - (1 - LEVEL) / (double)MAX(n, (size_t)1);
}

/* The values among the first `blocks`; caller frees. */
static double *valid(const double *d, size_t blocks, size_t *n)
{
	double *out = malloc((blocks + 1) * sizeof(*out));

	*n = 0;
	for (size_t i = 0; out && i < blocks; i++)
		if (isfinite(d[i]))
			out[(*n)++] = d[i];
	return out;
}

/* Blocks that Stein's second stage asks for, by the arm that needs most. */
static void plan_stein(const struct schedule *s, const struct schedule_effects *f,
	struct schedule_step *out)
{
	for (size_t i = 0; i < f->arms; i++) {
		size_t n = 0, blocks;
		double *d = valid(f->d[i], s->blocks, &n);
		struct paired_summary pilot = {.sd = NAN};

		if (d && n >= SPREAD_VALUES_MIN)
			paired_summarize(&pilot, d, n, LEVEL);
		free(d);
		if (!isfinite(pilot.sd))
			continue;
		blocks = plan_n_stein(pilot.sd, n, log1p(s->target), LEVEL);
		blocks = MIN(blocks, (size_t)UINT32_MAX);
		blocks = MAX(blocks, (size_t)s->blocks);
		out->wanted = MAX(out->wanted, (uint32_t)blocks);
		out->sd = isnan(out->sd) ? pilot.sd : fmax(out->sd, pilot.sd);
	}
}

static void next_stein(const struct schedule *s, const struct schedule_effects *f,
	struct schedule_step *out)
{
	out->blocks = s->blocks;
	out->stage = (struct order_stage){0, s->blocks};
	if (f->blocks < s->blocks)
		return;
	plan_stein(s, f, out);
	if (out->wanted)
		out->blocks = MIN(out->wanted, MAX(s->max, s->blocks));
	out->stage = (struct order_stage){s->blocks, out->blocks - s->blocks};
	out->announce = f->blocks == s->blocks;
}

static bool is_decided(const struct schedule *s, const double *d, size_t blocks)
{
	size_t n = 0;
	double *values = valid(d, blocks, &n);
	struct contrast c = {.verdict = VERDICT_UNKNOWN};

	if (values)
		contrast_of(&c, values, n, s->margin, schedule_level(s));
	free(values);
	return c.verdict == VERDICT_HIGHER || c.verdict == VERDICT_LOWER ||
	       c.verdict == VERDICT_EQUIVALENT;
}

static bool all_decided(
	const struct schedule *s, const struct schedule_effects *f, size_t blocks)
{
	for (size_t i = 0; i < f->arms; i++)
		if (!is_decided(s, f->d[i], blocks))
			return false;
	return f->arms > 0;
}

/* The look at which it ended stays the end, whatever is asked later. */
static void next_look(const struct schedule *s, const struct schedule_effects *f,
	struct schedule_step *out)
{
	size_t count = look_count(s);
	uint32_t before = 0;

	for (size_t i = 0; i < count; i++) {
		out->blocks = looks[i];
		out->stage = (struct order_stage){before, looks[i] - before};
		if (f->blocks < looks[i])
			return;
		out->announce = f->blocks == looks[i];
		if (all_decided(s, f, looks[i]))
			return;
		before = looks[i];
	}
}

void schedule_next(
	const struct schedule *s, const struct schedule_effects *f, struct schedule_step *out)
{
	*out = (struct schedule_step){.blocks = s->blocks,
		.stage = {0, s->blocks},
		.level = schedule_level(s),
		.sd = NAN};
	if (s->kind == SCHEDULE_STEIN)
		next_stein(s, f, out);
	if (s->kind == SCHEDULE_LOOKS && look_count(s))
		next_look(s, f, out);
}
