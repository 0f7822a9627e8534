/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The effects of the factors, in 80 columns: for each factor a heading with its baseline,
 * and below it for each metric that is shown one line for every other level.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/factors.h"
#include "report/format.h"
#include "report/report.h"
#include "report/text_table.h"

enum { TEXT_METRIC, TEXT_LEVEL, TEXT_RATIO, TEXT_INTERVAL, TEXT_VERDICT, TEXT_PAIRS,
	TEXT_BLOCKS, TEXT_COLUMNS };

static const struct text_column columns[TEXT_COLUMNS] = {
	[TEXT_METRIC] = {"METRIC", TEXT_CUT},
	[TEXT_LEVEL] = {"LEVEL", TEXT_CUT},
	[TEXT_RATIO] = {"RATIO", TEXT_RIGHT},
	[TEXT_INTERVAL] = {"95%", TEXT_RIGHT},
	[TEXT_VERDICT] = {"VERDICT", TEXT_LEFT},
	[TEXT_PAIRS] = {"PAIRS", TEXT_RIGHT},
	[TEXT_BLOCKS] = {"BLOCKS", TEXT_RIGHT},
};

static void add_line(struct text_table *t, const struct report_cell *row)
{
	char path[200], interval[CELL_TEXT_MAX] = "-";
	char low[CELL_TEXT_MAX], high[CELL_TEXT_MAX], numbers[3][CELL_TEXT_MAX];
	const char *texts[TEXT_COLUMNS] = {
		[TEXT_METRIC] = path,
		[TEXT_LEVEL] = row[FACTORS_LEVEL].text,
		[TEXT_RATIO] = format_cell(&row[FACTORS_ESTIMATE], numbers[0]),
		[TEXT_INTERVAL] = interval,
		[TEXT_VERDICT] = format_verdict(
			row[FACTORS_VERDICT].text, row[FACTORS_DIRECTION].text),
		[TEXT_PAIRS] = format_cell(&row[FACTORS_PAIRS], numbers[1]),
		[TEXT_BLOCKS] = format_cell(&row[FACTORS_BLOCKS], numbers[2]),
	};

	snprintf(path, sizeof(path), "%s%s/%s/%s", row[FACTORS_PRIMARY].count ? "*" : "",
		row[FACTORS_WORKLOAD].text, row[FACTORS_PHASE].text,
		row[FACTORS_METRIC].text);
	if (row[FACTORS_LOW].type != CELL_MISSING)
		snprintf(interval, sizeof(interval), "%.20s-%.20s",
			format_cell(&row[FACTORS_LOW], low),
			format_cell(&row[FACTORS_HIGH], high));
	text_table_add(t, texts);
}

static bool same_metric(const struct report_cell *a, const struct report_cell *b)
{
	return !strcmp(a[FACTORS_WORKLOAD].text, b[FACTORS_WORKLOAD].text) &&
	       !strcmp(a[FACTORS_PHASE].text, b[FACTORS_PHASE].text) &&
	       !strcmp(a[FACTORS_METRIC].text, b[FACTORS_METRIC].text);
}

/* All levels of the metric that this row is the first of. */
static void add_metric(struct text_table *t, const struct report_table *c,
	const struct report_cell *first)
{
	for (size_t i = 0; i < c->row_count; i++) {
		const struct report_cell *row = c->cells + i * c->column_count;

		if (!strcmp(row[FACTORS_FACTOR].text, first[FACTORS_FACTOR].text) &&
			same_metric(row, first))
			add_line(t, row);
	}
}

/* Each metric once, with its levels below each other. */
static void add_rows(
	struct text_table *t, const struct report_table *c, const struct factor *factor)
{
	for (size_t i = 0; i < c->row_count; i++) {
		const struct report_cell *row = c->cells + i * c->column_count;

		if (row[FACTORS_SHOWN].count &&
			!strcmp(row[FACTORS_FACTOR].text, factor->name) &&
			!strcmp(row[FACTORS_LEVEL].text, factor->levels[1]))
			add_metric(t, c, row);
	}
}

static int render_factor(const struct report *r, const struct factor *factor,
	struct strbuf *out, struct err *e)
{
	struct text_table *t = text_table_new(columns, TEXT_COLUMNS, TEXT_TABLE_WIDTH);
	_cleanup_(strbuf_deinit) struct strbuf heading = {0};
	int status;

	add_rows(t, &r->tables[TABLE_FACTORS], factor);
	strbuf_addf(&heading, "Factor %s: ratio to %s", factor->name, factor->levels[0]);
	strbuf_addf(out, "%s\n", strbuf_text(&heading));
	for (size_t i = 0; i < heading.length; i++)
		strbuf_add(out, "-");
	strbuf_add(out, "\n");
	status = text_table_finish(t, "Nothing can be compared.", out, e);
	strbuf_add(out, "\n");
	return status;
}

int render_factors(const struct report *r, struct strbuf *out, struct err *e)
{
	bool any = false;
	int status = 0;

	for (size_t i = 0; !status && i < r->factors->count; i++)
		if (r->factors->list[i].level_count > 1) {
			any = true;
			status = render_factor(r, &r->factors->list[i], out, e);
		}
	if (any)
		strbuf_add(out, "PAIRS: of arms that differ in this factor alone; RATIO "
				"is the mean over them.\n\n");
	return status;
}
