/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Distributions of latencies: percentiles on an axis that gives each further nine the same
 * room, so that the slowest operations, which users notice, are not a pixel at the edge. */

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

static bool same_plot(const struct report_cell *a, const struct report_cell *b)
{
	return !strcmp(a[PERCENTILES_WORKLOAD].text, b[PERCENTILES_WORKLOAD].text) &&
		!strcmp(a[PERCENTILES_PHASE].text, b[PERCENTILES_PHASE].text) &&
		!strcmp(a[PERCENTILES_OF].text, b[PERCENTILES_OF].text);
}

/* The longest of n stands where the percentile 1 - 1/n would. */
static double place_of(const struct report_cell *row)
{
	double fraction = row[PERCENTILES_FRACTION].number;
	double longest = fmax(1, (double)row[PERCENTILES_COUNT].count);

	return fraction < 1 ? fmin(1 / (1 - fraction), longest) : longest;
}

static void describe(struct plot *p, const struct report_cell *row)
{
	double fraction = row[PERCENTILES_FRACTION].number;
	char text[CELL_TEXT_MAX];

	if (fraction == 0.5)
		strbuf_addf(&p->description, " half within %s,",
			format_cell(&row[PERCENTILES_LATENCY], text));
	else if (fraction == 0.99)
		strbuf_addf(&p->description, " 99 %% within %s,",
			format_cell(&row[PERCENTILES_LATENCY], text));
	else if (fraction == 1)
		strbuf_addf(&p->description, " the longest %s (of %llu). ",
			format_cell(&row[PERCENTILES_LATENCY], text),
			(unsigned long long)row[PERCENTILES_COUNT].count);
}

static void add_arm(struct plot *p, const struct report *r, size_t arm,
	const struct report_cell *like)
{
	const struct report_table *t = &r->tables[TABLE_PERCENTILES];
	const char *name = r->bundle.info.arms[arm].name;
	struct plot_series *s = NULL;

	for (size_t i = 0; i < t->row_count; i++) {
		const struct report_cell *row = row_of(t, i);
		double latency = fmax(1, row[PERCENTILES_LATENCY].number);

		if (strcmp(row[PERCENTILES_ARM].text, name) || !same_plot(row, like))
			continue;
		if (!s) {
			s = plot_series_add(p, PLOT_LINES_AND_POINTS, plot_arm_colour(arm), name);
			strbuf_addf(&p->description, "%s:", name);
		}
		if (s) {
			s->mark = plot_arm_mark(arm);
			s->small = true;
		}
		describe(p, row);
		plot_point(p, s, (struct plot_point){ .x = place_of(row), .y = latency });
		p->x.high = fmax(p->x.high, place_of(row));
		p->y.low = p->y.low > 0 ? fmin(p->y.low, latency) : latency;
		p->y.high = fmax(p->y.high, latency);
	}
}

static int plot_one(const struct report *r, const struct report_cell *like,
	struct plots *out)
{
	bool sync = !strcmp(like[PERCENTILES_OF].text, "sync");
	char path[200];
	struct plot *p;

	snprintf(path, sizeof(path), "%s/%s", like[PERCENTILES_WORKLOAD].text,
		like[PERCENTILES_PHASE].text);
	p = plots_add(out, sync ? "sync-latency" : "latency", path);
	if (!p)
		return -ENOMEM;
	plot_set_text(p, &p->title, "%s: latency of %s", path, sync ? "syncs" : "operations");
	p->x.log = p->y.log = true;
	p->x.low = 1;
	p->x.high = 10;
	for (size_t arm = 0; arm < r->bundle.info.arm_count; arm++)
		add_arm(p, r, arm, like);
	p->y.low /= 2;
	p->y.high *= 2;
	p->x.high *= 1.2;
	plot_percentile_ticks(p, &p->x);
	plot_time_ticks(p, &p->y);
	plot_set_text(p, &p->x.title, "percentile (%%)");
	plot_set_text(p, &p->y.title, "latency (log scale)");
	return 0;
}

static bool is_first(const struct report_table *t, size_t i)
{
	if (i && same_plot(row_of(t, i - 1), row_of(t, i)))
		return false; /* most of them, without a search */
	for (size_t k = 0; k + 1 < i; k++)
		if (same_plot(row_of(t, k), row_of(t, i)))
			return false;
	return true;
}

int plot_latencies(const struct report *r, struct plots *out, struct err *e)
{
	const struct report_table *t = &r->tables[TABLE_PERCENTILES];
	int status = 0;

	for (size_t i = 0; !status && i < t->row_count; i++)
		if (is_first(t, i))
			status = plot_one(r, row_of(t, i), out);
	return status ? err_set(e, ENOMEM, "plot latencies") : 0;
}
