/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Seeded random numbers for data and offsets: xoshiro256++, a few cycles each, 2^256 - 1
 * long.  Equal seeds give equal sequences on every machine.
 */

#include <stddef.h>
#include <stdint.h>

struct random {
	uint64_t s[4];
};

/* One word of a seed derived from another and a purpose (a thread's number, a phase), so
 * that streams do not overlap. */
uint64_t random_derive(uint64_t seed, uint64_t purpose);

void random_init(struct random *r, uint64_t seed);
void random_fill(struct random *r, void *bytes, size_t n);

static inline uint64_t random_rotate_(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

static inline uint64_t random_next(struct random *r)
{
	uint64_t *s = r->s, t = s[1] << 17;
	uint64_t result = random_rotate_(s[0] + s[3], 23) + s[0];

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = random_rotate_(s[3], 45);
	return result;
}

/* Uniform in [0, n), n >= 1: the bias of at most n / 2^64 is of no account here. */
static inline uint64_t random_below(struct random *r, uint64_t n)
{
	return (uint64_t)((unsigned __int128)random_next(r) * n >> 64);
}
