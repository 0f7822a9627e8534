/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The sentences of a summary and their words; see summary.h. */

#include "report/summary.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const kind_words[SUMMARY_KINDS] = {
	[SUMMARY_MACHINE] = "machine",
	[SUMMARY_PRIMARY] = "primary",
	[SUMMARY_METRIC] = "metric",
	[SUMMARY_REST] = "rest",
	[SUMMARY_COST] = "cost",
	[SUMMARY_AUDIT] = "audit",
	[SUMMARY_CONFOUNDS] = "confounds",
};

static const char *const tone_words[SUMMARY_TONES] = {
	[SUMMARY_NEUTRAL] = "neutral",
	[SUMMARY_BETTER] = "better",
	[SUMMARY_WORSE] = "worse",
	[SUMMARY_WARNING] = "warning",
};

const char *summary_kind_word(enum summary_kind kind)
{
	return kind_words[kind];
}

const char *summary_tone_word(enum summary_tone tone)
{
	return tone_words[tone];
}

int summary_add(struct summary *s, enum summary_kind kind, enum summary_tone tone,
	struct err *e, const char *fmt, ...)
{
	struct summary_sentence *list =
		reallocarray(s->sentences, s->count + 1, sizeof(*list));
	char *text;
	va_list ap;
	int n;

	if (!list)
		return err_set(e, ENOMEM, "sum up the report");
	s->sentences = list;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return err_set(e, ENOMEM, "sum up the report");
	list[s->count++] = (struct summary_sentence){kind, tone, text};
	return 0;
}

void summary_deinit(struct summary *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->sentences[i].text);
	free(s->sentences);
	*s = (struct summary){0};
}
