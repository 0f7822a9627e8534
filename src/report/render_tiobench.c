/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The tiobench report; see render_tiobench.h.
 *
 * The original prints through perl formats.  Numeric fields are rounded as by printf, but
 * CPU% is a text field: the number as perl prints it, cut to five characters ("60.47%",
 * "6.924%", "399.0%", "  100%").  That is kept where it does no harm; from 1000 on the
 * original leaves a bare point ("1234.%"), here it is "1234%".
 *
 * All cells are formatted first, because the widths follow from them.
 */

#include "report/render_tiobench.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "report/layouts.h"

enum { COLUMNS = 11, CELL = 64, CPU_CHARS = 5 };
enum align { LEFT, CENTRE, RIGHT };

struct column {
	const char *head[2]; /* as wide as the column */
	enum align align;
	unsigned gap; /* blanks before it */
};

static const struct column wide[COLUMNS] = {
	{{"                            ", "Identifier                  "}, LEFT, 0},
	{{" File ", " Size "}, CENTRE, 1},
	{{" Blk  ", " Size "}, CENTRE, 1},
	{{"Num", "Thr"}, RIGHT, 1},
	{{"            ", "    Rate    "}, RIGHT, 2},
	{{"      ", "(CPU%)"}, RIGHT, 1},
	{{"   Avg   ", " Latency "}, RIGHT, 1},
	{{"  Maximum  ", "  Latency  "}, RIGHT, 1},
	{{"  Lat%  ", "  >2s   "}, RIGHT, 2},
	{{"  Lat%  ", "  >10s  "}, RIGHT, 1},
	{{"  CPU  ", "  Eff  "}, RIGHT, 1},
};

static const struct column classic[COLUMNS] = {
	{{"                            ", "Identifier                  "}, LEFT, 0},
	{{" File ", " Size "}, CENTRE, 1},
	{{"Blk  ", "Size "}, CENTRE, 1},
	{{"Num", "Thr"}, RIGHT, 1},
	{{"      ", " Rate "}, RIGHT, 2},
	{{"      ", "(CPU%)"}, RIGHT, 1},
	{{"   Avg   ", " Latency "}, RIGHT, 1},
	{{"  Maximum  ", "  Latency  "}, RIGHT, 1},
	{{"  Lat%  ", "  >2s   "}, RIGHT, 2},
	{{"  Lat%  ", "  >10s  "}, RIGHT, 1},
	{{" CPU ", " Eff "}, RIGHT, 1},
};

static const struct section {
	const char *prefix, *title;
} sections[] = {
	{"read/", "Sequential Reads"},
	{"rread/", "Random Reads"},
	{"write/", "Sequential Writes"},
	{"rwrite/", "Random Writes"},
};

/* Cell 0, the identifier, is the same in all rows and not kept in them. */
struct row {
	const struct section *section;
	char cells[COLUMNS][CELL];
};

struct table {
	const struct column *columns;
	const char *identifier;
	unsigned widths[COLUMNS];
	struct row *rows;
	size_t count;
};

const char *const tiobench_format_words[] = {
	[TIOBENCH_WIDE] = "wide",
	[TIOBENCH_CLASSIC] = "classic",
	NULL,
};

int tiobench_format_parse(const char *word, enum tiobench_format *format, struct err *e)
{
	for (size_t i = 0; tiobench_format_words[i]; i++)
		if (!strcmp(word, tiobench_format_words[i])) {
			*format = (enum tiobench_format)i;
			return 0;
		}
	return err_usage(e, "\"%s\" is not wide or classic", word);
}

void render_tiobench_units(enum tiobench_format format, struct strbuf *out)
{
	strbuf_addf(out,
		"\nUnit information\n"
		"================\n"
		"File size = megabytes%s\n"
		"Blk Size  = bytes\n"
		"Rate      = megabytes per second\n"
		"CPU%%      = percentage of CPU used during the test\n"
		"Latency   = milliseconds\n"
		"Lat%%      = percent of requests that took longer than X seconds\n"
		"CPU Eff   = Rate divided by CPU%% - throughput per cpu load\n",
		format == TIOBENCH_WIDE ? " (2^20 bytes, 1,048,576 bytes)" : "");
}

static void format_cpu(double percent, char out[CELL])
{
	char text[CELL - 1]; /* leaves room for the sign */

	if (isnan(percent)) {
		snprintf(out, CELL, "-");
		return;
	}
	if (percent < 1e-4) /* perl would show an exponent */
		percent = 0;
	snprintf(text, sizeof(text), "%.15g", percent);
	if (percent >= 1000)
		snprintf(text, sizeof(text), "%.0f", percent);
	else
		text[CPU_CHARS] = '\0';
	if (text[strlen(text) - 1] == '.')
		text[strlen(text) - 1] = '\0';
	snprintf(out, CELL, "%s%%", text);
}

static double metric_of(const struct result_phase *phase, const char *name)
{
	const struct result_metric *m = result_phase_metric(phase, name);

	return m ? m->value : NAN;
}

/* decimals < 0: as few as the value needs */
static void format_number(double value, int decimals, char out[CELL])
{
	if (isnan(value))
		snprintf(out, CELL, "-");
	else if (decimals < 0)
		snprintf(out, CELL, "%.10g", value);
	else
		snprintf(out, CELL, "%.*f", decimals, value);
}

/* Whole megabytes, as in the original; small odd sizes, which it could not have, whole.
 */
static void format_size(double mib, char out[CELL])
{
	format_number(mib, mib < 100 ? -1 : 0, out);
}

static void fill_latency(struct row *row, const struct result_phase *phase)
{
	const struct hist *h = phase->latency;
	double mean_ms = metric_of(phase, "latency_mean") / NS_PER_MS;
	double max_ms = metric_of(phase, "latency_max") / NS_PER_MS;
	double over_2s = 100 * metric_of(phase, "latency_over_2s");
	double over_10s = 100 * metric_of(phase, "latency_over_10s");

	if (h) {
		mean_ms = hist_mean_ns(h) / NS_PER_MS;
		max_ms = (double)h->max_ns / NS_PER_MS;
		over_2s = h->count ? 100 * (double)h->over_2s / (double)h->count : 0;
		over_10s = h->count ? 100 * (double)h->over_10s / (double)h->count : 0;
	}
	format_number(mean_ms, 3, row->cells[6]);
	format_number(max_ms, 2, row->cells[7]);
	format_number(over_2s, 5, row->cells[8]);
	format_number(over_10s, 5, row->cells[9]);
}

/* MiB/s, percent of one CPU, and MiB/s for each whole CPU. */
static void fill_rate(struct row *row, const struct result_phase *phase)
{
	const struct result_counters *c = &phase->counters;
	double mib = 1 << 20, wall = (double)c->wall_ns, rate = 0, cpu = 0, efficiency;

	if (!result_knows(c, RESULT_WALL)) { /* a published table */
		rate = metric_of(phase, "rate") / mib;
		cpu = 100 * metric_of(phase, "cpu");
	} else if (c->wall_ns) {
		rate = (double)c->bytes / mib / (wall / NS_PER_S);
		cpu = 100 * (double)(c->user_ns + c->system_ns) / wall;
	}
	efficiency = metric_of(phase, "cpu_efficiency") / mib;
	if (isnan(efficiency)) /* the small number guards against division by zero */
		efficiency = rate / (cpu / 100 + 0.00001);
	format_number(rate, 2, row->cells[4]);
	format_cpu(cpu, row->cells[5]);
	format_number(efficiency, 0, row->cells[10]);
}

static void fill_row(struct row *row, const struct result_phase *phase)
{
	const struct result_counters *c = &phase->counters;

	format_size(result_knows(c, RESULT_REQUESTED_BYTES)
			    ? (double)c->requested_bytes / (1 << 20)
			    : NAN,
		row->cells[1]);
	format_number(
		result_knows(c, RESULT_BLOCK_BYTES) ? (double)c->block_bytes : NAN, -1,
		row->cells[2]);
	format_number(
		result_knows(c, RESULT_THREADS) ? c->threads : NAN, -1, row->cells[3]);
	fill_rate(row, phase);
	fill_latency(row, phase);
}

/* Characters of UTF-8 text, one column each. */
static unsigned characters(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static const char *cell(const struct table *t, const struct row *row, size_t column)
{
	return column ? row->cells[column] : t->identifier;
}

static void find_widths(struct table *t)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		t->widths[i] = (unsigned)strlen(t->columns[i].head[0]);
		for (size_t r = 0; r < t->count; r++)
			t->widths[i] =
				MAX(t->widths[i], characters(cell(t, &t->rows[r], i)));
	}
}

/* One cell with the blanks before it; nothing behind the last one. */
static void add_cell(
	const struct table *t, size_t column, const char *text, struct strbuf *out)
{
	const struct column *c = &t->columns[column];
	unsigned spare = t->widths[column] - characters(text);
	unsigned left = c->align == LEFT ? 0 : c->align == CENTRE ? spare / 2 : spare;

	strbuf_addf(out, "%*s%s", (int)(c->gap + left), "", text);
	if (column + 1 < COLUMNS)
		strbuf_addf(out, "%*s", (int)(spare - left), "");
}

static void add_header(const struct table *t, struct strbuf *out)
{
	for (size_t line = 0; line < 2; line++) {
		size_t start = out->length;

		for (size_t i = 0; i < COLUMNS; i++)
			add_cell(t, i, t->columns[i].head[line], out);
		while (out->length > start && out->text[out->length - 1] == ' ')
			out->text[--out->length] = '\0';
		strbuf_add(out, "\n");
	}
	for (size_t i = 0; i < COLUMNS; i++) {
		strbuf_addf(out, "%*s", (int)t->columns[i].gap, "");
		for (unsigned n = 0; n < t->widths[i]; n++)
			strbuf_add(out, "-");
	}
	strbuf_add(out, "\n");
}

static bool has_rows(const struct table *t, const struct section *section)
{
	for (size_t r = 0; r < t->count; r++)
		if (t->rows[r].section == section)
			return true;
	return false;
}

static void add_section(const struct table *t, const struct section *section,
	enum tiobench_format format, struct strbuf *out)
{
	strbuf_addf(out, "\n%s\n", section->title);
	if (format == TIOBENCH_WIDE) {
		for (size_t i = 0; section->title[i]; i++)
			strbuf_add(out, "=");
		strbuf_add(out, "\n");
	}
	add_header(t, out);
	for (size_t r = 0; r < t->count; r++) {
		if (t->rows[r].section != section)
			continue;
		for (size_t i = 0; i < COLUMNS; i++)
			add_cell(t, i, cell(t, &t->rows[r], i), out);
		strbuf_add(out, "\n");
	}
}

static const struct section *section_of(const char *phase_name)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (!strncmp(phase_name, sections[i].prefix, strlen(sections[i].prefix)))
			return &sections[i];
	return NULL;
}

void render_tiobench(const struct result_run *run, const char *identifier,
	enum tiobench_format format, struct strbuf *out)
{
	_cleanup_free_ struct row *rows = calloc(run->phase_count + 1, sizeof(*rows));
	struct table t = {.columns = format == TIOBENCH_WIDE ? wide : classic,
		.identifier = identifier,
		.rows = rows};

	if (!rows) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < run->phase_count; i++) {
		const struct section *section = section_of(run->phases[i].name);

		if (!section)
			continue;
		rows[t.count].section = section;
		fill_row(&rows[t.count++], &run->phases[i]);
	}
	find_widths(&t);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (has_rows(&t, &sections[i]))
			add_section(&t, &sections[i], format, out);
}

static void head_wide(struct strbuf *out)
{
	render_tiobench_units(TIOBENCH_WIDE, out);
}

static void head_classic(struct strbuf *out)
{
	render_tiobench_units(TIOBENCH_CLASSIC, out);
}

static void add_wide(
	const struct result_run *run, const char *identifier, struct strbuf *out)
{
	render_tiobench(run, identifier, TIOBENCH_WIDE, out);
}

static void add_classic(
	const struct result_run *run, const char *identifier, struct strbuf *out)
{
	render_tiobench(run, identifier, TIOBENCH_CLASSIC, out);
}

const struct report_layout report_layout_tiobench = {
	.name = "tiobench",
	.type = "tiobench",
	.render = add_wide,
	.head = head_wide,
};

const struct report_layout report_layout_tiobench_classic = {
	.name = "tiobench-classic",
	.type = "tiobench",
	.render = add_classic,
	.head = head_classic,
};
