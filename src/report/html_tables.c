/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Tables and figures of the page; see html.h. */

#include "report/html.h"

#include <stdio.h>
#include <string.h>

#include "report/format.h"
#include "report/xml.h"

/* A longer one would make the page slow; what is left out is named. */
enum { RAW_ROWS_MAX = 1000 };

/* Shorter texts stay in one line, for longer ones a column is wide. */
enum { SHORT = 34 };

static bool is_number(const struct report_cell *cell)
{
	return cell->type != CELL_TEXT && cell->type != CELL_YES_NO;
}

static void open_table(struct html *h, const char *caption, bool show)
{
	strbuf_add(&h->body, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		"aria-label=\"");
	xml_add(&h->body, caption);
	strbuf_add(&h->body, "\"><table>");
	if (show) {
		strbuf_add(&h->body, "<caption>");
		xml_add(&h->body, caption);
		strbuf_add(&h->body, "</caption>");
	}
	strbuf_add(&h->body, "<thead><tr>");
}

static void add_heading(struct html *h, const char *title, const char *help, bool right)
{
	strbuf_addf(&h->body, "<th scope=\"col\"%s title=\"", right ? " class=\"n\"" : "");
	xml_add(&h->body, help);
	strbuf_add(&h->body, "\">");
	xml_add(&h->body, title);
	strbuf_add(&h->body, "</th>");
}

static void add_cell(struct html *h, const char *text, bool first, bool right)
{
	strbuf_add(&h->body, first ? "<th scope=\"row\"" : "<td");
	strbuf_add(&h->body, right ? " class=\"n\">"
		: strlen(text) < SHORT ? " class=\"s\">"
				       : " class=\"t\">");
	xml_add(&h->body, text);
	strbuf_add(&h->body, first ? "</th>" : "</td>");
}

static const char *text_of(const struct html_view *view, const struct report_cell *row,
	size_t column, char buffer[static HTML_TEXT_MAX])
{
	const char *text = view->text ? view->text(row, column, buffer) : NULL;

	return text ? text : format_cell(&row[column], buffer);
}

static bool is_kept(const struct html *h, const struct html_view *view,
	const struct report_cell *row)
{
	return !view->keep || view->keep(h->report, row);
}

/* A column in which no row has anything is left out. */
static bool has_any(const struct html *h, const struct html_view *view, size_t column)
{
	const struct report_table *t = &h->report->tables[view->table];
	char buffer[HTML_TEXT_MAX];

	for (size_t i = 0; i < t->row_count; i++) {
		const struct report_cell *row = t->cells + i * t->column_count;
		const char *text;

		if (!is_kept(h, view, row))
			continue;
		text = text_of(view, row, column, buffer);
		if (*text && strcmp(text, "-"))
			return true;
	}
	return false;
}

static bool is_right(const struct html *h, const struct html_view *view, size_t column)
{
	const struct report_table *t = &h->report->tables[view->table];

	for (size_t i = 0; i < t->row_count; i++)
		if (t->cells[i * t->column_count + column].type != CELL_MISSING &&
			is_kept(h, view, t->cells + i * t->column_count))
			return is_number(&t->cells[i * t->column_count + column]);
	return false;
}

static void add_row(struct html *h, const struct html_view *view,
	const struct report_cell *row, const bool *right, const bool *any)
{
	const char *class = view->row_class ? view->row_class(row) : NULL;
	char buffer[HTML_TEXT_MAX];

	strbuf_addf(&h->body, class ? "<tr class=\"%s\">" : "<tr>", class);
	for (size_t i = 0; i < view->column_count; i++)
		if (any[i])
			add_cell(h, text_of(view, row, view->columns[i], buffer), !i, right[i]);
	strbuf_add(&h->body, "</tr>\n");
}

size_t html_table(struct html *h, const struct html_view *view)
{
	const struct report_table *t = &h->report->tables[view->table];
	bool right[32] = { false }, any[32] = { false };
	size_t count = 0;

	for (size_t i = 0; i < t->row_count; i++)
		count += is_kept(h, view, t->cells + i * t->column_count);
	if (!count || view->column_count > ARRAY_SIZE(right))
		return 0;
	open_table(h, view->caption, true);
	for (size_t i = 0; i < view->column_count; i++) {
		const struct report_column *column = &t->columns[view->columns[i]];

		any[i] = has_any(h, view, view->columns[i]);
		right[i] = is_right(h, view, view->columns[i]);
		if (any[i])
			add_heading(h,
				view->titles && view->titles[i] ? view->titles[i]
								: column->title,
				column->help, right[i]);
	}
	strbuf_add(&h->body, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < t->row_count; i++)
		if (is_kept(h, view, t->cells + i * t->column_count))
			add_row(h, view, t->cells + i * t->column_count, right, any);
	strbuf_add(&h->body, "</tbody></table></div>\n");
	return count;
}

void html_raw_table(struct html *h, const struct report_table *t)
{
	size_t shown = MIN(t->row_count, (size_t)RAW_ROWS_MAX);
	char buffer[CELL_TEXT_MAX];

	if (!t->row_count)
		return;
	strbuf_addf(&h->body, "<details id=\"table-%s\"><summary>", t->key);
	xml_add(&h->body, t->title);
	strbuf_addf(&h->body, " (%zu rows)</summary>\n", t->row_count);
	if (shown < t->row_count)
		strbuf_addf(&h->body, "<p class=\"note\">The first %zu of %zu rows. All: "
			"<code>jbdlab report BUNDLE --format csv --table %s</code></p>\n", shown,
			t->row_count, t->key);
	open_table(h, t->title, false);
	for (size_t c = 0; c < t->column_count; c++)
		add_heading(h, t->columns[c].key, t->columns[c].help,
			is_number(&t->cells[c]));
	strbuf_add(&h->body, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < shown; i++) {
		const struct report_cell *row = t->cells + i * t->column_count;

		strbuf_add(&h->body, "<tr>");
		for (size_t c = 0; c < t->column_count; c++)
			add_cell(h, format_cell_raw(&row[c], buffer), !c, is_number(&row[c]));
		strbuf_add(&h->body, "</tr>\n");
	}
	strbuf_add(&h->body, "</tbody></table></div></details>\n");
}

static const char *svg_of(const struct html *h, const struct plot *p, enum gnuplot_shape shape)
{
	for (size_t i = 0; i < h->drawn_count; i++)
		if (h->drawn[i].plot == p && h->drawn[i].shape == shape)
			return h->drawn[i].svg;
	return NULL;
}

static void add_figure(struct html *h, const struct plot *p)
{
	const char *wide = svg_of(h, p, GNUPLOT_WIDE);
	const char *narrow = svg_of(h, p, GNUPLOT_NARROW);

	strbuf_add(&h->body, p->is_list ? "<figure class=\"list\">" : "<figure>");
	strbuf_add(&h->body, "<figcaption>");
	xml_add(&h->body, p->title);
	strbuf_add(&h->body, "</figcaption>\n");
	strbuf_add(&h->body, wide ? wide : "");
	strbuf_add(&h->body, narrow ? narrow : "");
	strbuf_add(&h->body, "</figure>\n");
}

size_t html_figures(struct html *h, const char *kind)
{
	size_t count = 0, shown = 0;

	for (size_t i = 0; i < h->plots->count; i++) {
		const struct plot *p = h->plots->list[i];

		if (!plot_is(p, kind))
			continue;
		count++;
		if (!svg_of(h, p, GNUPLOT_WIDE))
			continue;
		if (!shown++)
			strbuf_add(&h->body, "<div class=\"figures\">\n");
		add_figure(h, p);
	}
	if (shown)
		strbuf_add(&h->body, "</div>\n");
	if (shown && shown < count)
		strbuf_addf(&h->body, "<p class=\"note\">The first %zu of %zu plots. Others: "
			"<code>jbdlab report BUNDLE --format svg --plot %s:NAME</code></p>\n",
			shown, count, kind);
	return shown;
}

size_t html_folded_figures(struct html *h, const char *kind, const char *line)
{
	size_t before = h->body.length, count;

	strbuf_addf(&h->body, "<details><summary>%s</summary>\n", line);
	count = html_figures(h, kind);
	if (count) {
		strbuf_add(&h->body, "</details>\n");
	} else if (!strbuf_failed(&h->body)) {
		h->body.length = before;
		h->body.text[before] = '\0';
	}
	return count;
}
