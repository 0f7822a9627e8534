/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A plot as data: axes, series of numbers, texts; made from the tables of a report, drawn by
 * gnuplot.h.  Nothing here knows how it will look, but for which of a few roles a colour has.
 *
 * There are two shapes.  A chart has two numeric axes and is small, so that two stand side
 * by side and one fits a phone.  A list has a numeric x axis and named rows from top to
 * bottom; row 1 is the uppermost.  It is drawn wide, or narrow with the names above the rows.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/strbuf.h"
#include "report/report.h"

/* Roles of colours; PLOT_ARM + n is the colour of arm n, again from the first one after
 * PLOT_ARM_COLOURS. */
enum plot_colour {
	PLOT_INK,
	PLOT_ARM,
	PLOT_ARM_COLOURS = 6,
	PLOT_GRID = PLOT_ARM + PLOT_ARM_COLOURS,
	PLOT_AXIS,
	PLOT_REFERENCE, /* a line that others are compared with */
	PLOT_BETTER,
	PLOT_WORSE,
	PLOT_NEUTRAL,
	PLOT_FAINT, /* joins points that belong together */
	PLOT_DATA,  /* devices */
	PLOT_JOURNAL,
	PLOT_COLOURS
};

enum plot_style {
	PLOT_POINTS,
	PLOT_LINES,
	PLOT_LINES_AND_POINTS,
	PLOT_INTERVALS, /* horizontal, in lists: x, y, low, high */
	PLOT_BARS,	/* horizontal, in lists: from low to high in row y */
	PLOT_REFERENCE_AT, /* a dashed line through all rows of a list, at x of its point */
};

enum plot_mark { PLOT_CIRCLE, PLOT_SQUARE, PLOT_UP, PLOT_DOWN, PLOT_DIAMOND, PLOT_RING,
	PLOT_MARKS };

struct plot_point {
	double x, y; /* NAN: the line is interrupted */
	double low, high;
};

struct plot_series {
	char *title; /* NULL: not in the key */
	enum plot_style style;
	unsigned colour; /* enum plot_colour */
	enum plot_mark mark;
	bool small;
	struct plot_point *points;
	size_t count;
};

struct plot_tick {
	double at;
	char *text;
};

struct plot_axis {
	char *title; /* with unit */
	bool log;
	double low, high; /* equal: by the data */
	struct plot_tick *ticks;
	size_t tick_count; /* 0: by themselves */
};

struct plot {
	char *name;    /* "latency:sync/write": what --plot takes */
	char *title;   /* for people */
	struct strbuf description; /* what it shows, in sentences: for who cannot see it */
	bool is_list;
	struct plot_axis x, y; /* of a list y.ticks are the names of the rows */
	struct plot_axis right; /* of a list: texts at the end of rows */
	struct plot_series *series;
	size_t series_count;
	bool failed; /* memory ran out */
};

struct plots {
	struct plot **list;
	size_t count;
};

/* A new plot at the end, named KIND or KIND:PATH, path being NULL for the former; NULL
 * without memory. */
struct plot *plots_add(struct plots *p, const char *kind, const char *path);
void plots_deinit(struct plots *p);

/* Running out of memory is remembered in plot->failed.  The series is valid until the next
 * one is added, or NULL, which plot_point() takes. */
struct plot_series *plot_series_add(struct plot *p, enum plot_style style, unsigned colour,
	const char *title);
void plot_point(struct plot *p, struct plot_series *s, struct plot_point point);
void plot_set_text(struct plot *p, char **where, const char *fmt, ...) _printf_(3, 4);
void plot_tick_add(struct plot *p, struct plot_axis *axis, double at, const char *fmt, ...)
	_printf_(4, 5);

/* Ticks of a ratio, of durations in nanoseconds (log axes between axis->low and high), and
 * of percentiles on an axis of 1 / (1 - p). */
void plot_ratio_ticks(struct plot *p, struct plot_axis *axis);
void plot_time_ticks(struct plot *p, struct plot_axis *axis);
void plot_percentile_ticks(struct plot *p, struct plot_axis *axis);

/* The unit in which values up to most are read best: its name, and what to divide by. */
const char *plot_unit(enum cell_type type, double most, double *divisor);

unsigned plot_arm_colour(size_t arm);
enum plot_mark plot_arm_mark(size_t arm);
