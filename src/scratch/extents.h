/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A set of byte ranges, kept sorted, merged and disjoint: what a disk's write cache holds.
 * All room is allocated at the start, because the model must not need memory while the
 * machine writes dirty pages to it in order to get some.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct extent {
	uint64_t start, end; /* bytes; end is the first byte behind */
};

struct extents {
	struct extent *items;
	size_t count, room;
	uint64_t bytes; /* sum of all lengths */
};

/* room: most ranges that it can hold.  0 or -ENOMEM. */
int extents_init(struct extents *s, size_t room);
void extents_deinit(struct extents *s);

/* Index of the first range that ends behind at; count when there is none. */
size_t extents_find(const struct extents *s, uint64_t at);

/* Bytes of [start, end) that are in the set. */
uint64_t extents_overlap(const struct extents *s, uint64_t start, uint64_t end);

/* Adds [start, end).  False when it would need a range more than there is room for. */
bool extents_add(struct extents *s, uint64_t start, uint64_t end);

/* Takes [start, end) out.  False, and nothing is changed, when a range would have to be
 * split and there is no room. */
bool extents_remove(struct extents *s, uint64_t start, uint64_t end);
