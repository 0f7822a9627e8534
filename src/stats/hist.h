/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Log-linear histogram of durations: constant memory, relative error of a reported
 * quantile at most 1 %, mergeable.  Values from 0 ns to 2^42 ns (73 minutes); larger ones
 * are counted in the last bucket, and minimum, maximum and sum stay exact.
 */

#include <stddef.h>
#include <stdint.h>

enum { HIST_SUB_BITS = 7, HIST_BUCKETS = (42 - HIST_SUB_BITS + 2) << HIST_SUB_BITS };

struct hist {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t min_ns; /* UINT64_MAX while empty */
	uint64_t max_ns;
	uint64_t over_2s, over_10s;	/* tiobench's "Lat% >2s" and ">10s" */
	uint64_t buckets[HIST_BUCKETS]; /* 64 bits: an hour of cached reads is 10^10 */
};

void hist_init(struct hist *h);
void hist_record(struct hist *h, uint64_t ns);
void hist_merge(struct hist *into, const struct hist *from);

/* Value below which the fraction q (0..1) of the recorded ones lies; 0 while empty.
 * hist_quantile(h, 1) is the exact maximum. */
uint64_t hist_quantile_ns(const struct hist *h, double q);
double hist_mean_ns(const struct hist *h);

/* The bucket's index for a value, and the lowest value of a bucket (for files). */
size_t hist_bucket(uint64_t ns);
uint64_t hist_bucket_low_ns(size_t bucket);
