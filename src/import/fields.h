/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A line as words, and words as numbers. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FIELDS_MAX = 64 };

struct fields {
	char *words[FIELDS_MAX]; /* in copy */
	size_t count;
	char *copy;
};

/* Splits at any of the characters, runs of them counting as one.  What is behind the 64th
 * word is left out; without memory there are no words. */
void fields_split(struct fields *f, const char *line, const char *separators);
void fields_deinit(struct fields *f);

/* A decimal number and nothing else: "43.03", "-1.5", "1e-05"; no "inf", "nan" or "0x". */
bool fields_number(const char *word, double *value);

/* Only digits, at most 18 of them. */
bool fields_whole(const char *word, uint64_t *value);

/* A number at the beginning of a text; *rest is behind it and the blanks that follow. */
bool fields_leading(const char *text, double *value, const char **rest);
