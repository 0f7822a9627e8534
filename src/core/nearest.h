/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * "Unknown key \"treads\"; did you mean \"threads\"?": the known word that a misspelt one
 * most likely stands for.
 */

#include <stddef.h>

/* Fewest insertions, deletions, replacements and swaps of neighbours that turn a into b;
 * letters count as equal whatever their case. */
size_t nearest_distance(const char *a, const char *b);

/*
 * Search over a list that the caller walks: start with { .word = typed }, offer each
 * known name, then read best.  best is NULL when nothing known is close: more than a
 * third of the longer word's letters would have to change.  Names are not copied.
 */
struct nearest {
	const char *word;
	const char *best;
	size_t distance; /* of best */
};

void nearest_offer(struct nearest *n, const char *name);
