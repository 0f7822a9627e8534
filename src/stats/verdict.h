/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What may be said of a metric of two arms.  Never a winner by its point estimate: the
 * interval decides.
 */

#include <stddef.h>

#include "stats/paired.h"

enum verdict {
	VERDICT_HIGHER,	       /* the 95 % interval of the ratio lies above 1 */
	VERDICT_LOWER,	       /* ... below 1 */
	VERDICT_EQUIVALENT,    /* the 90 % interval lies within the margin (TOST) */
	VERDICT_NO_DIFFERENCE, /* none of these: nothing detectable */
	VERDICT_UNKNOWN,       /* too few blocks for any statement */
};

struct contrast {
	struct paired_summary summary; /* of the log ratios, at 95 % */
	struct interval narrow;	       /* 90 %: for equivalence */
	double ratio;		       /* exp(estimate) */
	double ratio_low, ratio_high;  /* NAN without interval */
	double detectable;	       /* as a ratio > 1, at 80 % power; NAN for n < 2 */
	enum verdict verdict;
	bool below_margin; /* HIGHER or LOWER, but the estimate lies within the margin */
	bool within_margin; /* the 90 % interval does, whatever the verdict */
};

/*
 * baseline[i] and other[i] are the values of block i in two arms, all positive.  margin:
 * 0.03 means that a ratio between 1/1.03 and 1.03 does not matter.  level: 0.95.
 */
void contrast_make(struct contrast *c, const double *baseline, const double *other,
	size_t n, double margin, double level);

/* The same from the log ratios themselves, which must be finite. */
void contrast_of(
	struct contrast *c, const double *d, size_t n, double margin, double level);

/*
 * The ratios, the verdict and what lies within the margin, from c->summary and c->narrow;
 * c->ratio_low and c->ratio_high stay as they are without an interval.
 */
void contrast_judge(struct contrast *c, double margin);

/*
 * An arm against itself: whether it shows a difference that is not known to be too small
 * to matter.  The exact test alone cries wolf once in 32 times, at differences of a tenth
 * of a percent as well, where the runs agree so closely.
 */
bool contrast_is_alarm(const struct contrast *c);

/* What to say of an arm against itself that is no alarm. */
const char *contrast_of_itself(const struct contrast *c);
