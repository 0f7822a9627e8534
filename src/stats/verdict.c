/* SPDX-License-Identifier: GPL-3.0-or-later */

/* From values to a verdict; see verdict.h. */

#include "stats/verdict.h"

#include <math.h>
#include <stdlib.h>

#include "stats/plan_n.h"

#define POWER 0.8

static enum verdict judge(const struct contrast *c, double margin)
{
	const struct interval *wide = &c->summary.interval;

	if (!wide->exists)
		return VERDICT_UNKNOWN;
	if (wide->low > 0)
		return VERDICT_HIGHER;
	if (wide->high < 0)
		return VERDICT_LOWER;
	if (c->narrow.exists && c->narrow.low > -margin && c->narrow.high < margin)
		return VERDICT_EQUIVALENT;
	return VERDICT_NO_DIFFERENCE;
}

void contrast_of(
	struct contrast *c, const double *d, size_t n, double margin, double level)
{
	double log_margin = log1p(margin);

	*c = (struct contrast){ .verdict = VERDICT_UNKNOWN, .ratio = NAN,
		.ratio_low = NAN, .ratio_high = NAN, .detectable = NAN };
	paired_summarize(&c->summary, d, n, level);
	/* Two one-sided tests at 1 - level each make an interval of twice that. */
	c->narrow = paired_signed_rank_interval(d, n, 1 - 2 * (1 - level));
	c->ratio = exp(c->summary.estimate);
	if (c->summary.interval.exists) {
		c->ratio_low = exp(c->summary.interval.low);
		c->ratio_high = exp(c->summary.interval.high);
	}
	c->detectable = exp(plan_n_detectable(c->summary.sd, n, level, POWER));
	c->verdict = judge(c, log_margin);
	c->below_margin = (c->verdict == VERDICT_HIGHER || c->verdict == VERDICT_LOWER) &&
		fabs(c->summary.estimate) < log_margin;
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
