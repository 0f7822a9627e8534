/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The arms block by block, in the order in which they were measured: what belongs together
 * is joined by a line, and a drift of the disk is seen as a slope that the arms share. */

#include "report/plots.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/comparison.h"
#include "report/shown.h"
#include "report/tables.h"

/* Of more blocks than DRAWN_MAX every second, third... is drawn; numbers above BLOCKS_MAX
 * are no blocks that anybody measured. */
enum { DRAWN_MAX = 200, BLOCKS_MAX = 1 << 20 };

/* From here on small values would lie on the axis. */
#define LOG_RATIO 8

struct block_plot {
	struct plot *plot;
	const struct report *report;
	const struct series *series;
	double *values; /* [block * arms + arm]; NAN: not measured */
	size_t blocks, arms, step;
	double divisor;
	const char *unit;
};

static size_t blocks_of(const struct series *s)
{
	size_t blocks = 0;

	for (size_t i = 0; i < s->count; i++)
		blocks = MAX(blocks, (size_t)s->samples[i].block + 1);
	return blocks;
}

static int take_values(struct block_plot *b)
{
	b->values = malloc(b->blocks * b->arms * sizeof(*b->values));
	if (!b->values)
		return -ENOMEM;
	for (size_t i = 0; i < b->blocks * b->arms; i++)
		b->values[i] = NAN;
	for (size_t i = 0; i < b->series->count; i++) {
		const struct sample *s = &b->series->samples[i];

		b->values[s->block * b->arms + s->arm] = s->value;
	}
	return 0;
}

/* Every 1, 2, 5, 10, 20... blocks, at most about ten. */
static void add_block_ticks(struct block_plot *b)
{
	size_t step = 1;

	for (size_t k = 0; b->blocks / step > 10; k++)
		step = k % 3 == 1 ? step / 2 * 5 : step * 2;
	for (size_t i = step; i <= b->blocks; i += step)
		plot_tick_add(b->plot, &b->plot->x, (double)i, "%zu", i);
}

/* Does the axis end at 0 or near the values?  Near: the question is what changes. */
static void set_axes(struct block_plot *b)
{
	struct plot_axis *x = &b->plot->x, *y = &b->plot->y;
	double low = INFINITY, high = -INFINITY, room;
	enum cell_type type = report_unit_cell(b->series->unit);

	for (size_t i = 0; i < b->blocks * b->arms; i++)
		if (isfinite(b->values[i])) {
			low = fmin(low, b->values[i]);
			high = fmax(high, b->values[i]);
		}
	b->unit = plot_unit(type, high, &b->divisor);
	x->low = 0.5;
	x->high = (double)b->blocks + 0.5;
	add_block_ticks(b);
	plot_set_text(b->plot, &x->title, "block");
	y->log = low > 0 && high / low > LOG_RATIO;
	if (y->log && type == CELL_NANOSECONDS)
		b->divisor = 1;
	low /= b->divisor;
	high /= b->divisor;
	room = fmax((high - low) * 0.08, fmax(fabs(high) * 0.02, 1e-9));
	y->low = y->log ? low / 1.3 : low - room;
	y->high = y->log ? high * 1.3 : high + room;
	if (low >= 0 && y->low < 0)
		y->low = 0;
	if (y->log && type == CELL_NANOSECONDS)
		plot_time_ticks(b->plot, y);
	plot_set_text(b->plot, &y->title, "%s%s%s%s%s", b->series->metric,
		b->divisor != 1 || !y->log ? " (" : "", b->divisor != 1 || !y->log ? b->unit : "",
		b->divisor != 1 || !y->log ? ")" : "", y->log ? ", log scale" : "");
}

/* From the lowest to the highest arm of each block. */
static void add_links(struct block_plot *b)
{
	struct plot_series *s = plot_series_add(b->plot, PLOT_LINES, PLOT_FAINT, NULL);

	if (s)
		s->small = true;
	for (size_t block = 0; block < b->blocks; block += b->step) {
		double low = INFINITY, high = -INFINITY, x = (double)block + 1;

		for (size_t arm = 0; arm < b->arms; arm++) {
			double value = b->values[block * b->arms + arm];

			if (isfinite(value)) {
				low = fmin(low, value);
				high = fmax(high, value);
			}
		}
		if (low >= high)
			continue;
		plot_point(b->plot, s, (struct plot_point){ .x = x, .y = low / b->divisor });
		plot_point(b->plot, s, (struct plot_point){ .x = x, .y = high / b->divisor });
		plot_point(b->plot, s, (struct plot_point){ .x = NAN, .y = NAN });
	}
}

static void add_arm(struct block_plot *b, size_t arm)
{
	struct plot_series *s = plot_series_add(b->plot, PLOT_LINES_AND_POINTS,
		plot_arm_colour(arm), b->report->bundle.info.arms[arm].name);

	if (s) {
		s->mark = plot_arm_mark(arm);
		s->small = b->blocks > 40;
	}
	for (size_t block = 0; block < b->blocks; block += b->step) {
		double value = b->values[block * b->arms + arm];

		plot_point(b->plot, s, (struct plot_point){ .x = (double)block + 1,
			.y = isfinite(value) ? value / b->divisor : NAN });
	}
}

static void describe(struct block_plot *b)
{
	const struct report_table *t = &b->report->tables[TABLE_DRIFT];

	strbuf_addf(&b->plot->description,
		"%s of %zu arm%s in %zu block%s, in the order of measuring. ",
		b->series->metric, b->arms, PLURAL(b->arms), b->blocks, PLURAL(b->blocks));
	if (b->step > 1)
		strbuf_addf(&b->plot->description, "One of %zu blocks is drawn. ", b->step);
	for (size_t i = 0; i < t->row_count; i++) {
		const struct report_cell *row = t->cells + i * t->column_count;

		if (strcmp(row[DRIFT_WORKLOAD].text, b->series->workload) ||
			strcmp(row[DRIFT_PHASE].text, b->series->phase) ||
			strcmp(row[DRIFT_METRIC].text, b->series->metric))
			continue;
		strbuf_addf(&b->plot->description,
			"%s: %+.1f %% from the first block to the last (p %.2g). ",
			row[DRIFT_ARM].text, 100 * (row[DRIFT_CHANGE].number - 1),
			row[DRIFT_P].number);
	}
}

static int plot_one(const struct report *r, const struct series *s, struct plots *out)
{
	struct block_plot b = { .report = r, .series = s, .blocks = blocks_of(s),
		.arms = r->bundle.info.arm_count };
	char path[300];

	snprintf(path, sizeof(path), "%s/%s/%s", s->workload, s->phase, s->metric);
	b.step = (b.blocks + DRAWN_MAX - 1) / DRAWN_MAX;
	b.plot = plots_add(out, "blocks", path);
	if (!b.plot || take_values(&b))
		return -ENOMEM;
	plot_set_text(b.plot, &b.plot->title, "%s by block", path);
	set_axes(&b);
	describe(&b);
	if (b.arms > 1)
		add_links(&b);
	for (size_t arm = 0; arm < b.arms; arm++)
		add_arm(&b, arm);
	free(b.values);
	return 0;
}

static bool can_be_drawn(const struct series *s)
{
	if (blocks_of(s) > BLOCKS_MAX)
		return false;
	for (size_t i = 0; i < s->count; i++)
		if (isfinite(s->samples[i].value))
			return true;
	return false;
}

int plot_blocks(const struct report *r, struct plots *out, struct err *e)
{
	const struct comparison *c = r->comparison;
	int status = 0;

	if (r->blocks < 2)
		return 0;
	for (size_t i = 0; !status && i < c->count; i++)
		if (report_is_shown(r, c->series[i]) && can_be_drawn(c->series[i]))
			status = plot_one(r, c->series[i], out);
	return status ? err_set(e, ENOMEM, "plot blocks") : 0;
}
