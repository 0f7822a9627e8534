/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Which format shows what was asked for; see report_formats.h.  A format shows the whole
 * report, one table of it, or both; the layouts of other programs show their runs.
 */

#include "cli/report_formats.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "core/nearest.h"
#include "core/printable.h"
#include "report/columns.h"
#include "report/formats.h"
#include "report/layouts.h"

static const char *name_of(const struct report_request *q)
{
	return q->format ? q->format : "text";
}

void report_formats_offer(struct strbuf *words)
{
	for (size_t i = 0; report_formats[i]; i++)
		strbuf_addf(words, " %s", report_formats[i]->name);
	for (size_t i = 0; report_layouts[i]; i++)
		strbuf_addf(words, " %s", report_layouts[i]->name);
}

static int unknown_format(const char *name, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf known = {0};
	struct nearest near = {.word = name};

	for (size_t i = 0; report_formats[i]; i++) {
		nearest_offer(&near, report_formats[i]->name);
		strbuf_addf(&known, "%s%s", i ? ", " : "", report_formats[i]->name);
	}
	for (size_t i = 0; report_layouts[i]; i++) {
		nearest_offer(&near, report_layouts[i]->name);
		strbuf_addf(&known, ", %s", report_layouts[i]->name);
	}
	if (near.best)
		return err_usage(e, "there is no format \"%s\"; did you mean \"%s\"?", name,
			near.best);
	return err_usage(
		e, "there is no format \"%s\" (%s)", name, strbuf_text(&known));
}

/* A table was asked of a format that shows none. */
static int no_tables(const char *option, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf able = {0};

	for (size_t i = 0; report_formats[i]; i++)
		if (report_formats[i]->table)
			strbuf_addf(&able, "%s%s", able.length ? ", " : "",
				report_formats[i]->name);
	return err_usage(e, "--%s is for these formats: %s", option, strbuf_text(&able));
}

static bool wants_table(const struct report_request *q, const struct report_format *f)
{
	return q->table || q->columns || !f->whole;
}

static const char *table_of(const struct report_request *q)
{
	return q->table ? q->table : "comparison";
}

int report_formats_check(const struct report_request *q, struct err *e)
{
	const struct report_format *f = report_find_format(name_of(q));
	_cleanup_(column_selection_deinit) struct column_selection s = {0};
	const struct report_table *t;
	int r;

	if (!f && !report_find_layout(name_of(q)))
		return unknown_format(name_of(q), e);
	if ((q->table || q->columns) && !(f && f->table))
		return no_tables(q->table ? "table" : "columns", e);
	if (q->plot && !(f && f->plot))
		return err_usage(e, "--plot is for svg");
	r = columns_find_table(table_of(q), &t, e);
	return r || !q->columns ? r : columns_select(t, q->columns, &s, e);
}

static int render(const struct report *r, const struct report_request *q,
	struct strbuf *out, struct err *e)
{
	const struct report_format *f = report_find_format(name_of(q));
	_cleanup_(column_selection_deinit) struct column_selection s = {0};
	int status;

	if (!f)
		return render_layout(r, report_find_layout(name_of(q)), out, e);
	if (q->plot)
		return f->plot(r, q->plot, out, e);
	if (!wants_table(q, f))
		return f->whole(r, out, e);
	status = columns_select(report_find_table(r, table_of(q)), q->columns, &s, e);
	return status ? status : f->table(&s.table, out, e);
}

int report_formats_render(const struct report *r, const struct report_request *q,
	struct strbuf *out, struct err *e)
{
	const struct report_format *f = report_find_format(name_of(q));
	int status = render(r, q, out, e);

	if (!f || f->to_be_read)
		printable_make(out);
	return !status && strbuf_failed(out) ? err_set(e, ENOMEM, "write the report") : status;
}
