/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The forest plots: each metric of each arm is a row with its ratio to the first arm and the
 * interval of that.  Right of 1 is more, whatever is better; the sign and the colour say
 * which side is the better one, for a latency the left. */

#include "report/plots.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/format.h"

/* More rows make no picture. */
enum { ROWS_MAX = 240 };

/* What the rows are sorted into. */
enum outcome { OUTCOME_BETTER, OUTCOME_WORSE, OUTCOME_SAME, OUTCOME_NONE,
	OUTCOME_PLAIN, OUTCOMES };

static const struct {
	const char *title;
	unsigned colour;
	enum plot_mark mark;
} outcomes[OUTCOMES] = {
	[OUTCOME_BETTER] = { "better", PLOT_BETTER, PLOT_UP },
	[OUTCOME_WORSE] = { "worse", PLOT_WORSE, PLOT_DOWN },
	[OUTCOME_SAME] = { "equivalent", PLOT_NEUTRAL, PLOT_SQUARE },
	[OUTCOME_NONE] = { "no difference shown", PLOT_NEUTRAL, PLOT_CIRCLE },
	[OUTCOME_PLAIN] = { "no interval: few blocks",
		PLOT_NEUTRAL, PLOT_DIAMOND },
};

static bool has_interval(const struct report_cell *row)
{
	return row[COMPARISON_LOW].type != CELL_MISSING &&
		row[COMPARISON_HIGH].type != CELL_MISSING;
}

static enum outcome outcome_of(const struct report_cell *row)
{
	const char *word = format_verdict(
		row[COMPARISON_VERDICT].text, row[COMPARISON_DIRECTION].text);

	if (!has_interval(row))
		return OUTCOME_PLAIN;
	if (!strcmp(word, "faster"))
		return OUTCOME_BETTER;
	if (!strcmp(word, "equivalent"))
		return OUTCOME_SAME;
	return !strcmp(word, "slower") ? OUTCOME_WORSE : OUTCOME_NONE;
}

/* With an interval what it belongs to, else the ratio of the medians; NAN: no row. */
static double ratio_of(const struct report_cell *row)
{
	const struct report_cell *cell =
		&row[has_interval(row) ? COMPARISON_ESTIMATE : COMPARISON_RATIO];

	return cell->type == CELL_MISSING || cell->number <= 0 ? NAN : cell->number;
}

static bool is_wanted(const struct report_cell *row, bool all)
{
	return isfinite(ratio_of(row)) && (row[COMPARISON_SHOWN].count ||
		(all && !row[COMPARISON_TOO_SHORT].count));
}

static void name_row(struct plot *p, const struct report *r, const struct report_cell *row)
{
	double at = (double)p->y.tick_count + 1;
	bool several = r->bundle.info.arm_count > 2;
	char text[3][CELL_TEXT_MAX];

	plot_tick_add(p, &p->y, at, "%s%s/%s/%s%s%s",
		row[COMPARISON_PRIMARY].count ? "* " : "", row[COMPARISON_WORKLOAD].text,
		row[COMPARISON_PHASE].text, row[COMPARISON_METRIC].text,
		several ? ", " : "", several ? row[COMPARISON_ARM].text : "");
	format_cell(&(struct report_cell){ .type = CELL_RATIO, .number = ratio_of(row) },
		text[0]);
	if (has_interval(row))
		plot_tick_add(p, &p->right, at, "%s  [%s, %s]", text[0],
			format_cell(&row[COMPARISON_LOW], text[1]),
			format_cell(&row[COMPARISON_HIGH], text[2]));
	else
		plot_tick_add(p, &p->right, at, "%s", text[0]);
	if (at <= 20)
		strbuf_addf(&p->description, "%s, %s: %s, %s. ",
			p->y.ticks[p->y.tick_count - 1].text, row[COMPARISON_ARM].text,
			p->right.ticks[p->right.tick_count - 1].text,
			outcomes[outcome_of(row)].title);
}

static void widen(struct plot_axis *axis, double value)
{
	if (!isfinite(value) || value <= 0)
		return;
	axis->low = fmin(axis->low, value);
	axis->high = fmax(axis->high, value);
}

/* Some room at both ends, and not so little around 1 that noise looks like a result. */
static void finish_axis(struct plot *p, const struct report *r)
{
	struct plot_axis *x = &p->x;
	double room = pow(x->high / x->low, 0.06);

	x->log = true;
	x->low = fmin(x->low / room, 0.98);
	x->high = fmax(x->high * room, 1.02);
	plot_ratio_ticks(p, x);
	plot_set_text(p, &x->title, "ratio to %s (log scale)",
		r->bundle.info.arms[0].name);
}

static void add_row(struct plot *p, const struct report_cell *row, double at,
	struct plot_series *s)
{
	double ratio = ratio_of(row), low = ratio, high = ratio;

	if (has_interval(row)) {
		low = row[COMPARISON_LOW].number;
		high = row[COMPARISON_HIGH].number;
	}
	widen(&p->x, low);
	widen(&p->x, high);
	plot_point(p, s, (struct plot_point){ ratio, at, low, high });
}

static void add_outcome(struct plot *p, enum outcome outcome,
	const struct report_cell **rows, size_t n)
{
	struct plot_series *s = NULL;

	for (size_t i = 0; i < n; i++) {
		if (outcome_of(rows[i]) != outcome)
			continue;
		if (!s)
			s = plot_series_add(p, PLOT_INTERVALS, outcomes[outcome].colour,
				outcomes[outcome].title);
		if (s)
			s->mark = outcomes[outcome].mark;
		add_row(p, rows[i], (double)i + 1, s);
	}
}

/* The primary metric first, as in the text. */
static size_t collect(const struct report *r, bool all, const struct report_cell **rows)
{
	const struct report_table *t = &r->tables[TABLE_COMPARISON];
	size_t n = 0;

	for (uint64_t primary = 2; primary-- > 0;)
		for (size_t i = 0; i < t->row_count && n < ROWS_MAX; i++) {
			const struct report_cell *row = t->cells + i * t->column_count;

			if (row[COMPARISON_PRIMARY].count == primary && is_wanted(row, all))
				rows[n++] = row;
		}
	return n;
}

static void set_title(struct plot *p, const struct report *r, bool all, bool intervals)
{
	const struct bundle_info *info = &r->bundle.info;
	bool two = info->arm_count == 2;
	char level[60] = "";

	if (intervals)
		snprintf(level, sizeof(level), ", with %.4g %% intervals",
			100 * info->design.level);
	plot_set_text(p, &p->title, "%s%s%s to %s%s", all ? "All metrics: ratio" : "Ratio",
		two ? " of " : "", two ? info->arms[1].name : "", info->arms[0].name, level);
}

static int plot_one(const struct report *r, bool all, const struct report_cell **rows,
	size_t n, struct plots *out)
{
	struct plot *p = plots_add(out, all ? "all-ratios" : "ratios", NULL);
	bool intervals = false;

	if (!p)
		return -ENOMEM;
	p->is_list = true;
	p->x.low = p->x.high = 1;
	for (size_t i = 0; i < n; i++) {
		intervals = intervals || has_interval(rows[i]);
		name_row(p, r, rows[i]);
	}
	set_title(p, r, all, intervals);
	if (n > 20)
		strbuf_addf(&p->description, "%zu more are in the table.", n - 20);
	plot_point(p, plot_series_add(p, PLOT_REFERENCE_AT, PLOT_REFERENCE, NULL),
		(struct plot_point){ .x = 1, .y = 1 });
	for (size_t outcome = 0; outcome < OUTCOMES; outcome++)
		add_outcome(p, outcome, rows, n);
	finish_axis(p, r);
	return 0;
}

int plot_ratios(const struct report *r, struct plots *out, struct err *e)
{
	const struct report_table *t = &r->tables[TABLE_COMPARISON];
	_cleanup_free_ const struct report_cell **rows =
		calloc(t->row_count + 1, sizeof(const struct report_cell *));
	int status = 0;

	if (!rows)
		return err_set(e, ENOMEM, "plot ratios");
	for (int all = 0; !status && all < 2; all++) {
		size_t n = collect(r, all, rows);

		if (n)
			status = plot_one(r, all, rows, n, out);
	}
	return status ? err_set(e, ENOMEM, "plot ratios") : 0;
}
