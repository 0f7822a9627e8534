/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Rate by the number of threads: a line through the medians of each arm, and a small point
 * for each block. */

#include "report/plots.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/comparison.h"
#include "report/format.h"

static const struct report_cell *row_of(const struct report_table *t, size_t i)
{
	return t->cells + i * t->column_count;
}

static bool same_plot(const struct report_cell *a, const struct report_cell *b)
{
	return !strcmp(a[THREADS_WORKLOAD].text, b[THREADS_WORKLOAD].text) &&
		!strcmp(a[THREADS_PHASE].text, b[THREADS_PHASE].text) &&
		!strcmp(a[THREADS_METRIC].text, b[THREADS_METRIC].text);
}

/* Operations are for phases without a rate. */
static bool has_rate(const struct report_table *t, const struct report_cell *like)
{
	for (size_t i = 0; i < t->row_count; i++) {
		const struct report_cell *row = row_of(t, i);

		if (!strcmp(row[THREADS_METRIC].text, "rate") &&
			!strcmp(row[THREADS_WORKLOAD].text, like[THREADS_WORKLOAD].text) &&
			!strcmp(row[THREADS_PHASE].text, like[THREADS_PHASE].text))
			return true;
	}
	return false;
}

static bool is_first(const struct report_table *t, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_plot(row_of(t, k), row_of(t, i)))
			return false;
	return !strcmp(row_of(t, i)[THREADS_METRIC].text, "rate") || !has_rate(t, row_of(t, i));
}

struct thread_plot {
	struct plot *plot;
	const struct report *report;
	const struct report_cell *like;
	double divisor;
};

static void add_medians(struct thread_plot *t, size_t arm)
{
	const struct report_table *table = &t->report->tables[TABLE_THREADS];
	const char *name = t->report->bundle.info.arms[arm].name;
	struct plot_series *s = plot_series_add(
		t->plot, PLOT_LINES_AND_POINTS, plot_arm_colour(arm), name);
	char text[CELL_TEXT_MAX];

	if (s)
		s->mark = plot_arm_mark(arm);
	strbuf_addf(&t->plot->description, "%s:", name);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct report_cell *row = row_of(table, i);

		if (!same_plot(row, t->like) || strcmp(row[THREADS_ARM].text, name))
			continue;
		plot_point(t->plot, s, (struct plot_point){
			.x = (double)row[THREADS_THREADS].count,
			.y = row[THREADS_MEDIAN].number / t->divisor });
		strbuf_addf(&t->plot->description, " %s with %llu thread%s,",
			format_cell(&row[THREADS_MEDIAN], text),
			(unsigned long long)row[THREADS_THREADS].count,
			PLURAL(row[THREADS_THREADS].count));
	}
	strbuf_add(&t->plot->description, " median over the blocks. ");
}

static bool is_point_of(const struct series *s, const struct report_cell *row)
{
	size_t n = strlen(row[THREADS_PHASE].text);
	char end[32];

	snprintf(end, sizeof(end), "/t%llu", (unsigned long long)row[THREADS_THREADS].count);
	return !strcmp(s->workload, row[THREADS_WORKLOAD].text) &&
		!strcmp(s->metric, row[THREADS_METRIC].text) &&
		!strncmp(s->phase, row[THREADS_PHASE].text, n) && !strcmp(s->phase + n, end);
}

enum { POINTS_MAX = 200 };

/* Beside the median, so that arms do not hide each other. */
static void add_samples(struct thread_plot *t, size_t arm, const struct report_cell *row,
	struct plot_series *to)
{
	const struct comparison *c = t->report->comparison;
	double arms = (double)t->report->bundle.info.arm_count;
	double x = (double)row[THREADS_THREADS].count *
		pow(1.06, (double)arm - (arms - 1) / 2);

	for (size_t i = 0; i < c->count; i++) {
		const struct series *s = c->series[i];
		size_t step = s->count / (POINTS_MAX * (size_t)arms) + 1;

		if (!is_point_of(s, row))
			continue;
		for (size_t k = 0; k < s->count; k++)
			if (s->samples[k].arm == arm && s->samples[k].block % step == 0)
				plot_point(t->plot, to, (struct plot_point){
					.x = x, .y = s->samples[k].value / t->divisor });
	}
}

static void add_points(struct thread_plot *t, size_t arm)
{
	const struct report_table *table = &t->report->tables[TABLE_THREADS];
	const char *name = t->report->bundle.info.arms[arm].name;
	struct plot_series *s =
		plot_series_add(t->plot, PLOT_POINTS, plot_arm_colour(arm), NULL);

	if (s) {
		s->mark = PLOT_RING;
		s->small = true;
	}
	for (size_t i = 0; i < table->row_count; i++)
		if (same_plot(row_of(table, i), t->like) &&
			!strcmp(row_of(table, i)[THREADS_ARM].text, name))
			add_samples(t, arm, row_of(table, i), s);
}

/* Ticks at the numbers of threads that were measured. */
static void add_axes(struct thread_plot *t)
{
	const struct report_table *table = &t->report->tables[TABLE_THREADS];
	struct plot_axis *x = &t->plot->x, *y = &t->plot->y;
	double most = 0, least_threads = INFINITY, most_threads = 0;
	const char *unit;
	enum cell_type type = CELL_NUMBER;

	for (size_t i = 0; i < table->row_count; i++) {
		const struct report_cell *row = row_of(table, i);
		double threads = (double)row[THREADS_THREADS].count;
		bool known = false;

		if (!same_plot(row, t->like))
			continue;
		for (size_t k = 0; k < x->tick_count; k++)
			known = known || x->ticks[k].at == threads;
		if (!known)
			plot_tick_add(t->plot, x, threads, "%.0f", threads);
		most = fmax(most, row[THREADS_HIGH].number);
		least_threads = fmin(least_threads, threads);
		most_threads = fmax(most_threads, threads);
		type = row[THREADS_HIGH].type;
	}
	unit = plot_unit(type, most, &t->divisor);
	*x = (struct plot_axis){ NULL, true, least_threads / 1.35, most_threads * 1.35,
		x->ticks, x->tick_count };
	y->low = 0;
	y->high = most > 0 ? most / t->divisor * 1.08 : 1;
	plot_set_text(t->plot, &x->title, "threads");
	plot_set_text(t->plot, &y->title, "%s (%s)", t->like[THREADS_METRIC].text, unit);
}

static int plot_one(const struct report *r, const struct report_cell *like,
	struct plots *out)
{
	struct thread_plot t = { .report = r, .like = like, .divisor = 1 };
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", like[THREADS_WORKLOAD].text,
		like[THREADS_PHASE].text);
	t.plot = plots_add(out, "threads", path);
	if (!t.plot)
		return -ENOMEM;
	plot_set_text(t.plot, &t.plot->title, "%s: %s by threads", path,
		like[THREADS_METRIC].text);
	add_axes(&t);
	for (size_t arm = 0; arm < r->bundle.info.arm_count; arm++)
		add_medians(&t, arm);
	for (size_t arm = 0; arm < r->bundle.info.arm_count; arm++)
		add_points(&t, arm);
	return 0;
}

int plot_threads(const struct report *r, struct plots *out, struct err *e)
{
	const struct report_table *t = &r->tables[TABLE_THREADS];
	int status = 0;

	for (size_t i = 0; !status && i < t->row_count; i++)
		if (is_first(t, i))
			status = plot_one(r, row_of(t, i), out);
	return status ? err_set(e, ENOMEM, "plot rates by threads") : 0;
}
