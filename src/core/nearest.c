/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Nearest known word; see nearest.h.  The distance is the usual table of edit distances
 * with the swap of two neighbours as one step, because "tiem" for "time" is the most
 * common slip of all.  Three rows of the table are enough.  Words longer than the rows
 * are no misspelt keys and are at distance SIZE_MAX from everything.
 */

#include "core/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/macros.h"

enum { WORD_MAX = 63 };

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

size_t nearest_distance(const char *a, const char *b)
{
	size_t rows[3][WORD_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2], *free_row;
	size_t m = strlen(a), n = strlen(b);

	if (m > WORD_MAX || n > WORD_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		above[j] = j;
	for (size_t i = 1; i <= m; i++) {
		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t cost = MIN(above[j], row[j - 1]) + 1;

			cost = MIN(cost, above[j - 1] + !same(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) &&
				same(a[i - 2], b[j - 1]))
				cost = MIN(cost, before[j - 2] + 1);
			row[j] = cost;
		}
		free_row = before;
		before = above;
		above = row;
		row = free_row;
	}
	return above[n];
}

void nearest_offer(struct nearest *n, const char *name)
{
	size_t distance = nearest_distance(n->word, name);
	size_t longer = MAX(strlen(n->word), strlen(name));

	if (distance > (longer + 2) / 3 || distance >= longer)
		return;
	if (n->best && n->distance <= distance)
		return;
	n->best = name;
	n->distance = distance;
}
