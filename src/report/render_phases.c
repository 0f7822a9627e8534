/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The table of phases; see render_phases.h.  Its columns are metrics by name, so that
 * workloads which have other metrics only lack columns.  Values carry their units; a
 * percentile that too few operations support is no metric and shows as "-".  The last
 * column says what was done about the page cache before the phase.
 */

#include "report/render_phases.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "report/text_table.h"

enum { TEXT = 32 };

static const struct column {
	const char *title, *metric;
} columns[] = {
	{"RATE", "rate"},
	{"RATE-SD", "rate_sd"},
	{"OPS/S", "operations"},
	{"MEAN", "latency_mean"},
	{"P50", "latency_p50"},
	{"P90", "latency_p90"},
	{"P95", "latency_p95"},
	{"P99", "latency_p99"},
	{"P99.9", "latency_p999"},
	{"MAX", "latency_max"},
	{"SYNC-MEAN", "sync_mean"},
	{"SYNC-P50", "sync_p50"},
	{"SYNC-P99", "sync_p99"},
	{"SYNC-P99.9", "sync_p999"},
	{"SYNC-MAX", "sync_max"},
	{"FIRST-DONE", "first_done"},
	{"LAST-DONE", "last_done"},
	{"TX/SYNC", "transactions_per_sync"},
	{"CACHED", "cached_before"},
};

enum { COLUMNS_MAX = 64, TITLE = 32 };

/* The columns of one run. */
struct layout {
	char titles[COLUMNS_MAX][TITLE];
	const char *metrics[COLUMNS_MAX];
	size_t count;
};

static const char *const cache_words[] = {
	[RESULT_CACHE_KEPT] = "kept",
	[RESULT_CACHE_ADVISED] = "advised",
	[RESULT_CACHE_DROPPED] = "dropped",
};

static void format_value(const struct result_metric *m, char out[TEXT])
{
	char bytes[16];

	switch (m->unit) {
	case UNIT_BYTES_PER_SECOND:
		snprintf(out, TEXT, "%.2f MiB/s", m->value / (1 << 20));
		break;
	case UNIT_OPERATIONS_PER_SECOND:
		snprintf(out, TEXT, "%.1f", m->value);
		break;
	case UNIT_NANOSECONDS:
		units_format_duration((uint64_t)m->value, out);
		break;
	case UNIT_FRACTION:
		snprintf(out, TEXT, "%.1f%%", 100 * m->value);
		break;
	case UNIT_BYTES:
		units_format_bytes((uint64_t)m->value, bytes);
		snprintf(out, TEXT, "%s", bytes);
		break;
	case UNIT_COUNT:
		snprintf(out, TEXT, "%.0f", m->value);
		break;
	}
}

static bool any_has(const struct result_run *run, const char *metric)
{
	for (size_t i = 0; i < run->phase_count; i++)
		if (result_phase_metric(&run->phases[i], metric))
			return true;
	return false;
}

static void add_column(struct layout *layout, const char *title, const char *metric)
{
	char *at;

	for (size_t i = 0; i < layout->count; i++)
		if (!strcmp(layout->metrics[i], metric))
			return;
	if (layout->count == COLUMNS_MAX)
		return;
	at = layout->titles[layout->count];
	snprintf(at, TITLE, "%s", title);
	for (; *at; at++)
		*at = *at == '_' ? '-' : (char)toupper((unsigned char)*at);
	layout->metrics[layout->count++] = metric;
}

/* A command's metrics are what somebody asked for by name: all of them are shown. */
static void lay_out(struct layout *layout, const struct result_run *run)
{
	bool all = run->type && !strcmp(run->type, "command");

	layout->count = 0;
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (any_has(run, columns[i].metric))
			add_column(layout, columns[i].title, columns[i].metric);
	for (size_t i = 0; all && i < run->phase_count; i++)
		for (size_t k = 0; k < run->phases[i].metric_count; k++)
			add_column(layout, run->phases[i].metrics[k].name,
				run->phases[i].metrics[k].name);
}

static void add_line(struct text_table *table, const struct layout *layout,
	const struct result_phase *phase)
{
	char values[COLUMNS_MAX][TEXT];
	const char *texts[COLUMNS_MAX + 2] = {phase->name};

	for (size_t i = 0; i < layout->count; i++) {
		const struct result_metric *m =
			result_phase_metric(phase, layout->metrics[i]);

		snprintf(values[i], TEXT, "-");
		if (m)
			format_value(m, values[i]);
		texts[i + 1] = values[i];
	}
	texts[layout->count + 1] = cache_words[phase->cache];
	text_table_add(table, texts);
}

/* A narrow terminal must not cost digits: as wide as it must be. */
static struct text_table *new_table(const struct layout *layout)
{
	struct text_column shown[COLUMNS_MAX + 2] = {{"PHASE", TEXT_LEFT}};

	for (size_t i = 0; i < layout->count; i++)
		shown[i + 1] = (struct text_column){layout->titles[i], TEXT_RIGHT};
	shown[layout->count + 1] = (struct text_column){"CACHE", TEXT_LEFT};
	return text_table_new(shown, layout->count + 2, 0);
}

int render_phases(const struct result_run *run, struct strbuf *out, struct err *e)
{
	_cleanup_free_ struct layout *layout = calloc(1, sizeof(*layout));
	struct text_table *table;

	if (!layout)
		return err_set(e, ENOMEM, "table of phases");
	lay_out(layout, run);
	table = new_table(layout);
	for (size_t i = 0; i < run->phase_count; i++)
		add_line(table, layout, &run->phases[i]);
	return text_table_finish(table, "", out, e);
}
