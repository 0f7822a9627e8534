/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The flush ledger as bars: for each phase that wrote or synced, a row for each arm, made of
 * what its data disk and its journal device got, end to end. */

#include "report/plots.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/format.h"

enum { ROWS_MAX = 120 };

struct ledger_kind {
	const char *name, *title, *axis;
	size_t column;
	double least; /* of the sum of a row; below there is nothing to be seen */
};

static const struct ledger_kind kinds[] = {
	{ "flushes", "Cache flushes for each sync, by device", "flushes for each sync",
		FLUSHES_PER_SYNC, 0 },
	{ "written", "Bytes written to the devices for each byte of the workload",
		"bytes for each byte", FLUSHES_PER_BYTE, 0.001 },
};

struct bar_row {
	const struct report_cell *data, *journal; /* journal may be NULL */
};

static bool same_run(const struct report_cell *a, const struct report_cell *b)
{
	return !strcmp(a[FLUSHES_WORKLOAD].text, b[FLUSHES_WORKLOAD].text) &&
		!strcmp(a[FLUSHES_PHASE].text, b[FLUSHES_PHASE].text);
}

static double value_of(const struct report_cell *row, const struct ledger_kind *kind)
{
	return row && row[kind->column].type != CELL_MISSING ? row[kind->column].number : NAN;
}

static double sum_of(const struct bar_row *row, const struct ledger_kind *kind)
{
	double data = value_of(row->data, kind), journal = value_of(row->journal, kind);

	return data + (isfinite(journal) ? journal : 0);
}

/* The arms of a phase beside each other, while the table has phase by phase of an arm. */
static size_t collect(const struct report *r, const struct ledger_kind *kind,
	struct bar_row *rows)
{
	const struct report_table *t = &r->tables[TABLE_FLUSHES];
	const char *first = r->bundle.info.arms[0].name;
	size_t n = 0;

	for (size_t i = 0; i < t->row_count; i++) {
		const struct report_cell *like = t->cells + i * t->column_count;

		if (strcmp(like[FLUSHES_ARM].text, first) ||
			strcmp(like[FLUSHES_ROLE].text, "data"))
			continue;
		for (size_t k = 0; k < t->row_count && n < ROWS_MAX; k++) {
			const struct report_cell *row = t->cells + k * t->column_count;

			if (!same_run(row, like) || strcmp(row[FLUSHES_ROLE].text, "data"))
				continue;
			rows[n] = (struct bar_row){ .data = row };
			if (k + 1 < t->row_count &&
				!strcmp(row[t->column_count + FLUSHES_ROLE].text, "journal"))
				rows[n].journal = row + t->column_count;
			if (sum_of(&rows[n], kind) > kind->least)
				n++;
		}
	}
	return n;
}

static void name_row(struct plot *p, const struct bar_row *row,
	const struct ledger_kind *kind)
{
	double at = (double)p->y.tick_count + 1;
	char text[3][CELL_TEXT_MAX];
	const struct report_cell sum = { .type = CELL_RATIO, .number = sum_of(row, kind) };

	plot_tick_add(p, &p->y, at, "%s/%s, %s", row->data[FLUSHES_WORKLOAD].text,
		row->data[FLUSHES_PHASE].text, row->data[FLUSHES_ARM].text);
	format_cell(&sum, text[0]);
	if (row->journal)
		plot_tick_add(p, &p->right, at, "%s = %s + %s", text[0],
			format_cell(&row->data[kind->column], text[1]),
			format_cell(&row->journal[kind->column], text[2]));
	else
		plot_tick_add(p, &p->right, at, "%s", text[0]);
	if (at <= 16)
		strbuf_addf(&p->description, "%s: %s. ", p->y.ticks[p->y.tick_count - 1].text,
			p->right.ticks[p->right.tick_count - 1].text);
}

static void add_bars(struct plot *p, const struct bar_row *rows, size_t n, bool journal,
	const struct ledger_kind *kind)
{
	struct plot_series *s = NULL;

	for (size_t i = 0; i < n; i++) {
		double data = value_of(rows[i].data, kind);
		double from = journal ? data : 0, to = journal ? sum_of(&rows[i], kind) : data;

		if (!(to > from))
			continue;
		if (!s)
			s = plot_series_add(p, PLOT_BARS, journal ? PLOT_JOURNAL : PLOT_DATA,
				journal ? "journal device" : "data disk");
		plot_point(p, s, (struct plot_point){ to, (double)i + 1, from, to });
		p->x.high = fmax(p->x.high, to);
	}
}

static int plot_one(const struct ledger_kind *kind, const struct bar_row *rows, size_t n,
	struct plots *out)
{
	struct plot *p = plots_add(out, kind->name, NULL);

	if (!p)
		return -ENOMEM;
	p->is_list = true;
	plot_set_text(p, &p->title, "%s", kind->title);
	plot_set_text(p, &p->x.title, "%s", kind->axis);
	for (size_t i = 0; i < n; i++)
		name_row(p, &rows[i], kind);
	p->x.high = 1;
	add_bars(p, rows, n, false, kind);
	add_bars(p, rows, n, true, kind);
	p->x.high *= 1.05;
	plot_point(p, plot_series_add(p, PLOT_REFERENCE_AT, PLOT_REFERENCE, NULL),
		(struct plot_point){ .x = 1, .y = 1 });
	return 0;
}

int plot_ledgers(const struct report *r, struct plots *out, struct err *e)
{
	_cleanup_free_ struct bar_row *rows = calloc(ROWS_MAX + 1, sizeof(*rows));
	int status = 0;

	if (!rows)
		return err_set(e, ENOMEM, "plot the ledger");
	for (size_t i = 0; !status && i < ARRAY_SIZE(kinds); i++) {
		size_t n = collect(r, &kinds[i], rows);

		if (n)
			status = plot_one(&kinds[i], rows, n, out);
	}
	return status ? err_set(e, ENOMEM, "plot the ledger") : 0;
}
