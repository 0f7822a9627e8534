/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Data to write; see payload.h.
 *
 * Making fresh random data costs more than a write into the page cache, and replaying a
 * pool of random data is found out by any compressor whose window is larger than the
 * pool.  So there is one random block, and each next block is the one before with every
 * word XORed by the same fresh random key: one pass at the speed of the first level cache
 * (some 2 % of a page-cached write), and no two blocks share a single 8-byte word except
 * by chance.
 */

#include "workload/payload.h"

#include <errno.h>

enum { ALIGNMENT = 4096, WORDS_UNROLLED = 8 };

int payload_init(struct payload *p, size_t bytes, uint64_t seed, struct err *e)
{
	size_t room = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

	*p = (struct payload){.block = aligned_alloc(ALIGNMENT, room)};
	if (!p->block)
		return err_set(e, ENOMEM, "buffer of %zu bytes", bytes);
	random_init(&p->random, seed);
	random_fill(&p->random, p->block, room);
	p->words = (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
	p->words = (p->words + WORDS_UNROLLED - 1) / WORDS_UNROLLED * WORDS_UNROLLED;
	return 0;
}

void payload_next(struct payload *p)
{
	typedef uint64_t lane __attribute__((vector_size(64), may_alias));
	uint64_t key = random_next(&p->random);
	lane *at = (lane *)p->block, *end = at + p->words / WORDS_UNROLLED;

	for (; at < end; at++)
		*at ^= key;
}

void payload_deinit(struct payload *p)
{
	free(p->block);
	*p = (struct payload){0};
}
