/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Lists and words; see values.h. */

#include "workload/values.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "core/strbuf.h"
#include "core/units.h"

static int parse_one(const char *word, uint64_t low, uint64_t high, bool size,
	uint64_t *value, struct err *e)
{
	int r;

	if (!size)
		return units_parse_count(word, low, high, value, e);
	r = units_parse_bytes(word, value, e);
	if (!r && *value < low)
		return err_usage(e, "a size must not be 0");
	return r;
}

static int parse_list(const char *text, uint64_t low, uint64_t high, bool size,
	struct values *v, struct err *e)
{
	_cleanup_free_ char *copy = strdup(text);
	struct values list = {0};
	char *rest = copy, *word;

	if (!copy)
		return err_set(e, ENOMEM, "list");
	while ((word = strsep(&rest, " \t,"))) {
		int r;

		if (!*word)
			continue;
		if (list.count == VALUES_MAX)
			return err_usage(e, "more than %d values", VALUES_MAX);
		r = parse_one(word, low, high, size, &list.at[list.count], e);
		if (r)
			return r;
		list.count++;
	}
	if (!list.count)
		return err_usage(e, "at least one value is needed");
	*v = list;
	return 0;
}

int values_parse_sizes(const char *text, struct values *v, struct err *e)
{
	return parse_list(text, 1, UINT64_MAX, true, v, e);
}

int values_parse_counts(
	const char *text, uint64_t low, uint64_t high, struct values *v, struct err *e)
{
	return parse_list(text, low, high, false, v, e);
}

int values_parse_word(const char *text, const char *const words[], size_t count,
	unsigned *index, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf known = {0};

	for (size_t i = 0; i < count; i++) {
		if (!strcmp(text, words[i])) {
			*index = (unsigned)i;
			return 0;
		}
		strbuf_addf(&known, "%s%s",
			i == 0		? ""
			: i + 1 < count ? ", "
					: " or ",
			words[i]);
	}
	return err_usage(e, "\"%s\" is not %s", text, strbuf_text(&known));
}
