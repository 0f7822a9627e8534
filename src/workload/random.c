/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Random numbers; see random.h.  Seeds are spread over the state by SplitMix64, so that
 * neighbouring seeds give unrelated sequences. */

#include "workload/random.h"

#include <string.h>

static uint64_t mix(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint64_t random_derive(uint64_t seed, uint64_t purpose)
{
	uint64_t state = seed, first = mix(&state);

	state = first ^ purpose;
	return mix(&state);
}

void random_init(struct random *r, uint64_t seed)
{
	for (size_t i = 0; i < 4; i++)
		r->s[i] = mix(&seed);
}

void random_fill(struct random *r, void *bytes, size_t n)
{
	char *at = bytes;

	for (; n >= sizeof(uint64_t); n -= sizeof(uint64_t), at += sizeof(uint64_t)) {
		uint64_t word = random_next(r);

		memcpy(at, &word, sizeof(word));
	}
	if (n) {
		uint64_t word = random_next(r);

		memcpy(at, &word, n);
	}
}
