/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Formats of a report; see report_formats.h.  A format shows the whole report, one table
 * of it, or both, as is asked for; the layouts of other programs show their runs.
 */

#include "cli/report_formats.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "core/nearest.h"
#include "core/printable.h"
#include "report/columns.h"
#include "report/layouts.h"

static int render_first_plot(const struct report *r, struct strbuf *out, struct err *e)
{
	return render_svg(r, "ratios", out, e);
}

static const struct format {
	const char *name;
	bool to_be_read; /* by people, maybe on a terminal */
	/* NULL: it shows tables only. */
	int (*whole)(const struct report *r, struct strbuf *out, struct err *e);
	/* NULL: it shows no single table. */
	int (*table)(const struct report_table *t, struct strbuf *out, struct err *e);
} formats[] = {
	{"text", true, render_text, render_table},
	{"markdown", true, render_markdown, render_markdown_table},
	{"csv", false, NULL, render_csv},
	{"json", false, render_json, NULL},
	{"jsonl", false, render_jsonl, render_jsonl_table},
	{"pts", true, render_pts, NULL},
	{"html", false, render_html, NULL},
	{"svg", false, render_first_plot, NULL},
};

static const char *name_of(const struct report_request *q)
{
	return q->format ? q->format : "text";
}

/* NULL: it is a layout, or unknown. */
static const struct format *find_format(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(name, formats[i].name))
			return &formats[i];
	return NULL;
}

void report_formats_offer(struct strbuf *words)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		strbuf_addf(words, " %s", formats[i].name);
	for (const struct report_layout *l = report_layouts; l->name; l++)
		strbuf_addf(words, " %s", l->name);
}

static int unknown_format(const char *name, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf known = {0};
	struct nearest near = {.word = name};

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		nearest_offer(&near, formats[i].name);
		strbuf_addf(&known, "%s%s", i ? ", " : "", formats[i].name);
	}
	for (const struct report_layout *l = report_layouts; l->name; l++) {
		nearest_offer(&near, l->name);
		strbuf_addf(&known, ", %s", l->name);
	}
	if (near.best)
		return err_usage(e, "there is no format \"%s\"; did you mean \"%s\"?", name,
			near.best);
	return err_usage(
		e, "there is no format \"%s\" (%s)", name, strbuf_text(&known));
}

static bool wants_table(const struct report_request *q, const struct format *f)
{
	return q->table || q->columns || !f->whole;
}

static const char *table_of(const struct report_request *q)
{
	return q->table ? q->table : "comparison";
}

int report_formats_check(const struct report_request *q, struct err *e)
{
	const struct format *f = find_format(name_of(q));
	_cleanup_(column_selection_deinit) struct column_selection s = {0};
	const struct report_table *t;
	int r;

	if (!f && !report_find_layout(name_of(q)))
		return unknown_format(name_of(q), e);
	if ((q->table || q->columns) && !(f && f->table))
		return err_usage(e, "--%s is for text, markdown, csv and jsonl",
			q->table ? "table" : "columns");
	if (q->plot && (!f || f->whole != render_first_plot))
		return err_usage(e, "--plot is for svg");
	r = columns_find_table(table_of(q), &t, e);
	return r || !q->columns ? r : columns_select(t, q->columns, &s, e);
}

static int render(const struct report *r, const struct report_request *q,
	struct strbuf *out, struct err *e)
{
	const struct format *f = find_format(name_of(q));
	_cleanup_(column_selection_deinit) struct column_selection s = {0};
	int status;

	if (!f)
		return render_layout(r, report_find_layout(name_of(q)), out, e);
	if (q->plot)
		return render_svg(r, q->plot, out, e);
	if (!wants_table(q, f))
		return f->whole(r, out, e);
	status = columns_select(report_find_table(r, table_of(q)), q->columns, &s, e);
	return status ? status : f->table(&s.table, out, e);
}

int report_formats_render(const struct report *r, const struct report_request *q,
	struct strbuf *out, struct err *e)
{
	const struct format *f = find_format(name_of(q));
	int status = render(r, q, out, e);

	if (!f || f->to_be_read)
		printable_make(out);
	return !status && strbuf_failed(out) ? err_set(e, ENOMEM, "write the report") : status;
}
