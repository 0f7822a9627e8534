/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Traces for people: the transactions of each phase and arm in a line, then the fsync of
 * median length step by step. */

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "report/format.h"
#include "report/report.h"
#include "report/text_table.h"

/* Columns of a table, and the columns of the report that they show. */
struct layout {
	size_t count;
	const size_t *shown;
	const struct text_column *columns;
};

static const struct layout trace_layout = {
	.count = 8,
	.shown = (const size_t[]){TRACES_ARM, TRACES_FSYNCS, TRACES_MEDIAN,
		TRACES_TRANSACTIONS, TRACES_RUNNING, TRACES_LOCKED, TRACES_FLUSHING,
		TRACES_LOGGING},
	.columns = (const struct text_column[]){{"ARM", TEXT_CUT}, {"FSYNCS", TEXT_RIGHT},
		{"MEDIAN", TEXT_RIGHT}, {"COMMITS", TEXT_RIGHT}, {"RUNNING", TEXT_RIGHT},
		{"LOCKED", TEXT_RIGHT}, {"FLUSHING", TEXT_RIGHT}, {"LOGGING", TEXT_RIGHT}},
};

static const struct layout step_layout = {
	.count = 5,
	.shown = (const size_t[]){STEPS_START, STEPS_DURATION, STEPS_TEXT, STEPS_BYTES,
		STEPS_DISK},
	.columns = (const struct text_column[]){{"AT", TEXT_RIGHT}, {"TOOK", TEXT_RIGHT},
		{"STEP", TEXT_LEFT}, {"SIZE", TEXT_RIGHT}, {"DISK", TEXT_CUT}},
};

enum { COLUMNS_MAX = 8 };

static struct text_table *new_table(const struct layout *l)
{
	return text_table_new(l->columns, l->count, TEXT_TABLE_WIDTH);
}

static void add_line(
	struct text_table *t, const struct layout *l, const struct report_cell *row)
{
	char buffers[COLUMNS_MAX][CELL_TEXT_MAX];
	const char *texts[COLUMNS_MAX];

	for (size_t i = 0; i < l->count; i++)
		texts[i] = format_cell(&row[l->shown[i]], buffers[i]);
	text_table_add(t, texts);
}

static const struct report_cell *row_of(const struct report_table *t, size_t i)
{
	return t->cells + i * t->column_count;
}

static bool same_text(const struct report_cell *a, const struct report_cell *b)
{
	return !strcmp(a->text, b->text);
}

/* Workload and phase are the first two columns of all three tables, arm and block follow. */
static bool same_phase(const struct report_cell *a, const struct report_cell *b)
{
	return same_text(&a[TRACES_WORKLOAD], &b[TRACES_WORKLOAD]) &&
		same_text(&a[TRACES_PHASE], &b[TRACES_PHASE]);
}

static bool same_run(const struct report_cell *a, const struct report_cell *b)
{
	return same_phase(a, b) && same_text(&a[TRACES_ARM], &b[TRACES_ARM]) &&
		a[TRACES_BLOCK].count == b[TRACES_BLOCK].count;
}

static int render_steps(const struct report *r, const struct report_cell *trace,
	struct strbuf *out)
{
	const struct report_table *steps = &r->tables[TABLE_STEPS];
	struct text_table *t = new_table(&step_layout);
	char took[CELL_TEXT_MAX], idle[CELL_TEXT_MAX];

	strbuf_addf(out, "\nArm %s, %s of median length:\n", trace[TRACES_ARM].text,
		trace[TRACES_DATA_ONLY].count ? "an fdatasync (or O_DSYNC write)"
					      : "an fsync");
	strbuf_addf(out, "%s, %s of it with no request under way\n",
		format_cell(&trace[TRACES_DURATION], took),
		format_cell(&trace[TRACES_IDLE], idle));
	for (size_t i = 0; i < steps->row_count; i++)
		if (same_run(row_of(steps, i), trace))
			add_line(t, &step_layout, row_of(steps, i));
	return text_table_finish(t, "", out, NULL);
}

/* One phase: a line for each arm that was traced, then its fsyncs. */
static int render_phase(const struct report *r, const struct report_cell *first,
	struct strbuf *out)
{
	const struct report_table *traces = &r->tables[TABLE_TRACES];
	struct text_table *t = new_table(&trace_layout);
	int status;

	strbuf_addf(out, "\nTrace of %s/%s\n", first[TRACES_WORKLOAD].text,
		first[TRACES_PHASE].text);
	for (size_t i = 0; i < traces->row_count; i++)
		if (row_of(traces, i)[TRACES_SHOWN].count &&
			same_phase(row_of(traces, i), first))
			add_line(t, &trace_layout, row_of(traces, i));
	status = text_table_finish(t, "", out, NULL);
	for (size_t i = 0; !status && i < traces->row_count; i++)
		if (row_of(traces, i)[TRACES_SHOWN].count &&
			row_of(traces, i)[TRACES_FSYNCS].count &&
			same_phase(row_of(traces, i), first))
			status = render_steps(r, row_of(traces, i), out);
	return status;
}

static void render_lost(const struct report_table *traces, struct strbuf *out)
{
	uint64_t lost = 0, events = 0;

	for (size_t i = 0; i < traces->row_count; i++) {
		lost += row_of(traces, i)[TRACES_LOST].count;
		events += row_of(traces, i)[TRACES_EVENTS].count;
	}
	if (lost)
		strbuf_addf(out,
			"The buffers of the tracer were too small for %llu of %llu events; "
			"what is shown\nis the end of those phases.\n",
			(unsigned long long)lost, (unsigned long long)(lost + events));
}

int render_traces(const struct report *r, struct strbuf *out, struct err *e)
{
	const struct report_table *traces = &r->tables[TABLE_TRACES];
	bool any = false;
	int status = 0;

	for (size_t i = 0; !status && i < traces->row_count; i++) {
		const struct report_cell *row = row_of(traces, i);
		bool first = row[TRACES_SHOWN].count;

		for (size_t k = 0; first && k < i; k++)
			first = !row_of(traces, k)[TRACES_SHOWN].count ||
				!same_phase(row_of(traces, k), row);
		if (first)
			status = render_phase(r, row, out);
		any = any || first;
	}
	if (any)
		strbuf_add(out,
			"\nRUNNING to LOGGING: medians of the transactions, how long one took "
			"in changes,\nwaited for those under way, wrote data first, and was "
			"written to the journal.\nAT: from the call. Steps on two disks may "
			"overlap.\n");
	render_lost(traces, out);
	return status || strbuf_failed(out) ? err_set(e, ENOMEM, "print the traces") : 0;
}
