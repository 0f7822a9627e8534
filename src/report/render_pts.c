/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A comparison as those who publish results of the Phoronix Test Suite lay it out: test,
 * what was done, both systems, and what the second one reaches in percent of the first.
 * "*" behind a test means that less is better; then the percentage is turned around, so
 * that more than 100 % is better in every row.  What they do not have stands behind it:
 * "~" where no difference can be told from noise.
 *
 * With arms of factors or more than two, every arm has its table with the first one.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/wrap.h"
#include "report/format.h"
#include "report/formats.h"
#include "report/report.h"

static bool is_judged(const struct report_cell *row)
{
	return row[COMPARISON_LOW].type != CELL_MISSING;
}

static bool is_different(const struct report_cell *row)
{
	const char *verdict = row[COMPARISON_VERDICT].text;

	return !strcmp(verdict, "higher") || !strcmp(verdict, "lower");
}

/* Rows without both numbers, or where neither direction is better, have no percentage. */
static bool has_ratio(const struct report_cell *row)
{
	return row[COMPARISON_SHOWN].count && row[COMPARISON_RATIO].type != CELL_MISSING &&
		row[COMPARISON_RATIO].number > 0 &&
		strcmp(row[COMPARISON_DIRECTION].text, "no_direction") != 0;
}

/* A bar would begin another cell. */
static void add_cell(struct strbuf *out, const char *text)
{
	strbuf_add(out, " ");
	for (; *text; text++)
		strbuf_addn(out, *text == '|' ? "/" : text, 1);
	strbuf_add(out, " |");
}

static void add_row(const struct report_cell *row, struct strbuf *out)
{
	bool less = !strcmp(row[COMPARISON_DIRECTION].text, "lower_is_better");
	double ratio = row[COMPARISON_RATIO].number;
	char first[CELL_TEXT_MAX], second[CELL_TEXT_MAX], test[200], what[200];
	const char *unit = format_pair(
		&row[COMPARISON_FIRST_MEDIAN], &row[COMPARISON_MEDIAN], first, second);

	snprintf(what, sizeof(what), "%s %s%s%s", row[COMPARISON_PHASE].text,
		row[COMPARISON_METRIC].text, *unit ? ", " : "", unit);
	snprintf(test, sizeof(test), "%s%s", row[COMPARISON_WORKLOAD].text,
		less ? " *" : "");
	strbuf_add(out, "|");
	add_cell(out, test);
	add_cell(out, what);
	strbuf_addf(out, " %s | %s | %.0f%% |%s\n", first, second,
		100 * (less ? 1 / ratio : ratio),
		is_judged(row) && !is_different(row) ? " ~ |" : "");
}

static size_t add_arm(const struct report *r, const char *arm, struct strbuf *out)
{
	const struct report_table *t = &r->tables[TABLE_COMPARISON];
	size_t rows = 0;

	for (size_t i = 0; i < t->row_count; i++) {
		const struct report_cell *row = t->cells + i * t->column_count;

		if (strcmp(row[COMPARISON_ARM].text, arm) || !has_ratio(row))
			continue;
		if (!rows++) {
			strbuf_add(out, "|");
			add_cell(out, r->bundle.info.arms[0].name);
			add_cell(out, arm);
			strbuf_add(out, "\n");
		}
		add_row(row, out);
	}
	return rows;
}

static const char note[] =
	"Medians, and what the second arm reaches in percent of the first; more than 100 is "
	"better in each row, * means that less of the metric is.";
static const char judged_note[] =
	" ~: no difference over the blocks that can be told from noise, or one within %.3g "
	"percent.";
static const char plain_note[] =
	" Fewer than %d blocks: nothing can be said about noise.";

static int render_pts(const struct report *r, struct strbuf *out, struct err *e)
{
	const struct bundle_info *info = &r->bundle.info;
	_cleanup_(strbuf_deinit) struct strbuf below = {0};
	size_t rows = 0;

	if (info->arm_count < 2)
		return err_usage(e, "%s has one arm; --format pts compares", r->bundle.path);
	for (size_t arm = 1; arm < info->arm_count; arm++) {
		size_t added = add_arm(r, info->arms[arm].name, out);

		rows += added;
		strbuf_add(out, added ? "\n" : "");
	}
	strbuf_add(&below, rows ? note : "Nothing can be compared.");
	if (rows && r->complete_blocks >= REPORT_BLOCKS_FOR_A_STATEMENT)
		strbuf_addf(&below, judged_note, 100 * info->design.margin);
	else if (rows)
		strbuf_addf(&below, plain_note, REPORT_BLOCKS_FOR_A_STATEMENT);
	wrap_text(out, strbuf_text(&below), 0, 0);
	return strbuf_failed(out) || strbuf_failed(&below)
		? err_set(e, ENOMEM, "write the report")
		: 0;
}

const struct report_format report_format_pts = {
	.name = "pts",
	.to_be_read = true,
	.whole = render_pts,
};
