/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The order of arms; see order.h.  "All of A, then all of B" takes every drift of the
 * disk for an effect of the arm; a fixed alternation can fall into step with something
 * periodic.  Random order within blocks has neither fault.
 *
 * The generator is SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, every seed is
 * good, and a stream for each block is got by hashing the block's number into the seed.
 */

#include "plan/order.h"

#include <stdbool.h>

#include "core/macros.h"

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t next(uint64_t *state)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	return mix(*state);
}

/* Independent streams of one seed; the purpose keeps orders and workloads apart. */
static uint64_t stream(uint64_t seed, uint64_t purpose, uint64_t number)
{
	uint64_t state = seed;

	state = next(&state) ^ purpose;
	state = next(&state) ^ number;
	return next(&state);
}

/* A number below limit, all equally likely: values from the incomplete last range are
 * thrown away. */
static size_t below(uint64_t *state, size_t limit)
{
	uint64_t value, threshold = -(uint64_t)limit % limit;

	do {
		value = next(state);
	} while (value < threshold);
	return (size_t)(value % limit);
}

/* Is B first in this block?  Draws without replacement from a bag that holds as many AB as
 * BA, up to the block that is asked for. */
static bool b_first(uint64_t seed, struct order_stage stage, uint32_t block)
{
	uint64_t state = stream(seed, 1, stage.first);
	uint32_t left = stage.count;
	uint32_t left_b = stage.count / 2 + (stage.count % 2 ? (uint32_t)below(&state, 2) : 0);
	bool b = false;

	for (uint32_t i = stage.first; i <= block; i++, left--) {
		b = below(&state, left) < left_b;
		left_b -= b;
	}
	return b;
}

void order_block(uint64_t seed, struct order_stage stage, uint32_t block,
	size_t arm_count, size_t *order)
{
	uint64_t state = stream(seed, 1, block);

	for (size_t i = 0; i < arm_count; i++)
		order[i] = i;
	if (arm_count == 2) {
		order[0] = b_first(seed, stage, block);
		order[1] = !order[0];
		return;
	}
	for (size_t i = arm_count; i > 1; i--) {
		size_t j = below(&state, i), held = order[i - 1];

		order[i - 1] = order[j];
		order[j] = held;
	}
}

uint64_t order_workload_seed(uint64_t seed, uint32_t block, size_t workload)
{
	return stream(seed, 2, (uint64_t)block << 32 | workload);
}
