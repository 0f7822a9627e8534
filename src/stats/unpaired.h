/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Two groups of values that have no blocks in common, such as two experiments: the shift
 * between them by Hodges and Lehmann, with the interval and p of the exact test of Mann
 * and Whitney (Wilcoxon's rank sum).  It knows nothing of drift between the groups.
 */

#include <stddef.h>

#include "stats/paired.h"
#include "stats/verdict.h"

struct unpaired_summary {
	double estimate;	  /* median of all b[j] - a[i]; NAN without values */
	struct interval interval; /* at the level asked for */
	double p;		  /* two-sided; ties count as half, 1 without values */
};

/* All values finite.  Groups of more than 60 values are cut to their first 60. */
void unpaired_summarize(struct unpaired_summary *s, const double *a, size_t na,
	const double *b, size_t nb, double level);

/* Smallest k with which [w(k), w(na*nb+1-k)] of the sorted differences covers at least
 * level; 0: none does.  3 for 5 and 5 values at 95 %, 1 for 4 and 4. */
size_t unpaired_k(size_t na, size_t nb, double level);

/* As contrast_make(), for groups: only ratio, ratio_low, ratio_high, narrow, summary.p,
 * verdict and below_margin are filled. */
void unpaired_contrast(struct contrast *c, const double *baseline, size_t nbaseline,
	const double *other, size_t nother, double margin, double level);
