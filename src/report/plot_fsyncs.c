/* SPDX-License-Identifier: GPL-3.0-or-later */

/* One fsync of median length in each arm, step by step on one scale of time: what waited
 * for what, and on which disk. */

#include "report/plots.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/format.h"

static const struct report_cell *row_of(const struct report_table *t, size_t i)
{
	return t->cells + i * t->column_count;
}

/* The first four columns are the same in traces and steps. */
static bool same_run(const struct report_cell *a, const struct report_cell *b)
{
	return !strcmp(a[TRACES_WORKLOAD].text, b[TRACES_WORKLOAD].text) &&
		!strcmp(a[TRACES_PHASE].text, b[TRACES_PHASE].text) &&
		!strcmp(a[TRACES_ARM].text, b[TRACES_ARM].text) &&
		a[TRACES_BLOCK].count == b[TRACES_BLOCK].count;
}

static bool same_phase(const struct report_cell *a, const struct report_cell *b)
{
	return !strcmp(a[TRACES_WORKLOAD].text, b[TRACES_WORKLOAD].text) &&
		!strcmp(a[TRACES_PHASE].text, b[TRACES_PHASE].text);
}

static bool is_shown(const struct report_cell *trace)
{
	return trace[TRACES_SHOWN].count && trace[TRACES_FSYNCS].count;
}

static size_t arm_of(const struct report *r, const char *name)
{
	for (size_t i = 0; i < r->bundle.info.arm_count; i++)
		if (!strcmp(r->bundle.info.arms[i].name, name))
			return i;
	return 0;
}

static double add_row(struct plot *p, double divisor, const struct report_cell *step)
{
	double at = (double)p->y.tick_count + 1;
	char text[2][CELL_TEXT_MAX];

	plot_tick_add(p, &p->y, at, "%s, %s", step[STEPS_TEXT].text, step[STEPS_DISK].text);
	plot_tick_add(p, &p->right, at, "%s at %s",
		format_cell(&step[STEPS_DURATION], text[0]),
		format_cell(&step[STEPS_START], text[1]));
	strbuf_addf(&p->description, " %s: %s;", p->y.ticks[p->y.tick_count - 1].text,
		p->right.ticks[p->right.tick_count - 1].text);
	p->x.high = fmax(p->x.high,
		(step[STEPS_START].number + step[STEPS_DURATION].number) / divisor);
	return at;
}

static void add_arm(struct plot *p, const struct report *r, const struct report_cell *trace,
	double divisor)
{
	const struct report_table *t = &r->tables[TABLE_STEPS];
	unsigned colour = plot_arm_colour(arm_of(r, trace[TRACES_ARM].text));
	double all = trace[TRACES_DURATION].number / divisor;
	struct plot_series *s;
	char text[CELL_TEXT_MAX];
	double at = (double)p->y.tick_count + 1;

	format_cell(&trace[TRACES_DURATION], text);
	plot_tick_add(p, &p->y, at, "%s: one %s", trace[TRACES_ARM].text,
		trace[TRACES_DATA_ONLY].count ? "fdatasync" : "fsync");
	plot_tick_add(p, &p->right, at, "%s", text);
	strbuf_addf(&p->description, "%s, %s in all:", trace[TRACES_ARM].text, text);
	s = plot_series_add(p, PLOT_INTERVALS, colour, NULL);
	if (s)
		s->mark = PLOT_SQUARE;
	plot_point(p, s, (struct plot_point){ 0, at, 0, all });
	p->x.high = fmax(p->x.high, all);
	s = plot_series_add(p, PLOT_BARS, colour, trace[TRACES_ARM].text);
	for (size_t i = 0; i < t->row_count; i++) {
		const struct report_cell *step = row_of(t, i);
		double start = step[STEPS_START].number / divisor;
		double end = start + step[STEPS_DURATION].number / divisor;

		if (same_run(step, trace))
			plot_point(p, s, (struct plot_point){ end,
				add_row(p, divisor, step), start, end });
	}
	strbuf_add(&p->description, " ");
}

static int plot_one(const struct report *r, const struct report_cell *like,
	struct plots *out)
{
	const struct report_table *t = &r->tables[TABLE_TRACES];
	double longest = 0, divisor = 1;
	const char *unit;
	char path[200];
	struct plot *p;

	snprintf(path, sizeof(path), "%s/%s", like[TRACES_WORKLOAD].text,
		like[TRACES_PHASE].text);
	p = plots_add(out, "fsync", path);
	if (!p)
		return -ENOMEM;
	p->is_list = true;
	for (size_t i = 0; i < t->row_count; i++)
		if (is_shown(row_of(t, i)) && same_phase(row_of(t, i), like))
			longest = fmax(longest, row_of(t, i)[TRACES_DURATION].number);
	unit = plot_unit(CELL_NANOSECONDS, longest, &divisor);
	plot_set_text(p, &p->title, "%s: one sync of median length in each arm", path);
	plot_set_text(p, &p->x.title, "time from the call (%s)", unit);
	for (size_t arm = 0; arm < r->bundle.info.arm_count; arm++)
		for (size_t i = 0; i < t->row_count; i++)
			if (is_shown(row_of(t, i)) && same_phase(row_of(t, i), like) &&
				arm_of(r, row_of(t, i)[TRACES_ARM].text) == arm)
				add_arm(p, r, row_of(t, i), divisor);
	p->x.high = p->x.high > 0 ? p->x.high * 1.03 : 1;
	return 0;
}

int plot_fsyncs(const struct report *r, struct plots *out, struct err *e)
{
	const struct report_table *t = &r->tables[TABLE_TRACES];
	int status = 0;

	for (size_t i = 0; !status && i < t->row_count; i++) {
		bool first = is_shown(row_of(t, i));

		for (size_t k = 0; first && k < i; k++)
			first = !is_shown(row_of(t, k)) || !same_phase(row_of(t, k), row_of(t, i));
		if (first)
			status = plot_one(r, row_of(t, i), out);
	}
	return status ? err_set(e, ENOMEM, "plot fsyncs") : 0;
}
