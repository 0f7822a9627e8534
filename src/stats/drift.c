/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Drift and outliers; see drift.h.
 *
 * Kendall's S without ties: each new value may be larger than any number of its
 * predecessors with equal probability, so the distribution of the number of inversions is
 * built value by value.
 */

#include "stats/drift.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stats/order.h"

#define EXACT_MAX 10
#define ALL_SLOPES_MAX 200
#define OUTLIER_LIMIT 3.5
#define MAD_SCALE 1.4826 /* makes the MAD of a normal distribution its sd */

static double slope_of_all(const double *y, size_t n)
{
	size_t count = n * (n - 1) / 2, k = 0;
	double *slopes = malloc(count * sizeof(*slopes));
	double slope;

	if (!slopes)
		return NAN;
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			slopes[k++] = (y[j] - y[i]) / (double)(j - i);
	slope = order_median(slopes, count);
	free(slopes);
	return slope;
}

/* Sorts z and returns how many pairs had the later value not above the earlier one. */
static size_t sort_and_count(double *z, double *room, size_t n)
{
	size_t half = n / 2, count, i = 0, j = half, k = 0;

	if (n < 2)
		return 0;
	count = sort_and_count(z, room, half) + sort_and_count(z + half, room, n - half);
	while (i < half && j < n) {
		if (z[j] <= z[i]) {
			count += half - i;
			room[k++] = z[j++];
		} else {
			room[k++] = z[i++];
		}
	}
	memcpy(room + k, z + i, (half - i) * sizeof(*z));
	memcpy(z, room, (k + half - i) * sizeof(*z));
	return count;
}

/*
 * Of many values the slopes are millions.  How many of them are at most s can be counted
 * without making them: those are the pairs whose order is turned round when the line of
 * slope s is taken off.  The lower median, to a thousand-millionth of the range.
 */
static double slope_by_counting(const double *y, size_t n)
{
	double *z = malloc(2 * n * sizeof(*z));
	double low = INFINITY, high = -INFINITY, range;
	size_t half = (n * (n - 1) / 2 + 1) / 2;

	if (!z)
		return NAN;
	for (size_t i = 0; i < n; i++) {
		low = fmin(low, y[i]);
		high = fmax(high, y[i]);
	}
	range = high - low;
	low = -range;
	high = range;
	while (high - low > 1e-9 * range) {
		double middle = low + (high - low) / 2;

		for (size_t i = 0; i < n; i++)
			z[i] = y[i] - middle * (double)i;
		if (sort_and_count(z, z + n, n) >= half)
			high = middle;
		else
			low = middle;
	}
	free(z);
	return low + (high - low) / 2;
}

double drift_slope(const double *y, size_t n)
{
	if (n < 2)
		return NAN;
	return n <= ALL_SLOPES_MAX ? slope_of_all(y, n) : slope_by_counting(y, n);
}

/* Sum over groups of t equal values of t(t-1)(2t+5). */
static double tie_correction(const double *y, size_t n)
{
	double *sorted = malloc((n + 1) * sizeof(*sorted)), sum = 0;

	if (!sorted)
		return 0;
	memcpy(sorted, y, n * sizeof(*sorted));
	order_sort(sorted, n);
	for (size_t i = 0; i < n;) {
		size_t end = i;
		double t;

		while (end < n && sorted[end] == sorted[i])
			end++;
		t = (double)(end - i);
		sum += t * (t - 1) * (2 * t + 5);
		i = end;
	}
	free(sorted);
	return sum;
}

/* P(|S| >= |s|) by the distribution of inversions, s having the parity of n(n-1)/2. */
static double p_exact(size_t n, int s)
{
	double p[EXACT_MAX * (EXACT_MAX - 1) / 2 + 1] = { 1 };
	int pairs = (int)(n * (n - 1) / 2), top = 0;
	double sum = 0;

	for (int m = 2; m <= (int)n; m++) {
		double next[EXACT_MAX * (EXACT_MAX - 1) / 2 + 1] = { 0 };

		for (int i = 0; i <= top; i++)
			for (int more = 0; more < m; more++)
				next[i + more] += p[i] / m;
		top += m - 1;
		memcpy(p, next, sizeof(p));
	}
	for (int i = 0; i <= pairs; i++)
		if (abs(pairs - 2 * i) >= abs(s))
			sum += p[i];
	return fmin(1, sum);
}

/* Kendall's S: how many pairs rise, less those that fall.  *failed: no memory. */
static int64_t rises(const double *y, size_t n, bool *failed)
{
	double *z = malloc((2 * n + 1) * sizeof(*z));
	size_t not_above, equal = 0, pairs = n * (n - 1) / 2;

	*failed = !z;
	if (!z)
		return 0;
	memcpy(z, y, n * sizeof(*z));
	not_above = sort_and_count(z, z + n, n);
	for (size_t i = 0, end = 0; i < n; i = end) {
		while (end < n && z[end] == z[i])
			end++;
		equal += (end - i) * (end - i - 1) / 2;
	}
	free(z);
	return (int64_t)(pairs - not_above) - (int64_t)(not_above - equal);
}

double drift_p(const double *y, size_t n)
{
	double count = (double)n, ties, variance, z;
	bool failed;
	int64_t s;

	if (n < 3)
		return 1;
	s = rises(y, n, &failed);
	if (failed)
		return NAN;
	ties = tie_correction(y, n);
	if (n <= EXACT_MAX && ties == 0)
		return p_exact(n, (int)s);
	variance = (count * (count - 1) * (2 * count + 5) - ties) / 18;
	if (variance <= 0)
		return 1;
	z = fmax(0, (double)llabs(s) - 1) / sqrt(variance);
	return 2 * gsl_cdf_ugaussian_Q(z);
}

size_t drift_outliers(const double *y, size_t n, bool *flags)
{
	double *distance = malloc((n + 1) * sizeof(*distance));
	double center = order_median(y, n), mad;
	size_t count = 0;

	memset(flags, 0, n * sizeof(*flags));
	if (!distance)
		return 0;
	for (size_t i = 0; i < n; i++)
		distance[i] = fabs(y[i] - center);
	mad = order_median(distance, n);
	for (size_t i = 0; i < n; i++) {
		flags[i] = mad > 0 && distance[i] > OUTLIER_LIMIT * MAD_SCALE * mad;
		count += flags[i];
	}
	free(distance);
	return count;
}
