/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Number of blocks; see plan_n.h. */

#include "stats/plan_n.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

size_t plan_n_stein(double sd, size_t n0, double half, double level)
{
	double t = gsl_cdf_tdist_Pinv(1 - (1 - level) / 2, (double)(n0 - 1));
	double n = ceil(t * sd / half * (t * sd / half));

	return n > (double)n0 ? (size_t)n : n0;
}

struct interval plan_n_stein_interval(const double *d, size_t n, size_t n0, double level)
{
	struct paired_summary pilot, all;
	double half;

	if (n0 < 2 || n < n0)
		return (struct interval){ .exists = false, .low = NAN, .high = NAN };
	paired_summarize(&pilot, d, n0, level);
	paired_summarize(&all, d, n, level);
	half = gsl_cdf_tdist_Pinv(1 - (1 - level) / 2, (double)(n0 - 1)) * pilot.sd /
		sqrt((double)n);
	return (struct interval){ true, all.mean - half, all.mean + half };
}

double plan_n_detectable(double sd, size_t n, double level, double power)
{
	double df = (double)n - 1;

	if (n < 2)
		return NAN;
	return (gsl_cdf_tdist_Pinv(1 - (1 - level) / 2, df) + gsl_cdf_tdist_Pinv(power, df)) *
		sd / sqrt((double)n);
}
