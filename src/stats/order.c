/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Order statistics; see order.h.  GSL sorts and interpolates. */

#include "stats/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

void order_sort(double *values, size_t n)
{
	gsl_sort(values, 1, n);
}

double order_quantile_sorted(const double *sorted, size_t n, double q)
{
	if (n == 0)
		return NAN;
	return gsl_stats_quantile_from_sorted_data(sorted, 1, n, q);
}

double order_median(const double *values, size_t n)
{
	double *copy, median;

	if (n == 0)
		return NAN;
	copy = malloc(n * sizeof(*copy));
	if (!copy)
		return NAN;
	memcpy(copy, values, n * sizeof(*copy));
	order_sort(copy, n);
	median = order_quantile_sorted(copy, n, .5);
	free(copy);
	return median;
}
