/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The parts of the page that render_html() writes; texts of a report are escaped here. */

#include "core/strbuf.h"
#include "report/gnuplot.h"
#include "report/plots.h"
#include "report/report.h"

enum { HTML_TEXT_MAX = 400 };

/* What the page is made of. */
struct html {
	const struct report *report;
	const struct plots *plots;
	const struct gnuplot_order *drawn; /* see render_html.c */
	size_t drawn_count;		   /* 0: there is no gnuplot */
	struct strbuf nav, body;
};

/* html_style.c: from <!doctype> to <body>, with all styles. */
void html_head(struct strbuf *out, const char *title);

/* html_parts.c */
void html_section(struct html *h, const char *id, const char *title);
void html_section_end(struct html *h);
void html_note(struct html *h, const char *text); /* a paragraph in small print */

/* html_tables.c.  A table for people. */
struct html_view {
	enum report_table_id table;
	const char *caption;
	const size_t *columns; /* the first one names the row */
	const char *const *titles; /* as many, NULL: that of the column; may be NULL itself */
	size_t column_count;
	/* Each may be NULL.  Is the row shown?  Another text for a cell, NULL: as it is;
	 * it may be in buffer.  A class for the row. */
	bool (*keep)(const struct report *r, const struct report_cell *row);
	const char *(*text)(const struct report_cell *row, size_t column,
		char buffer[static HTML_TEXT_MAX]);
	const char *(*row_class)(const struct report_cell *row);
};

/* Writes nothing and returns 0 when no row is shown; else how many there are. */
size_t html_table(struct html *h, const struct html_view *view);

/* A whole table as raw numbers in base units, folded. */
void html_raw_table(struct html *h, const struct report_table *t);

/* The plots of a kind, and how many these are; folded: behind a line that unfolds them. */
size_t html_figures(struct html *h, const char *kind);
size_t html_folded_figures(struct html *h, const char *kind, const char *line);

/* html_sections.c: the sections, each left out when it has nothing to say. */
void html_sections(struct html *h);

/* html_header.c: the heading with its stamps, and the summary.  -ENOMEM. */
void html_header(struct html *h, struct strbuf *out);
int html_summary(struct html *h, struct err *e);
