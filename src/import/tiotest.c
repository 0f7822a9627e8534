/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * tiotest, the program below tiobench.pl: its two boxes, and the lines of its option -T.
 *
 * The boxes of a run follow each other; their rows meet by their titles.  Sizes are those
 * of the command where that is in the text, else those of the sequential phases, which a
 * box has as whole megabytes.  Before 2023 -r was 1000 for each thread by default.
 */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "import/formats.h"
#include "import/tiobench_rows.h"

#define DEFAULT_RANDOM 1000 /* while random phases counted the blocks of the file */

struct state {
	double threads; /* of the present boxes; NAN: unknown */
	bool in_box;
	struct tio_row box[TIO_SECTIONS];
	bool has[TIO_SECTIONS];
	struct tio_rows rows;
};

static const struct {
	const char *title, *terse;
	enum tio_section section;
} kinds[] = {
	{"Random Write", "rwrite:", TIO_RWRITE},
	{"Random Read", "rread:", TIO_RREAD},
	{"Write", "write:", TIO_WRITE},
	{"Read", "read:", TIO_READ},
};

static double option(const char *command, const char *name)
{
	const char *text = command ? reader_option(command, name) : NULL, *rest;
	double value;

	if (!text)
		return NAN;
	text += strspn(text, " ");
	return fields_leading(text, &value, &rest) && value > 0 && value < 1e9 ? value : NAN;
}

static struct tio_row new_row(struct reader *r, enum tio_section section, double threads)
{
	const char *command = reader_command(r, "tiotest");
	struct tio_row row = {.line = reader_number(r),
		.section = section,
		.threads = threads,
		.block = NAN,
		.efficiency = NAN,
		.avg_ms = NAN,
		.max_ms = NAN,
		.over_2s = NAN,
		.over_10s = NAN,
		.wall_s = NAN,
		.user_s = NAN,
		.system_s = NAN,
		.runs = 1};

	if (isnan(row.threads))
		row.threads = option(command, "-t");
	if (command)
		row.block = isnan(option(command, "-b")) ? 4096 : option(command, "-b");
	row.size_mib = option(command, "-f") * row.threads;
	row.random = option(command, "-r") * row.threads;
	row.bypasses_cache = command && (reader_option(command, "-F") ||
						reader_option(command, "-X"));
	return row;
}

/* Without -r in the command: the default, if this is a program that counted wrongly. */
static void guess_random(struct reader *r, struct tio_row *row)
{
	if (isnan(row->random) && reader_command(r, "tiotest") &&
		row->counted_mib == row->size_mib)
		row->random = DEFAULT_RANDOM * row->threads;
}

/* The sizes that only other rows of the box tell; then the box is done. */
static void flush_box(struct reader *r, struct state *s)
{
	for (size_t i = 0; i < TIO_SECTIONS; i++) {
		struct tio_row *row = &s->box[i];

		if (!s->has[i])
			continue;
		if (isnan(row->size_mib) && s->has[TIO_WRITE])
			row->size_mib = s->box[TIO_WRITE].counted_mib;
		guess_random(r, row);
		tio_rows_add(r, &s->rows, row);
		s->has[i] = false;
	}
}

/* "| Random Write 2048 MBs | 1.2 s | 1653.932 MB/s | 0.2 % | 9.1 % |" */
static bool read_rates(struct tio_row *row, const char *text)
{
	double seconds, user, system;
	int end = 0;

	if (sscanf(text, " %lf MBs | %lf s | %lf MB/s | %lf %% | %lf %% |%n",
		    &row->counted_mib, &seconds, &row->rate, &user, &system, &end) != 5 ||
		!end)
		return false;
	row->cpu = user + system;
	row->counted_is_rounded = true;
	return row->rate >= 0 && row->rate < 1e12 && isfinite(row->cpu) &&
	       row->counted_mib >= 0 && row->counted_mib < 1e12;
}

/* "| Write | 0.291 ms | 604.049 ms | 0.00000 | 0.00000 |" */
static bool read_latencies(struct tio_row *row, const char *text)
{
	double avg, max, over_2s, over_10s;
	int end = 0;

	if (sscanf(text, " | %lf ms | %lf ms | %lf | %lf |%n", &avg, &max, &over_2s,
		    &over_10s, &end) != 4 ||
		!end || !(avg >= 0 && max >= 0 && avg < 1e12 && max < 1e12))
		return false;
	row->avg_ms = avg;
	row->max_ms = max;
	row->over_2s = over_2s;
	row->over_10s = over_10s;
	row->rounding_ms = 0.0005;
	return true;
}

static size_t take_box_row(struct reader *r, struct state *s, const char *line)
{
	line += strspn(line, "| ");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		enum tio_section section = kinds[i].section;
		size_t n = strlen(kinds[i].title);
		struct tio_row row;

		if (strncmp(line, kinds[i].title, n))
			continue;
		if (strchr(line + n, 's') && strstr(line, "MB/s")) {
			row = new_row(r, section, s->threads);
			if (!read_rates(&row, line + n)) {
				reader_malformed(r, "expected \"| %s N MBs | N s | N MB/s | "
						    "N %% | N %% |\"",
					kinds[i].title);
				return 1;
			}
			row.arm = reader_arm(r, NULL);
			s->box[section] = row;
			s->has[section] = true;
		} else if (!s->has[section] ||
			   !read_latencies(&s->box[section], line + n)) {
			reader_malformed(r, "expected \"| %s | N ms | N ms | N | N |\" below "
					    "its rate",
				kinds[i].title);
		}
		return 1;
	}
	return 1; /* headers and the total */
}

/* "write:64.00000,0.29794,0.00364,0.08928,0.07309,70.87300,0.00000,0.00000" */
static void read_terse(struct reader *r, struct state *s, size_t kind, const char *text)
{
	double v[8] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	_cleanup_(fields_deinit) struct fields f = {0};
	struct tio_row row = new_row(r, kinds[kind].section, NAN);
	bool good = true;

	fields_split(&f, text, ",");
	for (size_t i = 0; i < f.count && i < 8; i++)
		good = good && fields_number(f.words[i], &v[i]) && v[i] >= 0 && v[i] < 1e12;
	if (!good || (f.count != 8 && f.count != 4)) { /* 0.3.1 had four */
		reader_malformed(r, "expected eight numbers with commas between them");
		return;
	}
	if (v[0] == 0) {
		if (v[1] > 0)
			reader_malformed(r, "0 megabytes: nothing was read or written");
		return; /* the phase was left out with -k */
	}
	row.counted_mib = v[0];
	row.wall_s = v[1];
	row.user_s = v[2];
	row.system_s = v[3];
	row.rate = v[1] > 0 ? v[0] / v[1] : NAN;
	row.cpu = v[1] > 0 ? 100 * (v[2] + v[3]) / v[1] : NAN;
	row.avg_ms = v[4];
	row.max_ms = v[5];
	row.over_2s = v[6];
	row.over_10s = v[7];
	row.rounding_ms = 0.000005;
	guess_random(r, &row);
	row.arm = reader_arm(r, NULL);
	tio_rows_add(r, &s->rows, &row);
}

static size_t take(struct reader *r, void *data)
{
	struct state *s = data;
	const char *line = reader_line(r);
	unsigned threads;

	if (sscanf(line, "Tiotest results for %u concurrent io threads", &threads) == 1) {
		flush_box(r, s);
		s->threads = threads && threads <= 1000000 ? threads : NAN;
		return s->in_box = true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strncmp(line, kinds[i].terse, strlen(kinds[i].terse))) {
			read_terse(r, s, i, line + strlen(kinds[i].terse));
			return 1;
		}
	if (!strncmp(line, "total:", 6))
		return 1;
	if (!s->in_box)
		return 0;
	if (*line == '|')
		return take_box_row(r, s, line);
	return *line && (strchr(",+`", *line) || !strncmp(line, "Tiotest latency", 15));
}

static void finish(struct reader *r, void *data)
{
	struct state *s = data;

	flush_box(r, s);
	tio_rows_finish(r, &s->rows);
}

static void deinit(void *data)
{
	struct state *s = data;

	tio_rows_deinit(&s->rows);
}

const struct import_format import_tiotest = {
	.name = "tiotest",
	.help = "boxes of tiotest, and the lines of its option -T",
	.state_bytes = sizeof(struct state),
	.take = take,
	.finish = finish,
	.deinit = deinit,
};
