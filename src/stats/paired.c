/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Paired analysis; see paired.h.
 *
 * Signed-rank distribution: without an effect each rank carries + or - by a fair coin.
 * The distribution of the sum of the positive ranks is built rank by rank, as
 * probabilities, so that nothing overflows.  With ties the ranks are midranks; doubled,
 * they are whole numbers again, and the same recursion gives the exact conditional
 * distribution.  (Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, ch. 3.)
 */

#include "stats/paired.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stats/order.h"

#define EXACT_MAX 200

static const struct interval none = { .exists = false, .low = NAN, .high = NAN };

/* The order of finite doubles as that of whole numbers, and back. */
static int64_t order_of(double x)
{
	int64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits < 0 ? INT64_MIN - bits : bits;
}

static double value_of(int64_t order)
{
	int64_t bits = order < 0 ? INT64_MIN - order : order;
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* How many averages of pairs (each value with itself and all others) are at most x; sorted
 * values, so that the partner of a larger value is a smaller one. */
static size_t averages_up_to(const double *sorted, size_t n, double x)
{
	size_t count = 0, j = n;

	for (size_t i = 0; i < n; i++) {
		while (j > 0 && (sorted[i] + sorted[j - 1]) / 2 > x)
			j--;
		if (j <= i)
			break;
		count += j - i;
	}
	return count;
}

/*
 * The k-th smallest (from 1) of the n(n+1)/2 Walsh averages, exactly.  They are not made:
 * with thousands of blocks they are millions.  It is searched for among all doubles
 * between the smallest and the largest, in at most 64 steps.
 */
static double walsh_average(const double *sorted, size_t n, size_t k)
{
	int64_t low = order_of(sorted[0] + 0.0), high = order_of(sorted[n - 1] + 0.0);

	while (low < high) {
		int64_t middle = (low & high) + ((low ^ high) >> 1); /* cannot overflow */

		if (averages_up_to(sorted, n, value_of(middle)) >= k)
			high = middle;
		else
			low = middle + 1;
	}
	return value_of(low);
}

static double *sorted_copy(const double *d, size_t n)
{
	double *sorted = n ? malloc(n * sizeof(*sorted)) : NULL;

	if (sorted) {
		memcpy(sorted, d, n * sizeof(*sorted));
		order_sort(sorted, n);
	}
	return sorted;
}

double paired_hodges_lehmann(const double *d, size_t n)
{
	double *sorted = sorted_copy(d, n), estimate = NAN;
	size_t count = n * (n + 1) / 2;

	if (sorted)
		estimate = (walsh_average(sorted, n, (count + 1) / 2) +
				   walsh_average(sorted, n, count / 2 + 1)) / 2;
	free(sorted);
	return estimate;
}

/* Probabilities of each sum of positive ranks, ranks[] being whole numbers with the given
 * total; caller frees. */
static double *rank_sum_distribution(const uint32_t *ranks, size_t n, size_t total)
{
	double *p = calloc(total + 1, sizeof(*p));
	size_t top = 0;

	if (!p)
		return NULL;
	p[0] = 1;
	for (size_t i = 0; i < n; i++) {
		top += ranks[i];
		for (size_t w = top + 1; w-- > 0;)
			p[w] = (p[w] + (w >= ranks[i] ? p[w - ranks[i]] : 0)) / 2;
	}
	return p;
}

static size_t k_exact(size_t n, double tail)
{
	size_t total = n * (n + 1) / 2, k = 0;
	uint32_t *ranks = malloc(n * sizeof(*ranks));
	double *p, sum = 0;

	if (!ranks)
		return 0;
	for (size_t i = 0; i < n; i++)
		ranks[i] = (uint32_t)(i + 1);
	p = rank_sum_distribution(ranks, n, total);
	free(ranks);
	while (p && k <= total) {
		sum += p[k];
		if (sum > tail)
			break;
		k++;
	}
	free(p);
	return k;
}

size_t paired_signed_rank_k(size_t n, double level)
{
	double tail = (1 - level) / 2, mean, sd, k;

	if (n == 0)
		return 0;
	if (n <= EXACT_MAX)
		return k_exact(n, tail);
	mean = (double)n * (double)(n + 1) / 4;
	sd = sqrt(mean * (double)(2 * n + 1) / 6);
	k = floor(mean + gsl_cdf_ugaussian_Pinv(tail) * sd - 0.5) + 1;
	return k > 0 ? (size_t)k : 0;
}

struct interval paired_signed_rank_interval(const double *d, size_t n, double level)
{
	size_t count = n * (n + 1) / 2, k = paired_signed_rank_k(n, level);
	struct interval i = none;
	double *sorted = k ? sorted_copy(d, n) : NULL;

	if (sorted)
		i = (struct interval){ true, walsh_average(sorted, n, k),
			walsh_average(sorted, n, count + 1 - k) };
	free(sorted);
	return i;
}

struct magnitude {
	double size;
	bool positive;
};

static int by_size(const void *a, const void *b)
{
	double x = ((const struct magnitude *)a)->size;
	double y = ((const struct magnitude *)b)->size;

	return (x > y) - (x < y);
}

static size_t non_zero(struct magnitude *m, const double *d, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (d[i] != 0)
			m[count++] = (struct magnitude){ fabs(d[i]), d[i] > 0 };
	qsort(m, count, sizeof(*m), by_size);
	return count;
}

/* Doubled midranks; returns the doubled sum of the positive ones.  *ties is the sum of
 * t^3 - t over groups of t equal sizes. */
static size_t double_ranks(const struct magnitude *m, size_t n, uint32_t *ranks,
	double *ties)
{
	size_t sum = 0;

	*ties = 0;
	for (size_t i = 0; i < n;) {
		size_t end = i;
		double t;

		while (end < n && m[end].size == m[i].size)
			end++;
		t = (double)(end - i);
		*ties += t * t * t - t;
		for (size_t j = i; j < end; j++)
			ranks[j] = (uint32_t)(i + 1 + end);
		for (; i < end; i++)
			sum += m[i].positive ? ranks[i] : 0;
	}
	return sum;
}

static double p_exact(const uint32_t *ranks, size_t n, size_t sum)
{
	size_t total = n * (n + 1);
	double *p = rank_sum_distribution(ranks, n, total);
	double below = 0, above = 0;

	if (!p)
		return NAN;
	for (size_t w = 0; w <= total; w++) {
		below += w <= sum ? p[w] : 0;
		above += w >= sum ? p[w] : 0;
	}
	free(p);
	return fmin(1, 2 * fmin(below, above));
}

static double p_normal(size_t n, size_t double_sum, double ties)
{
	double count = (double)n;
	double mean = count * (count + 1) / 4;
	double variance = count * (count + 1) * (2 * count + 1) / 24 - ties / 48;
	double z = (double)double_sum / 2 - mean;

	z = (z - (z > 0 ? 0.5 : z < 0 ? -0.5 : 0)) / sqrt(variance);
	return fmin(1, 2 * fmin(gsl_cdf_ugaussian_P(z), gsl_cdf_ugaussian_Q(z)));
}

double paired_signed_rank_p(const double *d, size_t n)
{
	struct magnitude *m = malloc((n + 1) * sizeof(*m));
	uint32_t *ranks = malloc((n + 1) * sizeof(*ranks));
	double p = NAN, ties;
	size_t count, sum;

	if (m && ranks) {
		count = non_zero(m, d, n);
		sum = double_ranks(m, count, ranks, &ties);
		if (count == 0)
			p = 1;
		else
			p = count <= EXACT_MAX ? p_exact(ranks, count, sum)
					       : p_normal(count, sum, ties);
	}
	free(m);
	free(ranks);
	return p;
}

/* --- Student --- */

static double mean_of(const double *d, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += d[i];
	return n ? sum / (double)n : NAN;
}

static double sd_of(const double *d, size_t n)
{
	double mean = mean_of(d, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (d[i] - mean) * (d[i] - mean);
	return n > 1 ? sqrt(sum / (double)(n - 1)) : NAN;
}

struct interval paired_t_interval(const double *d, size_t n, double level)
{
	double mean = mean_of(d, n), half;

	if (n < 2)
		return none;
	half = gsl_cdf_tdist_Pinv(1 - (1 - level) / 2, (double)(n - 1)) * sd_of(d, n) /
		sqrt((double)n);
	return (struct interval){ true, mean - half, mean + half };
}

double paired_t_p(const double *d, size_t n)
{
	double sd = sd_of(d, n);

	if (n < 2)
		return NAN;
	if (sd == 0)
		return mean_of(d, n) == 0 ? 1 : 0;
	return 2 * gsl_cdf_tdist_Q(fabs(mean_of(d, n)) / (sd / sqrt((double)n)),
			   (double)(n - 1));
}

void paired_summarize(struct paired_summary *s, const double *d, size_t n, double level)
{
	*s = (struct paired_summary){
		.n = n,
		.estimate = paired_hodges_lehmann(d, n),
		.interval = paired_signed_rank_interval(d, n, level),
		.p = paired_signed_rank_p(d, n),
		.mean = mean_of(d, n),
		.sd = sd_of(d, n),
		.t_interval = paired_t_interval(d, n, level),
		.t_p = paired_t_p(d, n),
	};
}

/* --- several metrics --- */

static int by_value(const void *a, const void *b)
{
	double x = **(double *const *)a, y = **(double *const *)b;

	return (x > y) - (x < y);
}

void holm_adjust(double *p, size_t n)
{
	double **sorted = malloc((n + 1) * sizeof(*sorted)), last = 0;

	if (!sorted) {
		for (size_t i = 0; i < n; i++)
			p[i] = 1; /* claims nothing */
		return;
	}
	for (size_t i = 0; i < n; i++)
		sorted[i] = &p[i];
	qsort(sorted, n, sizeof(*sorted), by_value);
	for (size_t i = 0; i < n; i++) {
		last = fmax(last, fmin(1, *sorted[i] * (double)(n - i)));
		*sorted[i] = last;
	}
	free(sorted);
}
