/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Analysis of paired differences: one number for each block, in a comparison the log of
 * the ratio of two arms.  The estimate is Hodges and Lehmann's, the interval is that of
 * the exact signed-rank test; Student's stands beside it.
 *
 * All functions want finite numbers and change nothing.  Where memory is needed and there
 * is none, results are NAN or "none".
 */

#include <stdbool.h>
#include <stddef.h>

struct interval {
	bool exists; /* false: too few values for this level */
	double low, high;
};

struct paired_summary {
	size_t n;
	double estimate;	    /* Hodges-Lehmann: median of the Walsh averages */
	struct interval interval;   /* exact signed-rank, at the level asked for */
	double p;		    /* exact signed-rank, two-sided; 1 when n is 0 */
	double mean, sd;	    /* sd is NAN for n < 2 */
	struct interval t_interval; /* Student's, at the same level */
	double t_p;		    /* two-sided; NAN for n < 2 */
};

/* level 0.95 and the like. */
void paired_summarize(struct paired_summary *s, const double *d, size_t n, double level);

double paired_hodges_lehmann(const double *d, size_t n);
struct interval paired_signed_rank_interval(const double *d, size_t n, double level);

/* Exact, conditional on ties and with zeros left out; beyond 200 values the normal
 * approximation with corrections for ties and continuity. */
double paired_signed_rank_p(const double *d, size_t n);

/* Smallest k with which [w(k), w(M+1-k)] of the sorted Walsh averages covers at least
 * level; 0: none does.  4, 9, 14 for n = 8, 10, 12 at 95 %. */
size_t paired_signed_rank_k(size_t n, double level);

struct interval paired_t_interval(const double *d, size_t n, double level);
double paired_t_p(const double *d, size_t n);

/* p[] becomes Holm's adjusted p-values. */
void holm_adjust(double *p, size_t n);
