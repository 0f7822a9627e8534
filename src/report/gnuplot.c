/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Plots as a script for gnuplot, and what it draws; see gnuplot.h.
 *
 * The script holds nothing but what is written here, numbers, and marks for texts (see
 * svg.h): whatever an arm is called, gnuplot does not read it.  Neither does it read the
 * settings of the user.  It works in a directory of its own, which is removed.
 */

#include "report/gnuplot.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fileio.h"
#include "core/process.h"
#include "core/supervise.h"
#include "report/svg.h"

enum {
	CHART_WIDTH = 460,
	CHART_HEIGHT = 320,
	LIST_WIDTH = 940,
	LIST_ROW = 24,
	NARROW_WIDTH = 400,
	NARROW_ROW = 46,
	LIST_MARGIN = 100, /* above and below the rows */
	TITLE_HEIGHT = 24,
	/* Characters; a text without end would leave no room for the plot. */
	TICK_MAX = 52,
	NARROW_NAME_MAX = 34,
	KEY_MAX = 40,
	TITLE_MAX = 90,
	SECONDS_MAX = 60,
	ERRORS_MAX = 1 << 20,
};

/* Narrow lists: names stand so far above the middle of a row, marks so far below. */
#define NARROW_OFF 0.22

struct sheet {
	const struct plot *plot;
	enum gnuplot_shape shape;
	int width, height;
	struct svg_texts texts;
	struct strbuf script;
};

static void sheet_measure(struct sheet *s)
{
	size_t rows = s->plot->y.tick_count;
	bool narrow = s->shape == GNUPLOT_NARROW;

	s->width = CHART_WIDTH;
	s->height = CHART_HEIGHT;
	if (s->plot->is_list) {
		s->width = narrow ? NARROW_WIDTH : LIST_WIDTH;
		s->height = LIST_MARGIN + (int)rows * (narrow ? NARROW_ROW : LIST_ROW);
	}
	if (s->shape == GNUPLOT_ALONE)
		s->height += TITLE_HEIGHT;
}

static void add_mark(struct sheet *s, const char *text, size_t most)
{
	strbuf_add(&s->script, "'");
	svg_mark(&s->texts, text, most, &s->script);
	strbuf_add(&s->script, "'");
}

static void add_number(struct sheet *s, double value)
{
	if (isfinite(value))
		strbuf_addf(&s->script, " %.12g", value);
	else
		strbuf_add(&s->script, " NaN");
}

static void add_ticks(struct sheet *s, const char *axis, const struct plot_axis *a)
{
	strbuf_addf(&s->script, "set %stics (", axis);
	for (size_t i = 0; i < a->tick_count; i++) {
		strbuf_add(&s->script, i ? ", " : "");
		add_mark(s, a->ticks[i].text, TICK_MAX);
		add_number(s, a->ticks[i].at);
	}
	strbuf_add(&s->script, ")\n");
}

static void add_range(struct sheet *s, const char *axis, const struct plot_axis *a)
{
	if (a->log)
		strbuf_addf(&s->script, "set logscale %s\n", axis);
	if (a->low == a->high)
		return;
	strbuf_addf(&s->script, "set %srange [", axis);
	add_number(s, a->low);
	strbuf_add(&s->script, ":");
	add_number(s, a->high);
	strbuf_add(&s->script, "]\n");
}

static void add_title(struct sheet *s, const char *what, const char *text)
{
	strbuf_addf(&s->script, "set %s ", what);
	add_mark(s, text, s->plot->is_list && s->shape != GNUPLOT_NARROW ? TITLE_MAX
								      : KEY_MAX);
	strbuf_add(&s->script, "\n");
}

static void add_chart_axes(struct sheet *s)
{
	const struct plot *p = s->plot;

	add_range(s, "x", &p->x);
	add_range(s, "y", &p->y);
	if (p->x.tick_count)
		add_ticks(s, "x", &p->x);
	if (p->y.tick_count)
		add_ticks(s, "y", &p->y);
	add_title(s, "xlabel", p->x.title ? p->x.title : "");
	if (p->y.title)
		add_title(s, "ylabel", p->y.title);
}

/* Narrow: the names of the rows stand above them. */
static void add_names_above(struct sheet *s)
{
	const struct plot *p = s->plot;

	strbuf_add(&s->script, "unset ytics\nset lmargin 1\nset rmargin 2\n");
	for (size_t i = 0; i < p->y.tick_count; i++) {
		strbuf_add(&s->script, "set label ");
		add_mark(s, p->y.ticks[i].text, NARROW_NAME_MAX);
		strbuf_addf(&s->script, " at graph 0.01, first %.12g left front\n",
			p->y.ticks[i].at - NARROW_OFF);
	}
	for (size_t i = 0; i < p->right.tick_count; i++) {
		strbuf_add(&s->script, "set label ");
		add_mark(s, p->right.ticks[i].text, NARROW_NAME_MAX);
		strbuf_addf(&s->script, " at graph 0.99, first %.12g right front\n",
			p->right.ticks[i].at - NARROW_OFF);
	}
}

static void add_list_axes(struct sheet *s)
{
	const struct plot *p = s->plot;
	double low = s->shape == GNUPLOT_NARROW ? 0.3 : 0.4;

	add_range(s, "x", &p->x);
	strbuf_addf(&s->script, "set yrange [%zu.5:%g]\nset grid x noy\n", p->y.tick_count,
		low);
	if (p->x.tick_count)
		add_ticks(s, "x", &p->x);
	add_title(s, "xlabel", p->x.title ? p->x.title : "");
	if (s->shape == GNUPLOT_NARROW) {
		add_names_above(s);
		return;
	}
	strbuf_add(&s->script, "set tics scale 0.5, 0.25\n");
	add_ticks(s, "y", &p->y);
	strbuf_add(&s->script, "set ytics nomirror\n");
	if (!p->right.tick_count)
		return;
	strbuf_addf(&s->script, "set y2range [%zu.5:%g]\n", p->y.tick_count, low);
	add_ticks(s, "y2", &p->right);
}

static void add_head(struct sheet *s)
{
	strbuf_addf(&s->script,
		"reset\nset encoding utf8\nset terminal svg size %d,%d dynamic noenhanced "
		"font ',13'\n"
		"set border 3 lc rgb '" SVG_COLOUR "'\nset tics nomirror out scale 0.6 "
		"textcolor rgb '" SVG_COLOUR "'\nset grid lc rgb '" SVG_COLOUR "' lt 1 lw 1\n"
		"set pointintervalbox 0\nset samples 2\nset style fill solid 1 noborder\n"
		"set key outside center top horizontal noenhanced samplen 2\n",
		s->width, s->height, SVG_COLOUR_ARGUMENTS(PLOT_AXIS),
		SVG_COLOUR_ARGUMENTS(PLOT_INK), SVG_COLOUR_ARGUMENTS(PLOT_GRID));
	if (s->shape == GNUPLOT_ALONE)
		add_title(s, "title", s->plot->title);
	if (s->plot->is_list)
		add_list_axes(s);
	else
		add_chart_axes(s);
}

/* Narrow: it keeps out of the names. */
static void add_reference(struct sheet *s, double x)
{
	size_t rows = s->plot->y.tick_count;

	if (s->shape != GNUPLOT_NARROW) {
		strbuf_addf(&s->script, "%.12g 0\n%.12g %zu.5\n", x, x, rows);
		return;
	}
	for (size_t row = 1; row <= rows; row++)
		strbuf_addf(&s->script, "%.12g %.2f\n%.12g %.2f\n\n", x, (double)row + 0.02,
			x, (double)row + 0.42);
}

static void add_data(struct sheet *s, size_t i)
{
	const struct plot_series *series = &s->plot->series[i];
	bool narrow = s->shape == GNUPLOT_NARROW;
	double y, thinnest = (s->plot->x.high - s->plot->x.low) / 300;

	strbuf_addf(&s->script, "$d%zu << END\n", i);
	if (series->style == PLOT_REFERENCE_AT && series->count)
		add_reference(s, series->points[0].x);
	for (size_t k = 0; series->style != PLOT_REFERENCE_AT && k < series->count; k++) {
		const struct plot_point *point = &series->points[k];

		if (isnan(point->x) || isnan(point->y)) {
			strbuf_add(&s->script, "\n");
			continue;
		}
		y = point->y + (s->plot->is_list && narrow ? NARROW_OFF : 0);
		add_number(s, point->x);
		add_number(s, y);
		if (series->style == PLOT_INTERVALS || series->style == PLOT_BARS)
			add_number(s, point->low);
		if (series->style == PLOT_INTERVALS)
			add_number(s, point->high);
		if (series->style == PLOT_BARS) /* a short one is still to be seen */
			add_number(s, fmax(point->high, point->low + thinnest));
		if (series->style == PLOT_BARS) {
			add_number(s, y - (narrow ? 0.18 : 0.33));
			add_number(s, y + (narrow ? 0.18 : 0.33));
		}
		strbuf_add(&s->script, "\n");
	}
	strbuf_add(&s->script, "END\n");
}

static const unsigned point_types[PLOT_MARKS] = {
	[PLOT_CIRCLE] = 7,
	[PLOT_SQUARE] = 5,
	[PLOT_UP] = 9,
	[PLOT_DOWN] = 11,
	[PLOT_DIAMOND] = 13,
	[PLOT_RING] = 6,
};

static void add_series(struct sheet *s, size_t i)
{
	static const char *const styles[] = {
		[PLOT_POINTS] = "points",
		[PLOT_LINES] = "lines",
		[PLOT_LINES_AND_POINTS] = "linespoints",
		[PLOT_INTERVALS] = "xerrorbars",
		[PLOT_BARS] = "boxxyerror",
		[PLOT_REFERENCE_AT] = "lines",
	};
	const struct plot_series *series = &s->plot->series[i];

	strbuf_addf(&s->script, "%s$d%zu with %s lc rgb '" SVG_COLOUR "'", i ? ", " : "plot ",
		i, styles[series->style], SVG_COLOUR_ARGUMENTS(series->colour));
	if (series->style == PLOT_REFERENCE_AT)
		strbuf_addf(&s->script, " lw 1 dt %d", s->shape == GNUPLOT_NARROW ? 1 : 2);
	else if (series->style != PLOT_BARS)
		strbuf_addf(&s->script, " lw %s", series->small ? "1" : "2");
	if (series->style != PLOT_BARS && series->style != PLOT_LINES &&
		series->style != PLOT_REFERENCE_AT)
		strbuf_addf(&s->script, " pt %u ps %s", point_types[series->mark],
			series->small ? "0.45" : "0.75");
	strbuf_add(&s->script, series->title ? " title " : " notitle");
	if (series->title)
		add_mark(s, series->title, KEY_MAX);
}

static int write_script(struct sheet *s, size_t number, struct strbuf *out, struct err *e)
{
	sheet_measure(s);
	add_head(s);
	for (size_t i = 0; i < s->plot->series_count; i++)
		add_data(s, i);
	strbuf_addf(&s->script, "set output '%zu.svg'\n", number);
	for (size_t i = 0; i < s->plot->series_count; i++)
		add_series(s, i);
	strbuf_add(&s->script, "\nunset output\n");
	strbuf_add(out, strbuf_text(&s->script));
	return strbuf_failed(&s->script) || strbuf_failed(out)
		? err_set(e, ENOMEM, "draw %s", s->plot->name)
		: 0;
}

/* Why it has drawn nothing, with the last that it said. */
static int say_failed(const struct supervise_outcome *out, struct err *e)
{
	const char *said = process_tail(out->errors ? out->errors : "", 6);
	_cleanup_(strbuf_deinit) struct strbuf why = { 0 };

	if (out->end == SUPERVISE_TIMEOUT)
		strbuf_addf(&why, "it did not end within %d s", SECONDS_MAX);
	else if (out->end == SUPERVISE_FLOODED)
		strbuf_add(&why, "it printed without end");
	else if (out->signal)
		strbuf_addf(&why, "it was killed by SIG%s",
			sigabbrev_np(out->signal) ? sigabbrev_np(out->signal) : "NAL");
	else
		strbuf_addf(&why, "it ended with status %d", out->status);
	return err_say(e, EIO, "gnuplot, which draws plots, failed: %s%s%s",
		strbuf_text(&why), *said ? ":\n" : "", said);
}

static int run_gnuplot(const char *directory, const volatile sig_atomic_t *stop,
	struct err *e)
{
	static const char *const argv[] = { "gnuplot", "-d", "plots.gp", NULL };
	const struct supervise_job job = {
		.argv = argv,
		.directory = directory,
		.rights = PRIVILEGE_FILES,
		.timeout_ns = SECONDS_MAX * UINT64_C(1000000000),
		.output_limit = ERRORS_MAX,
		.stop = stop,
	};
	_cleanup_(supervise_outcome_deinit) struct supervise_outcome out = { 0 };
	int r = supervise_run(&job, &out, e);

	if (r)
		return r;
	if (out.end == SUPERVISE_STOPPED)
		return err_interrupted(e, *stop);
	if (out.end != SUPERVISE_EXITED || out.signal || out.status)
		return say_failed(&out, e);
	return 0;
}

/* An id that no other plot of a page has. */
static void make_id(const struct sheet *s, size_t number, char id[static 24])
{
	snprintf(id, 24, "p%zu%s", number, s->shape == GNUPLOT_NARROW ? "n" : "");
}

static int read_drawn(const struct sheet *s, const char *directory, size_t number,
	struct gnuplot_order *order, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf path = { 0 }, out = { 0 };
	_cleanup_free_ char *drawn = NULL;
	char id[24];
	const struct svg_frame frame = {
		.id = id,
		.class = !s->plot->is_list		? "plot"
			: s->shape == GNUPLOT_NARROW	? "plot narrow"
							: "plot wide",
		.title = s->plot->title,
		.description = strbuf_text(&s->plot->description),
		.width = s->width,
		.height = s->height,
		.standalone = s->shape == GNUPLOT_ALONE,
	};
	int r;

	make_id(s, number, id);
	strbuf_addf(&path, "%s/%zu.svg", directory, number);
	r = fileio_read_regular(strbuf_text(&path), &drawn, NULL, e);
	if (r == -ENOENT) /* as if it were not installed */
		r = err_say(e, EIO, "gnuplot did not draw %s", s->plot->title);
	if (!r)
		r = svg_adapt(&frame, &s->texts, drawn, &out, e);
	if (!r)
		order->svg = strbuf_take(&out);
	return r;
}

static int draw_in(const char *directory, struct sheet *sheets, struct gnuplot_order *orders,
	size_t count, const volatile sig_atomic_t *stop, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf script = { 0 }, path = { 0 };
	int r = 0;

	for (size_t i = 0; !r && i < count; i++) {
		sheets[i].plot = orders[i].plot;
		sheets[i].shape = orders[i].shape;
		r = write_script(&sheets[i], i, &script, e);
	}
	strbuf_addf(&path, "%s/plots.gp", directory);
	if (!r && strbuf_failed(&path))
		r = err_set(e, ENOMEM, "draw plots");
	if (!r)
		r = fileio_write_durable(strbuf_text(&path), strbuf_text(&script),
			script.length, 0600, e);
	if (!r)
		r = run_gnuplot(directory, stop, e);
	for (size_t i = 0; !r && i < count; i++)
		r = read_drawn(&sheets[i], directory, i, &orders[i], e);
	return r;
}

/* With whatever gnuplot, or who is called so, has left there. */
static void remove_directory(const char *directory)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(directory);
}

int gnuplot_draw(struct gnuplot_order *orders, size_t count,
	const volatile sig_atomic_t *stop, struct err *e)
{
	_cleanup_free_ struct sheet *sheets = calloc(count + 1, sizeof(*sheets));
	const char *tmp = getenv("TMPDIR");
	char directory[400];
	int r;

	if (!sheets)
		return err_set(e, ENOMEM, "draw plots");
	snprintf(directory, sizeof(directory), "%s/jbdlab-plots.XXXXXX",
		tmp && *tmp && strlen(tmp) < 350 ? tmp : "/tmp");
	if (!mkdtemp(directory))
		return err_set(e, errno, "make %s", directory);
	r = draw_in(directory, sheets, orders, count, stop, e);
	remove_directory(directory);
	for (size_t i = 0; i < count; i++) {
		svg_texts_deinit(&sheets[i].texts);
		strbuf_deinit(&sheets[i].script);
	}
	return r;
}
