/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What a report shows of all that was measured; see shown.h. */

#include "report/shown.h"

#include <string.h>

bool report_is_primary(const struct report *r, const struct series *s)
{
	const char *primary = r->bundle.info.primary;
	size_t w = strlen(s->workload), p = strlen(s->phase);

	return !strncmp(primary, s->workload, w) && primary[w] == '/' &&
	       !strncmp(primary + w + 1, s->phase, p) && primary[w + 1 + p] == '/' &&
	       !strcmp(primary + w + 1 + p + 1, s->metric);
}

static bool has_metric(
	const struct report *r, const struct series *like, const char *metric)
{
	for (size_t i = 0; i < r->comparison->count; i++) {
		const struct series *s = r->comparison->series[i];

		if (!strcmp(s->metric, metric) && !strcmp(s->phase, like->phase) &&
			!strcmp(s->workload, like->workload))
			return true;
	}
	return false;
}

/* Percentiles and the like stand beside what is shown, never alone. */
static bool is_detail(const struct series *s)
{
	return s->direction == NO_DIRECTION || !strncmp(s->metric, "latency_", 8) ||
		!strncmp(s->metric, "sync_", 5);
}

/*
 * What the text shows: the rate, or the operations where nothing is transferred, or what
 * else a program calls better or worse where there is neither.  The longest latency is
 * what users of a volume complain about, but of a few blocks it shows chance only.
 */
bool report_is_shown(const struct report *r, const struct series *s)
{
	if (report_is_primary(r, s))
		return true;
	if (s->too_short)
		return false;
	if (!strcmp(s->metric, "latency_max"))
		return r->complete_blocks >= REPORT_BLOCKS_FOR_A_STATEMENT;
	if (!strcmp(s->metric, "rate"))
		return true;
	if (is_detail(s) || has_metric(r, s, "rate"))
		return false;
	return !strcmp(s->metric, "operations") || !has_metric(r, s, "operations");
}

const char *const report_verdict_words[] = {
	[VERDICT_HIGHER] = "higher",
	[VERDICT_LOWER] = "lower",
	[VERDICT_EQUIVALENT] = "equivalent",
	[VERDICT_NO_DIFFERENCE] = "no_difference",
	[VERDICT_UNKNOWN] = "unknown",
};
