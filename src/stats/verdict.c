/* SPDX-License-Identifier: GPL-3.0-or-later */

/* From values to a verdict; see verdict.h. */

#include "stats/verdict.h"

#include <math.h>
#include <stdlib.h>

#include "stats/plan_n.h"

#define POWER 0.8

static enum verdict verdict_of(const struct contrast *c)
{
	const struct interval *wide = &c->summary.interval;

	if (!wide->exists)
		return VERDICT_UNKNOWN;
	if (wide->low > 0)
		return VERDICT_HIGHER;
	if (wide->high < 0)
		return VERDICT_LOWER;
	return c->within_margin ? VERDICT_EQUIVALENT : VERDICT_NO_DIFFERENCE;
}

static bool differs(const struct contrast *c)
{
	return c->verdict == VERDICT_HIGHER || c->verdict == VERDICT_LOWER;
}

void contrast_judge(struct contrast *c, double margin)
{
	double most = log1p(margin);

	c->ratio = exp(c->summary.estimate);
	if (c->summary.interval.exists) {
		c->ratio_low = exp(c->summary.interval.low);
		c->ratio_high = exp(c->summary.interval.high);
	}
	c->within_margin =
		c->narrow.exists && c->narrow.low > -most && c->narrow.high < most;
	c->verdict = verdict_of(c);
	c->below_margin = differs(c) && fabs(c->summary.estimate) < most;
}

void contrast_of(
	struct contrast *c, const double *d, size_t n, double margin, double level)
{
	*c = (struct contrast){ .ratio_low = NAN, .ratio_high = NAN };
	paired_summarize(&c->summary, d, n, level);
	/* Two one-sided tests at 1 - level each make an interval of twice that. */
	c->narrow = paired_signed_rank_interval(d, n, 1 - 2 * (1 - level));
	c->detectable = exp(plan_n_detectable(c->summary.sd, n, level, POWER));
	contrast_judge(c, margin);
}

bool contrast_is_alarm(const struct contrast *c)
{
	return differs(c) && !c->within_margin;
}

const char *contrast_of_itself(const struct contrast *c)
{
	return differs(c) ? "a difference too small to matter" : "no difference";
}

void contrast_make(struct contrast *c, const double *baseline, const double *other,
	size_t n, double margin, double level)
{
	double *d = malloc((n + 1) * sizeof(*d));

	for (size_t i = 0; d && i < n; i++)
		d[i] = log(other[i] / baseline[i]);
	contrast_of(c, d, d ? n : 0, margin, level);
	free(d);
}
