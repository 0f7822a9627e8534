/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Values of workload keys that core/units.h does not know: lists and words. */

#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

enum { VALUES_MAX = 32 };

struct values {
	uint64_t at[VALUES_MAX];
	size_t count;
};

/* Sizes in bytes ("4k 64k", separated by blanks or commas), each >= 1. */
int values_parse_sizes(const char *text, struct values *v, struct err *e);

/* Whole numbers in [low, high]. */
int values_parse_counts(
	const char *text, uint64_t low, uint64_t high, struct values *v, struct err *e);

/* One of count words: its index into *index. */
int values_parse_word(const char *text, const char *const words[], size_t count,
	unsigned *index, struct err *e);
