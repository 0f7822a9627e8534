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
