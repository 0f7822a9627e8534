/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * In which order the arms of each block are measured.  The order of a block depends on
 * the seed, its stage and its number only, so that an experiment can be made longer by
 * another stage, or taken up again, without changing what has been.  Equal seeds give
 * equal orders in every version: the generator is fixed by tests.
 */

#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

/* Blocks that are planned together: those of a pilot, or those that its result adds. */
struct order_stage {
	uint32_t first; /* number of its first block */
	uint32_t count;
};

/*
 * Fills order[0..arm_count-1] with the arms (0..arm_count-1) of a block of the stage.
 *
 * Two arms: over the stage as many blocks are AB as BA (one more of either if the number
 * is odd), in random order.  A strict alternation within each pair of blocks would be
 * worse: what one run leaves to the next makes neighbouring AB and BA resemble each other
 * (6.4 % instead of 5 % false claims on a disk with that memory; see make simulate).
 * More arms: a random permutation for each block.
 */
void order_block(uint64_t seed, struct order_stage stage, uint32_t block,
	size_t arm_count, size_t *order);

/* A seed for what the workloads of a block do (data, offsets): equal for all arms of the
 * block, different between blocks and between workloads. */
uint64_t order_workload_seed(uint64_t seed, uint32_t block, size_t workload);
