/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The arithmetic of `throughput`; see throughput.h. */

#include <math.h>

#include "core/clock.h"
#include "core/macros.h"
#include "workload/random.h"
#include "workload/throughput.h"

struct throughput_figures throughput_figures(
	const struct throughput_child *children, size_t count, uint64_t parent_ns)
{
	struct throughput_figures f = {.min = INFINITY, .min_xfer = UINT64_MAX};
	double bytes = 0;

	for (size_t i = 0; i < count; i++) {
		double seconds = (double)MAX(children[i].elapsed_ns, UINT64_C(1)) / NS_PER_S;
		double rate = (double)children[i].bytes / seconds;

		bytes += (double)children[i].bytes;
		f.children += rate;
		f.min = MIN(f.min, rate);
		f.max = MAX(f.max, rate);
		f.min_xfer = MIN(f.min_xfer, children[i].bytes);
	}
	f.parent = bytes * NS_PER_S / (double)MAX(parent_ns, UINT64_C(1));
	f.avg = f.children / (double)count;
	return f;
}

/*
 * A Feistel network over the next even power of two is a permutation; a number that falls
 * outside goes through it again until it falls inside.  Memory is constant, where iozone
 * shuffles a table of all records.
 */
uint64_t throughput_shuffled(uint64_t i, uint64_t n, uint64_t key)
{
	unsigned half = 1;

	while (half < 31 && UINT64_C(1) << 2 * half < n)
		half++;
	do {
		uint64_t mask = (UINT64_C(1) << half) - 1;
		uint64_t left = i >> half, right = i & mask;

		for (uint64_t round = 0; round < 4; round++) {
			uint64_t mixed = random_derive(key + round, right) & mask;
			uint64_t next = left ^ mixed;

			left = right;
			right = next;
		}
		i = left << half | right;
	} while (i >= n);
	return i;
}
