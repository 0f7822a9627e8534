/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Log-linear histogram of durations; see hist.h.
 *
 * Each power of two is cut into 2^HIST_SUB_BITS buckets of equal width, so a bucket is
 * never wider than 1/128 of its lowest value, and values below 256 ns have a bucket each.
 * A quantile is reported as the middle of its bucket, hence wrong by at most 1/256, that
 * is 0.4 %, and never outside [minimum, maximum].  Finding the bucket takes one count of
 * leading zeros and one shift: recording costs a few nanoseconds, whatever the value.
 *
 * The index of v >= 128 is (shift << 7) + (v >> shift), where shift brings v into
 * [128, 256); below 128 the shift is 0, so one formula serves all.
 */

#include "stats/hist.h"

#include <string.h>

/* tiobench counts what took longer than these. */
#define SLOW_NS UINT64_C(2000000000)
#define VERY_SLOW_NS UINT64_C(10000000000)

void hist_init(struct hist *h)
{
	memset(h, 0, sizeof(*h));
	h->min_ns = UINT64_MAX;
}

size_t hist_bucket(uint64_t ns)
{
	int top = 63 - __builtin_clzll(ns | (UINT64_C(1) << HIST_SUB_BITS));
	int shift = top - HIST_SUB_BITS;
	size_t bucket = ((size_t)shift << HIST_SUB_BITS) + (size_t)(ns >> shift);

	return bucket < HIST_BUCKETS ? bucket : HIST_BUCKETS - 1;
}

uint64_t hist_bucket_low_ns(size_t bucket)
{
	size_t group = bucket >> HIST_SUB_BITS;
	uint64_t within = bucket & ((1u << HIST_SUB_BITS) - 1);

	if (group == 0)
		return within;
	return (within + (1u << HIST_SUB_BITS)) << (group - 1);
}

void hist_record(struct hist *h, uint64_t ns)
{
	h->count++;
	h->sum_ns += ns;
	h->buckets[hist_bucket(ns)]++;
	if (ns < h->min_ns)
		h->min_ns = ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
	if (__builtin_expect(ns > SLOW_NS, 0)) {
		h->over_2s++;
		if (ns > VERY_SLOW_NS)
			h->over_10s++;
	}
}

void hist_merge(struct hist *into, const struct hist *from)
{
	into->count += from->count;
	into->sum_ns += from->sum_ns;
	into->over_2s += from->over_2s;
	into->over_10s += from->over_10s;
	if (from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	for (size_t i = 0; i < HIST_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

static uint64_t bucket_middle_ns(const struct hist *h, size_t bucket)
{
	uint64_t low = hist_bucket_low_ns(bucket);
	uint64_t middle = low + (hist_bucket_low_ns(bucket + 1) - low) / 2;

	if (middle < h->min_ns)
		return h->min_ns;
	return middle < h->max_ns ? middle : h->max_ns;
}

uint64_t hist_quantile_ns(const struct hist *h, double q)
{
	double wanted = q * (double)h->count;
	uint64_t seen = 0;

	if (h->count == 0)
		return 0;
	if (q <= 0)
		return h->min_ns;
	if (q >= 1)
		return h->max_ns;
	for (size_t i = 0; i < HIST_BUCKETS; i++) {
		seen += h->buckets[i];
		if ((double)seen >= wanted)
			return bucket_middle_ns(h, i);
	}
	return h->max_ns;
}

double hist_mean_ns(const struct hist *h)
{
	return h->count ? (double)h->sum_ns / (double)h->count : 0;
}
