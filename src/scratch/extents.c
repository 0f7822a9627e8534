/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A set of byte ranges; see extents.h.  A sorted array: a cache of some ten thousand
 * ranges moves at most a few hundred KiB for an insertion in the middle, far less than
 * what the modelled disk takes for anything.  Ranges that touch are merged.
 */

#include "scratch/extents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/macros.h"

int extents_init(struct extents *s, size_t room)
{
	*s = (struct extents){ .room = room };
	s->items = calloc(room ? room : 1, sizeof(*s->items));
	return s->items ? 0 : -ENOMEM;
}

void extents_deinit(struct extents *s)
{
	free(s->items);
	*s = (struct extents){ 0 };
}

size_t extents_find(const struct extents *s, uint64_t at)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->items[middle].end > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

uint64_t extents_overlap(const struct extents *s, uint64_t start, uint64_t end)
{
	uint64_t bytes = 0;

	for (size_t i = extents_find(s, start); i < s->count && s->items[i].start < end; i++)
		bytes += MIN(end, s->items[i].end) - MAX(start, s->items[i].start);
	return bytes;
}

/* Puts n ranges in the place of the old ones with index first to last - 1. */
static void replace(struct extents *s, size_t first, size_t last,
	const struct extent *items, size_t n)
{
	for (size_t i = first; i < last; i++)
		s->bytes -= s->items[i].end - s->items[i].start;
	memmove(s->items + first + n, s->items + last,
		(s->count - last) * sizeof(*s->items));
	for (size_t i = 0; i < n; i++) {
		s->items[first + i] = items[i];
		s->bytes += items[i].end - items[i].start;
	}
	s->count = s->count + n - (last - first);
}

bool extents_add(struct extents *s, uint64_t start, uint64_t end)
{
	struct extent merged = { start, end };
	/* A range that ends exactly at start is merged, too. */
	size_t first = extents_find(s, start ? start - 1 : 0), last = first;

	if (start >= end)
		return true;
	while (last < s->count && s->items[last].start <= end)
		last++;
	if (first == last && s->count == s->room)
		return false;
	if (first < last) {
		merged.start = MIN(start, s->items[first].start);
		merged.end = MAX(end, s->items[last - 1].end);
	}
	replace(s, first, last, &merged, 1);
	return true;
}

bool extents_remove(struct extents *s, uint64_t start, uint64_t end)
{
	size_t first = extents_find(s, start), last = first, n = 0;
	struct extent rest[2];

	while (last < s->count && s->items[last].start < end)
		last++;
	if (start >= end || first == last)
		return true;
	if (s->items[first].start < start)
		rest[n++] = (struct extent){ s->items[first].start, start };
	if (s->items[last - 1].end > end)
		rest[n++] = (struct extent){ end, s->items[last - 1].end };
	if (s->count + n - (last - first) > s->room)
		return false;
	replace(s, first, last, rest, n);
	return true;
}
