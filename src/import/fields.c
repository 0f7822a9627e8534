/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Words and numbers; see fields.h. */

#include "import/fields.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "core/macros.h"

void fields_split(struct fields *f, const char *line, const char *separators)
{
	char *rest = NULL, *word;

	*f = (struct fields){.copy = strdup(line)};
	if (!f->copy)
		return;
	for (word = strtok_r(f->copy, separators, &rest); word && f->count < FIELDS_MAX;
		word = strtok_r(NULL, separators, &rest))
		f->words[f->count++] = word;
}

void fields_deinit(struct fields *f)
{
	free(f->copy);
	*f = (struct fields){0};
}

bool fields_leading(const char *text, double *value, const char **rest)
{
	const char *p = text + (*text == '-');
	char *end;

	if (!isdigit((unsigned char)p[*p == '.']) || (p[0] == '0' && (p[1] | 32) == 'x'))
		return false;
	*value = strtod(text, &end);
	while (*end == ' ')
		end++;
	*rest = end;
	return isfinite(*value);
}

bool fields_number(const char *word, double *value)
{
	const char *rest;
	double number;

	if (!fields_leading(word, &number, &rest) || *rest)
		return false;
	*value = number;
	return true;
}

bool fields_whole(const char *word, uint64_t *value)
{
	size_t n = strspn(word, "0123456789");

	if (!n || word[n] || n > 18)
		return false;
	*value = strtoull(word, NULL, 10);
	return true;
}
