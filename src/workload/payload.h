/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The data that a thread writes: seeded, incompressible, and never the same block twice,
 * because devices and file systems that compress or deduplicate would be flattered by
 * anything less.
 */

#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "workload/random.h"

struct payload {
	uint64_t *block; /* aligned for O_DIRECT */
	size_t words;	 /* 64-bit words in it, a multiple of 8 */
	struct random random;
};

/* A block of at least bytes (>= 1), filled.  -ENOMEM. */
int payload_init(struct payload *p, size_t bytes, uint64_t seed, struct err *e);

/* Turns the block into the next one, in place. */
void payload_next(struct payload *p);

void payload_deinit(struct payload *p);
