/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The summary of a report, sentence by sentence, in the order in which it is to be read:
 * what was found for the primary metric and for each other one that is noteworthy, what it
 * cost, whether the syncs reached the devices, what is to be held against it.  Every
 * format shows these sentences; none makes its own.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"
#include "report/report.h"

enum summary_kind {
	SUMMARY_MACHINE,   /* why its times mean nothing; only where that is so */
	SUMMARY_PRIMARY,   /* the primary metric, one sentence for each arm or level */
	SUMMARY_METRIC,	   /* another metric that differs */
	SUMMARY_REST,	   /* those that do not, together */
	SUMMARY_COST,	   /* longest latencies, flushes added */
	SUMMARY_AUDIT,	   /* one sentence, always there */
	SUMMARY_CONFOUNDS, /* one sentence, always there */
	SUMMARY_KINDS
};

/* How it is to be taken; a format may show it by a colour, never by that alone. */
enum summary_tone {
	SUMMARY_NEUTRAL,
	SUMMARY_BETTER,
	SUMMARY_WORSE,
	SUMMARY_WARNING, /* it speaks against the result */
	SUMMARY_TONES
};

struct summary_sentence {
	enum summary_kind kind;
	enum summary_tone tone;
	char *text; /* ends with a full stop */
};

struct summary {
	struct summary_sentence *sentences;
	size_t count;
};

/* Sentences about a report that was built; the texts are the summary's own.  -ENOMEM. */
int report_summary(const struct report *r, struct summary *s, struct err *e);
void summary_deinit(struct summary *s);

/* Was it measured on a machine that is emulated, so that times mean nothing? */
bool summary_emulated(const struct report *r);

const char *summary_kind_word(enum summary_kind kind); /* "primary" */
const char *summary_tone_word(enum summary_tone tone); /* "neutral" */

/* For the files of the summary: appends a sentence.  -ENOMEM. */
int summary_add(struct summary *s, enum summary_kind kind, enum summary_tone tone,
	struct err *e, const char *fmt, ...) _printf_(5, 6);

/* summary_findings.c and summary_cost.c: their part of the sentences.  -ENOMEM. */
int summary_add_findings(struct summary *s, const struct report *r, struct err *e);
int summary_add_costs(struct summary *s, const struct report *r, struct err *e);
