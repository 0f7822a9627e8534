/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The table of phases; see render_phases.h.  Its columns are metrics by name, so that
 * workloads which have other metrics only lack columns.  Values carry their units; a
 * percentile that too few operations support is no metric and shows as "-".  The last
 * column says what was done about the page cache before the phase.  What 80 columns have no
 * room for is another table below, with the phases again.
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

/* A cell; the column after the last metric's is that of the cache. */
static const char *cell_text_of(const struct layout *layout, size_t column,
	const struct result_phase *phase, char out[TEXT])
{
	const struct result_metric *m;

	if (column == layout->count)
		return cache_words[phase->cache];
	m = result_phase_metric(phase, layout->metrics[column]);
	snprintf(out, TEXT, "-");
	if (m)
		format_value(m, out);
	return out;
}

static const char *title_of(const struct layout *layout, size_t column)
{
	return column == layout->count ? "CACHE" : layout->titles[column];
}

static size_t width_of(const struct layout *layout, size_t column,
	const struct result_run *run)
{
	size_t width = strlen(title_of(layout, column));
	char text[TEXT];

	for (size_t i = 0; i < run->phase_count; i++)
		width = MAX(width, strlen(cell_text_of(
			layout, column, &run->phases[i], text)));
	return width;
}

/* The first column from begin on that a table of 80 columns has no room for; begin itself
 * always has: a narrow table must not cost digits. */
static size_t end_of_part(const struct layout *layout, size_t begin,
	const struct result_run *run)
{
	size_t width = strlen("PHASE"), column = begin;

	for (size_t i = 0; i < run->phase_count; i++)
		width = MAX(width, strlen(run->phases[i].name));
	while (column <= layout->count) {
		width += 1 + width_of(layout, column, run);
		if (column > begin && width > TEXT_TABLE_WIDTH)
			break;
		column++;
	}
	return column;
}

static int render_part(const struct layout *layout, size_t begin, size_t end,
	const struct result_run *run, struct strbuf *out, struct err *e)
{
	struct text_column shown[COLUMNS_MAX + 2] = {{"PHASE", TEXT_LEFT}};
	struct text_table *table;

	for (size_t i = begin; i < end; i++)
		shown[1 + i - begin] = (struct text_column){title_of(layout, i),
			i == layout->count ? TEXT_LEFT : TEXT_RIGHT};
	table = text_table_new(shown, 1 + end - begin, 0);
	for (size_t i = 0; i < run->phase_count; i++) {
		const struct result_phase *phase = &run->phases[i];
		char values[COLUMNS_MAX + 1][TEXT];
		const char *texts[COLUMNS_MAX + 2] = {phase->name};

		for (size_t k = begin; k < end; k++)
			texts[1 + k - begin] = cell_text_of(layout, k, phase, values[k]);
		text_table_add(table, texts);
	}
	return text_table_finish(table, "", out, e);
}

int render_phases(const struct result_run *run, struct strbuf *out, struct err *e)
{
	_cleanup_free_ struct layout *layout = calloc(1, sizeof(*layout));
	size_t end;
	int r = 0;

	if (!layout)
		return err_set(e, ENOMEM, "table of phases");
	lay_out(layout, run);
	for (size_t begin = 0; !r && begin <= layout->count; begin = end) {
		end = end_of_part(layout, begin, run);
		if (begin)
			strbuf_add(out, "\n");
		r = render_part(layout, begin, end, run, out, e);
	}
	return r;
}
