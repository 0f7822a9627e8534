/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The sections of the page: plots first, the numbers below them. */

#include "report/html.h"

#include <stdio.h>
#include <string.h>

#include "report/format.h"
#include "report/xml.h"

#define COLUMNS(...)                                                                     \
	.columns = (const size_t[]){ __VA_ARGS__ },                                      \
	.column_count = sizeof((const size_t[]){ __VA_ARGS__ }) / sizeof(size_t)

static const char *path_text(const struct report_cell *row, size_t column, char *buffer)
{
	if (column != COMPARISON_METRIC)
		return NULL;
	snprintf(buffer, HTML_TEXT_MAX, "%s/%s/%s", row[COMPARISON_WORKLOAD].text,
		row[COMPARISON_PHASE].text, row[COMPARISON_METRIC].text);
	return buffer;
}

/* The interval in one column, and verdicts in the words of the text report. */
static const char *comparison_text(const struct report_cell *row, size_t column,
	char buffer[static HTML_TEXT_MAX])
{
	char low[CELL_TEXT_MAX], high[CELL_TEXT_MAX];
	const char *word;

	switch (column) {
	case COMPARISON_LOW:
		if (row[COMPARISON_LOW].type == CELL_MISSING)
			return "-";
		snprintf(buffer, HTML_TEXT_MAX, "%s to %s",
			format_cell(&row[COMPARISON_LOW], low),
			format_cell(&row[COMPARISON_HIGH], high));
		return buffer;
	case COMPARISON_DETECTABLE:
		if (row[column].type == CELL_MISSING ||
			row[COMPARISON_LOW].type == CELL_MISSING)
			return "-";
		snprintf(buffer, HTML_TEXT_MAX, "±%.3g %%", 100 * (row[column].number - 1));
		return buffer;
	case COMPARISON_ESTIMATE: /* without an interval it only repeats the ratio */
		return row[COMPARISON_LOW].type == CELL_MISSING ? "-" : NULL;
	case COMPARISON_VERDICT:
		word = format_verdict(row[COMPARISON_VERDICT].text,
			row[COMPARISON_DIRECTION].text);
		return strcmp(word, "~") ? word : "~ no detectable difference";
	case COMPARISON_DIRECTION:
		return !strcmp(row[column].text, "higher_is_better") ? "more"
			: !strcmp(row[column].text, "lower_is_better") ? "less"
								       : "";
	default:
		return path_text(row, column, buffer);
	}
}

static const char *comparison_text_of_two(const struct report_cell *row, size_t column,
	char buffer[static HTML_TEXT_MAX])
{
	return column == COMPARISON_ARM ? "" : comparison_text(row, column, buffer);
}

static bool is_shown(const struct report *r _unused_, const struct report_cell *row)
{
	return row[COMPARISON_SHOWN].count;
}

static const char *primary_class(const struct report_cell *row)
{
	return row[COMPARISON_PRIMARY].count ? "primary" : NULL;
}

/* Of two arms the second needs no column. */
static void comparison_table(struct html *h)
{
	const struct bundle_info *info = &h->report->bundle.info;
	bool two = info->arm_count == 2;
	char caption[HTML_TEXT_MAX], level[32];
	const size_t columns[] = { COMPARISON_METRIC, COMPARISON_ARM, COMPARISON_FIRST_MEDIAN,
		COMPARISON_MEDIAN, COMPARISON_RATIO, COMPARISON_ESTIMATE, COMPARISON_LOW,
		COMPARISON_DETECTABLE, COMPARISON_VERDICT, COMPARISON_DIRECTION,
		COMPARISON_BLOCKS };
	const char *titles[ARRAY_SIZE(columns)] = { [2] = info->arms[0].name,
		[3] = two ? info->arms[1].name : NULL, [6] = level };
	const struct html_view view = { .table = TABLE_COMPARISON, .caption = caption,
		.columns = columns, .titles = titles, .column_count = ARRAY_SIZE(columns),
		.keep = is_shown, .text = two ? comparison_text_of_two : comparison_text,
		.row_class = primary_class };

	snprintf(level, sizeof(level), "%.4g %% interval", 100 * info->design.level);
	snprintf(caption, sizeof(caption), "%s compared with %s",
		two ? info->arms[1].name : "Arms", info->arms[0].name);
	html_table(h, &view);
}

static void ratios(struct html *h)
{
	bool alone = h->report->bundle.info.arm_count < 2;

	if (!h->report->tables[TABLE_COMPARISON].row_count)
		return;
	html_section(h, "ratios", alone ? "Medians" : "Comparison");
	if (html_figures(h, "ratios"))
		html_note(h, "Each metric's ratio to the first arm; more is to the right, "
			"whether that is better or not. With six blocks or more it is Hodges and "
			"Lehmann's estimate and its exact signed-rank interval.");
	if (alone)
		html_table(h, &(struct html_view){ .table = TABLE_COMPARISON,
				      .caption = "Medians",
				      COLUMNS(COMPARISON_METRIC, COMPARISON_MEDIAN,
					      COMPARISON_DIRECTION, COMPARISON_BLOCKS),
				      .keep = is_shown, .text = comparison_text,
				      .row_class = primary_class });
	else
		comparison_table(h);
	html_folded_figures(h, "all-ratios", "All metrics");
	html_section_end(h);
}

static const char *threads_text(const struct report_cell *row, size_t column,
	char buffer[static HTML_TEXT_MAX])
{
	if (column != THREADS_PHASE)
		return NULL;
	snprintf(buffer, HTML_TEXT_MAX, "%s/%s", row[THREADS_WORKLOAD].text,
		row[THREADS_PHASE].text);
	return buffer;
}

static bool is_rate(const struct report *r _unused_, const struct report_cell *row)
{
	return !strcmp(row[THREADS_METRIC].text, "rate");
}

static void threads(struct html *h)
{
	if (!h->report->tables[TABLE_THREADS].row_count)
		return;
	html_section(h, "threads", "Rate by threads");
	if (html_figures(h, "threads"))
		html_note(h, "Lines join the medians over the blocks; each small ring is one "
			"block.");
	html_table(h, &(struct html_view){ .table = TABLE_THREADS,
			      .caption = "Rates by number of threads",
			      COLUMNS(THREADS_PHASE, THREADS_THREADS, THREADS_ARM,
				      THREADS_MEDIAN, THREADS_LOW, THREADS_HIGH,
				      THREADS_BLOCKS),
			      .keep = is_rate, .text = threads_text });
	html_section_end(h);
}

static const char *percentiles_text(const struct report_cell *row, size_t column,
	char buffer[static HTML_TEXT_MAX])
{
	double fraction = row[PERCENTILES_FRACTION].number;

	if (column == PERCENTILES_PHASE) {
		snprintf(buffer, HTML_TEXT_MAX, "%s/%s", row[PERCENTILES_WORKLOAD].text,
			row[PERCENTILES_PHASE].text);
		return buffer;
	}
	if (column != PERCENTILES_FRACTION)
		return NULL;
	if (fraction == 1)
		return "longest";
	snprintf(buffer, HTML_TEXT_MAX, "%.6g %%", 100 * fraction);
	return buffer;
}

static bool is_landmark(const struct report *r _unused_, const struct report_cell *row)
{
	double fraction = row[PERCENTILES_FRACTION].number;

	return fraction == 0.5 || fraction == 0.9 || fraction == 0.99 || fraction == 0.999 ||
		fraction == 1;
}

static void latencies(struct html *h)
{
	if (!h->report->tables[TABLE_PERCENTILES].row_count)
		return;
	html_section(h, "latencies", "Latencies");
	html_figures(h, "latency");
	html_figures(h, "sync-latency");
	strbuf_add(&h->body, "<details><summary>Percentiles</summary>\n");
	html_table(h, &(struct html_view){ .table = TABLE_PERCENTILES,
			      .caption = "Latencies of all runs together",
			      COLUMNS(PERCENTILES_PHASE, PERCENTILES_OF, PERCENTILES_ARM,
				      PERCENTILES_FRACTION, PERCENTILES_LATENCY,
				      PERCENTILES_COUNT),
			      .keep = is_landmark, .text = percentiles_text });
	strbuf_add(&h->body, "</details>\n");
	html_section_end(h);
}

static const char *drift_text(const struct report_cell *row, size_t column,
	char buffer[static HTML_TEXT_MAX])
{
	if (column == DRIFT_CHANGE) {
		snprintf(buffer, HTML_TEXT_MAX, "%+.1f %%",
			100 * (row[DRIFT_CHANGE].number - 1));
		return buffer;
	}
	if (column != DRIFT_METRIC)
		return NULL;
	snprintf(buffer, HTML_TEXT_MAX, "%s/%s/%s", row[DRIFT_WORKLOAD].text,
		row[DRIFT_PHASE].text, row[DRIFT_METRIC].text);
	return buffer;
}

static bool is_shown_drift(const struct report *r _unused_, const struct report_cell *row)
{
	return row[DRIFT_SHOWN].count;
}

static void blocks(struct html *h)
{
	if (h->report->blocks < 2)
		return;
	html_section(h, "blocks", "Block by block");
	if (html_figures(h, "blocks"))
		html_note(h, "In the order of measuring; a line joins the arms of a block. A "
			"slope that the arms share is drift of the disk, not an effect. The "
			"axes need not begin at 0.");
	html_table(h, &(struct html_view){ .table = TABLE_DRIFT,
			      .caption = "Drift from the first block to the last",
			      COLUMNS(DRIFT_METRIC, DRIFT_ARM, DRIFT_CHANGE, DRIFT_P,
				      DRIFT_OUTLIERS, DRIFT_BLOCKS),
			      .keep = is_shown_drift, .text = drift_text });
	html_section_end(h);
}

static const char *ledger_text(const struct report_cell *row, size_t column,
	char buffer[static HTML_TEXT_MAX])
{
	if (column != LEDGER_PHASE)
		return NULL;
	snprintf(buffer, HTML_TEXT_MAX, "%s/%s", row[LEDGER_WORKLOAD].text,
		row[LEDGER_PHASE].text);
	return buffer;
}

static const char *ledger_class(const struct report_cell *row)
{
	const char *verdict = row[LEDGER_VERDICT].text;

	if (!strcmp(verdict, "failed") || !strcmp(verdict, "implausible"))
		return "failed";
	return strcmp(verdict, "suspect") ? NULL : "changed";
}

static bool is_synced(const struct report *r _unused_, const struct report_cell *row)
{
	return row[LEDGER_SYNCS].count || ledger_class(row);
}

static void ledger(struct html *h)
{
	if (!h->report->tables[TABLE_AUDIT].row_count)
		return;
	html_section(h, "audit", "Sync audit and flush ledger");
	html_figures(h, "flushes");
	html_figures(h, "written");
	html_table(h, &(struct html_view){ .table = TABLE_AUDIT,
			      .caption = "What reached the devices, over all runs of an arm",
			      COLUMNS(LEDGER_PHASE, LEDGER_ARM, LEDGER_VERDICT, LEDGER_SYNCS,
				      LEDGER_COMMITS, LEDGER_DATA_FLUSHES,
				      LEDGER_JOURNAL_FLUSHES, LEDGER_AMPLIFICATION,
				      LEDGER_CACHE_SHARE, LEDGER_REASON),
			      .keep = is_synced, .text = ledger_text,
			      .row_class = ledger_class });
	html_note(h, "Phases in which nothing was synced are in the table of all.");
	html_section_end(h);
}

/* The steps of the traces that are drawn. */
static bool is_drawn_step(const struct report *r, const struct report_cell *row)
{
	const struct report_table *t = &r->tables[TABLE_TRACES];

	for (size_t i = 0; i < t->row_count; i++) {
		const struct report_cell *trace = t->cells + i * t->column_count;

		if (trace[TRACES_SHOWN].count &&
			trace[TRACES_BLOCK].count == row[STEPS_BLOCK].count &&
			!strcmp(trace[TRACES_ARM].text, row[STEPS_ARM].text) &&
			!strcmp(trace[TRACES_PHASE].text, row[STEPS_PHASE].text) &&
			!strcmp(trace[TRACES_WORKLOAD].text, row[STEPS_WORKLOAD].text))
			return true;
	}
	return false;
}

static const char *step_text(const struct report_cell *row, size_t column,
	char buffer[static HTML_TEXT_MAX])
{
	if (column != STEPS_PHASE)
		return NULL;
	snprintf(buffer, HTML_TEXT_MAX, "%s/%s", row[STEPS_WORKLOAD].text,
		row[STEPS_PHASE].text);
	return buffer;
}

static void fsyncs(struct html *h)
{
	if (!h->report->tables[TABLE_TRACES].row_count)
		return;
	html_section(h, "fsync", "One fsync, step by step");
	if (html_figures(h, "fsync"))
		html_note(h, "A bar reaches from the first request of a step to the end of its "
			"last. Steps on two disks may overlap.");
	strbuf_add(&h->body, "<details><summary>The same steps as a table</summary>\n");
	html_table(h, &(struct html_view){ .table = TABLE_STEPS, .caption = "Steps",
			      COLUMNS(STEPS_PHASE, STEPS_ARM, STEPS_TEXT, STEPS_DISK,
				      STEPS_START, STEPS_DURATION, STEPS_REQUESTS,
				      STEPS_BYTES, STEPS_BLOCK),
			      .keep = is_drawn_step, .text = step_text });
	strbuf_add(&h->body, "</details>\n");
	html_section_end(h);
}

static void confounds(struct html *h)
{
	const struct report_table *t = &h->report->tables[TABLE_CONFOUNDS];

	if (!t->row_count && !h->report->tables[TABLE_INVALID].row_count)
		return;
	html_section(h, "confounds", "What a reviewer would hold against this");
	strbuf_add(&h->body, "<dl>\n");
	for (size_t i = 0; i < t->row_count; i++) {
		const struct report_cell *row = t->cells + i * t->column_count;

		strbuf_add(&h->body, "<dt>");
		xml_add(&h->body, row[CONFOUNDS_SENTENCE].text);
		strbuf_add(&h->body, "</dt>\n<dd>");
		if (row[CONFOUNDS_DETAIL].type == CELL_TEXT)
			xml_add(&h->body, row[CONFOUNDS_DETAIL].text);
		strbuf_add(&h->body, " <span class=\"soft\">(");
		xml_add(&h->body, row[CONFOUNDS_ID].text);
		strbuf_add(&h->body, ")</span></dd>\n");
	}
	strbuf_add(&h->body, "</dl>\n");
	html_table(h, &(struct html_view){ .table = TABLE_INVALID,
			      .caption = "Cells that broke a rule",
			      COLUMNS(INVALID_RULE, INVALID_ARM, INVALID_BLOCK,
				      INVALID_ATTEMPT, INVALID_DETAIL, INVALID_REPEATED) });
	html_section_end(h);
}

static const char *environment_class(const struct report_cell *row)
{
	return row[ENVIRONMENT_DIFFERS].count ? "changed" : NULL;
}

static bool differs(const struct report *r _unused_, const struct report_cell *row)
{
	return row[ENVIRONMENT_DIFFERS].count;
}

static bool is_fact(const struct report *r _unused_, const struct report_cell *row)
{
	return row[ENVIRONMENT_BEFORE].type != CELL_MISSING ||
		row[ENVIRONMENT_AFTER].type != CELL_MISSING;
}

static const char *environment_text(const struct report_cell *row, size_t column,
	char buffer[static HTML_TEXT_MAX] _unused_)
{
	const struct report_cell *before = &row[ENVIRONMENT_BEFORE];
	const struct report_cell *after = &row[ENVIRONMENT_AFTER];

	return column == ENVIRONMENT_AFTER && before->type == CELL_TEXT &&
			after->type == CELL_TEXT && !strcmp(before->text, after->text)
		? "same"
		: NULL;
}

static void environment(struct html *h)
{
	struct html_view view = { .table = TABLE_ENVIRONMENT,
		.caption = "What changed during the experiment",
		COLUMNS(ENVIRONMENT_FACT, ENVIRONMENT_BEFORE, ENVIRONMENT_AFTER),
		.keep = differs, .text = environment_text, .row_class = environment_class };

	if (!h->report->tables[TABLE_ENVIRONMENT].row_count)
		return;
	html_section(h, "environment", "Environment");
	if (!html_table(h, &view))
		strbuf_add(&h->body, "<p>No setting changed during the experiment.</p>\n");
	view.caption = "All facts, before and after";
	view.keep = is_fact;
	strbuf_add(&h->body, "<details><summary>All facts</summary>\n");
	html_table(h, &view);
	strbuf_add(&h->body, "</details>\n");
	html_section_end(h);
}

static void raw(struct html *h)
{
	html_section(h, "tables", "All tables");
	html_note(h, "Raw numbers in base units (bytes, nanoseconds, fractions), to be copied "
		"into a spreadsheet. The same as CSV: jbdlab report BUNDLE --format csv "
		"--table NAME.");
	for (size_t i = 0; i < TABLE_COUNT; i++)
		html_raw_table(h, &h->report->tables[i]);
	html_section_end(h);
}

void html_sections(struct html *h)
{
	static void (*const sections[])(struct html *h) = { ratios, threads, latencies,
		blocks, ledger, fsyncs, confounds, environment, raw };

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		sections[i](h);
}
