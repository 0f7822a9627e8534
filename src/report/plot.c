/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Plots as data; see plot.h. */

#include "report/plot.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void axis_deinit(struct plot_axis *axis)
{
	for (size_t i = 0; i < axis->tick_count; i++)
		free(axis->ticks[i].text);
	free(axis->ticks);
	free(axis->title);
}

static void plot_free(struct plot *p)
{
	for (size_t i = 0; i < p->series_count; i++) {
		free(p->series[i].title);
		free(p->series[i].points);
	}
	free(p->series);
	axis_deinit(&p->x);
	axis_deinit(&p->y);
	axis_deinit(&p->right);
	strbuf_deinit(&p->description);
	free(p->name);
	free(p->title);
	free(p);
}

struct plot *plots_add(struct plots *p, const char *kind, const char *path)
{
	struct plot **list = reallocarray(p->list, p->count + 1, sizeof(struct plot *));
	struct plot *plot;

	if (!list)
		return NULL;
	p->list = list;
	plot = calloc(1, sizeof(*plot));
	if (!plot)
		return NULL;
	list[p->count++] = plot;
	plot_set_text(plot, &plot->name, "%s%s%s", kind, path ? ":" : "", path ? path : "");
	return plot->name ? plot : NULL;
}

void plots_deinit(struct plots *p)
{
	for (size_t i = 0; i < p->count; i++)
		plot_free(p->list[i]);
	free(p->list);
	*p = (struct plots){ 0 };
}

struct plot_series *plot_series_add(struct plot *p, enum plot_style style, unsigned colour,
	const char *title)
{
	struct plot_series *list =
		reallocarray(p->series, p->series_count + 1, sizeof(*list));

	if (!list) {
		p->failed = true;
		return NULL;
	}
	p->series = list;
	list += p->series_count++;
	*list = (struct plot_series){ .style = style, .colour = colour };
	if (title)
		plot_set_text(p, &list->title, "%s", title);
	return list;
}

void plot_point(struct plot *p, struct plot_series *s, struct plot_point point)
{
	struct plot_point *points;

	if (!s)
		return;
	points = s->points;
	/* Room grows by doubling: it is full when the count is a power of two. */
	if (!(s->count & (s->count - 1)))
		points = reallocarray(points, s->count ? 2 * s->count : 1, sizeof(*points));
	if (!points) {
		p->failed = true;
		return;
	}
	s->points = points;
	points[s->count++] = point;
}

void plot_set_text(struct plot *p, char **where, const char *fmt, ...)
{
	va_list ap;

	free(take_ptr(*where));
	va_start(ap, fmt);
	if (vasprintf(where, fmt, ap) < 0) {
		*where = NULL;
		p->failed = true;
	}
	va_end(ap);
}

void plot_tick_add(struct plot *p, struct plot_axis *axis, double at, const char *fmt, ...)
{
	struct plot_tick *ticks =
		reallocarray(axis->ticks, axis->tick_count + 1, sizeof(*ticks));
	char *text;
	va_list ap;
	int n;

	if (ticks)
		axis->ticks = ticks;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (!ticks || n < 0) {
		p->failed = true;
		if (n >= 0)
			free(text);
		return;
	}
	ticks[axis->tick_count++] = (struct plot_tick){ at, text };
}

/* Near 1 in equal steps, else 1, 2 and 5 of each decade. */
void plot_ratio_ticks(struct plot *p, struct plot_axis *axis)
{
	static const double steps[] = { 0.01, 0.02, 0.05, 0.1, 0.2 };
	static const double few[] = { 1, 2, 5 }, many[] = { 1, 1.5, 2, 3, 5, 7 };
	double span = axis->high - axis->low;
	bool is_narrow = axis->high / axis->low < 12, decades = axis->high / axis->low > 200;
	const double *parts = is_narrow ? many : few;
	size_t count = is_narrow ? ARRAY_SIZE(many) : decades ? 1 : ARRAY_SIZE(few);

	if (axis->high / axis->low < 2) {
		double step = 0.5;

		for (size_t i = ARRAY_SIZE(steps); i-- > 0;)
			if (span / steps[i] <= 6)
				step = steps[i];
		if (span < 0.02)
			step = span / 3;
		for (double k = ceil(axis->low / step); k * step <= axis->high; k++)
			plot_tick_add(p, axis, k * step, "%.3g", k * step);
		return;
	}
	for (double k = floor(log10(axis->low)); k <= log10(axis->high); k++)
		for (size_t i = 0; i < count; i++) {
			double at = parts[i] * pow(10, k);

			if (at >= axis->low && at <= axis->high)
				plot_tick_add(p, axis, at, "%g", at);
		}
}

void plot_time_ticks(struct plot *p, struct plot_axis *axis)
{
	static const char *const units[] = { "ns", "µs", "ms", "s" };
	double first = ceil(log10(axis->low) - 1e-9), last = floor(log10(axis->high) + 1e-9);
	bool fine = last - first < 2;
	static const double parts[] = { 1, 2, 5 };

	for (double k = floor(log10(axis->low)); k <= last; k++)
		for (size_t i = 0; i < (fine ? ARRAY_SIZE(parts) : 1); i++) {
			double at = parts[i] * pow(10, k);
			size_t unit = k < 3 ? 0 : k < 6 ? 1 : k < 9 ? 2 : 3;

			if (at >= axis->low && at <= axis->high)
				plot_tick_add(p, axis, at, "%g %s",
					at / pow(1000, (double)unit), units[unit]);
		}
}

void plot_percentile_ticks(struct plot *p, struct plot_axis *axis)
{
	static const struct {
		double at;
		const char *text;
	} ticks[] = { { 1, "0" }, { 2, "50" }, { 10, "90" }, { 100, "99" },
		{ 1000, "99.9" }, { 10000, "99.99" }, { 1e5, "99.999" } };

	for (size_t i = 0; i < ARRAY_SIZE(ticks); i++)
		if (ticks[i].at <= axis->high)
			plot_tick_add(p, axis, ticks[i].at, "%s", ticks[i].text);
}

const char *plot_unit(enum cell_type type, double most, double *divisor)
{
	static const char *const rates[] = { "B/s", "KiB/s", "MiB/s", "GiB/s" };
	static const char *const sizes[] = { "B", "KiB", "MiB", "GiB" };
	static const char *const times[] = { "ns", "µs", "ms", "s" };
	const char *const *units = type == CELL_BYTES ? sizes
		: type == CELL_NANOSECONDS	      ? times
						      : rates;
	double step = type == CELL_NANOSECONDS ? 1000 : 1024;
	size_t i = 0;

	*divisor = 1;
	if (type == CELL_OPERATIONS_PER_SECOND)
		return "operations/s";
	if (type == CELL_FRACTION) {
		*divisor = 0.01;
		return "%";
	}
	if (type != CELL_BYTES && type != CELL_BYTES_PER_SECOND && type != CELL_NANOSECONDS)
		return "";
	while (i < 3 && most / *divisor >= step) {
		*divisor *= step;
		i++;
	}
	return units[i];
}

unsigned plot_arm_colour(size_t arm)
{
	return PLOT_ARM + (unsigned)(arm % PLOT_ARM_COLOURS);
}

enum plot_mark plot_arm_mark(size_t arm)
{
	return (enum plot_mark)(arm % PLOT_MARKS);
}
