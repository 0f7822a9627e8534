/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Rank sum of two groups; see unpaired.h.  The distribution of U (how many of the nb * na
 * differences are below zero) when there is no shift: the number of ways in which na of
 * na + nb ranks sum to U, by the recurrence of Mann and Whitney,
 * f(U; m, n) = f(U - n; m - 1, n) + f(U; m, n - 1), here as products of polynomials.
 */

#include "stats/unpaired.h"

#include <math.h>
#include <stdlib.h>

#include "stats/order.h"

enum { GROUP_MAX = 60 };

/*
 * cumulative[u] = P(U <= u), na * nb + 1 of them; the caller frees it.  The generating
 * function of U is the product over i = 1..na of (1 - x^(nb+i)) / (1 - x^i).
 */
static double *distribution(size_t na, size_t nb)
{
	size_t n = na * nb + 1;
	double *f = calloc(n, sizeof(*f)), total = 0;

	if (!f)
		return NULL;
	f[0] = 1;
	for (size_t i = 1; i <= na; i++) {
		for (size_t u = n; u-- > nb + i;)
			f[u] -= f[u - nb - i];
		for (size_t u = i; u < n; u++)
			f[u] += f[u - i];
	}
	for (size_t u = 0; u < n; u++) {
		total += f[u];
		f[u] = total;
	}
	for (size_t u = 0; u < n; u++)
		f[u] /= total;
	return f;
}

size_t unpaired_k(size_t na, size_t nb, double level)
{
	double *f = na && nb ? distribution(na, nb) : NULL;
	size_t k = 0;

	/* The k-th smallest difference leaves out P(U <= k - 1) on its side. */
	while (f && k < na * nb / 2 && 2 * f[k] <= 1 - level + 1e-12)
		k++;
	free(f);
	return k;
}

static double p_of(const double *differences, size_t na, size_t nb)
{
	double *f = distribution(na, nb);
	double u = 0, p;

	if (!f)
		return 1;
	for (size_t i = 0; i < na * nb; i++)
		u += differences[i] < 0 ? 1 : differences[i] == 0 ? .5 : 0;
	u = fmin(u, (double)(na * nb) - u);
	/* A half is rounded to the larger p. */
	p = fmin(1, 2 * f[(size_t)ceil(u)]);
	free(f);
	return p;
}

void unpaired_summarize(struct unpaired_summary *s, const double *a, size_t na,
	const double *b, size_t nb, double level)
{
	double *d;
	size_t n, k;

	*s = (struct unpaired_summary){.estimate = NAN, .p = 1};
	na = na < GROUP_MAX ? na : GROUP_MAX;
	nb = nb < GROUP_MAX ? nb : GROUP_MAX;
	n = na * nb;
	d = n ? malloc(n * sizeof(*d)) : NULL;
	if (!d)
		return;
	for (size_t i = 0; i < na; i++)
		for (size_t j = 0; j < nb; j++)
			d[i * nb + j] = b[j] - a[i];
	order_sort(d, n);
	s->estimate = order_quantile_sorted(d, n, .5);
	s->p = p_of(d, na, nb);
	k = unpaired_k(na, nb, level);
	if (k)
		s->interval = (struct interval){true, d[k - 1], d[n - k]};
	free(d);
}

static double *logarithms(const double *values, size_t n)
{
	double *logs = malloc((n + 1) * sizeof(*logs));

	for (size_t i = 0; logs && i < n; i++)
		logs[i] = log(values[i]);
	return logs;
}

void unpaired_contrast(struct contrast *c, const double *baseline, size_t nbaseline,
	const double *other, size_t nother, double margin, double level)
{
	double *a = logarithms(baseline, nbaseline), *b = logarithms(other, nother);
	struct unpaired_summary wide = {.p = 1, .estimate = NAN}, narrow = wide;

	*c = (struct contrast){
		.ratio_low = NAN, .ratio_high = NAN, .detectable = NAN, .summary = {.p = 1}};
	if (a && b) {
		unpaired_summarize(&wide, a, nbaseline, b, nother, level);
		unpaired_summarize(
			&narrow, a, nbaseline, b, nother, 1 - 2 * (1 - level));
	}
	free(a);
	free(b);
	c->narrow = narrow.interval;
	c->summary.p = wide.p;
	c->summary.estimate = wide.estimate;
	c->summary.interval = wide.interval;
	contrast_judge(c, margin);
}
