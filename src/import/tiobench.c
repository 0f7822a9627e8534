/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The tables of tiobench.pl, from 0.3.1 (1999) to today.
 *
 * Columns moved and blanks were lost in mail, so a row is read from its one sure sign,
 * CPU with a percent sign: left of it are rate, threads, block and size, and what is left
 * is the identifier, which may have blanks; right of it are the two latencies, the two
 * shares and the efficiency.  Columns that a row lacks are unknown.
 *
 * perl's formats fill a numeric column with "#" when the number does not fit, and cut a
 * text: CPU after five characters, so that "1234." is 1234.something but "9.5e-" is lost;
 * a block of 1048576 became "10485".  A rate that is "######" is efficiency times CPU,
 * where both are whole.
 *
 * 0.3.1 has one table, whose rows hold a rate and a CPU for each of the four phases.
 */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "import/formats.h"
#include "import/tiobench_rows.h"

enum { BEHIND_CPU = 5 };

struct state {
	enum tio_section section; /* of the rows that follow */
	bool in_section;
	struct tio_rows rows;
};

/* What stands around the rows and is no result. */
static const char *const furniture[] = {
	"Unit information",
	"File size =",
	"Blk Size  =",
	"Blk Size =",
	"Rate      =",
	"Rate =",
	"CPU%      =",
	"CPU% =",
	"Latency   =",
	"Latency =",
	"Lat%      =",
	"Lat% =",
	"CPU Eff   =",
	"CPU Eff =",
	"File  Blk",
	"File   Blk",
	"File Blk",
	"Identifier ",
	"Size is MB, BlkSz is Bytes",
	"Dir   Size",
	"Run #",
	"No size specified, using",
	"Timeout of ",
	"Use of uninitialized value",
};

static bool is_furniture(const char *line)
{
	line += strspn(line, " ");
	if (*line && line[strspn(line, "-= ")] == '\0')
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(furniture); i++)
		if (!strncmp(line, furniture[i], strlen(furniture[i])))
			return true;
	return false;
}

static bool is_title(const char *line, enum tio_section *section)
{
	char text[40];
	size_t n;

	line += strspn(line, " #*|");
	n = strcspn(line, "|");
	while (n && strchr(" :=*#.", line[n - 1]))
		n--;
	snprintf(text, sizeof(text), "%.*s", (int)MIN(n, sizeof(text) - 1), line);
	for (size_t i = 0; i < TIO_SECTIONS; i++)
		if (!strcasecmp(text, tio_titles[i])) {
			*section = (enum tio_section)i;
			return true;
		}
	return false;
}

static bool is_hashes(const char *word)
{
	return *word && word[strspn(word, "#")] == '\0';
}

/* A number, "######" or "-", which both are NAN. */
static bool cell(const char *word, double *value)
{
	*value = NAN;
	return is_hashes(word) || !strcmp(word, "-") || fields_number(word, value);
}

/* "93.83%", "1234.%", "9.5e-%", "######%".  *value is NAN when digits were lost. */
static bool cpu_cell(const char *word, double *value)
{
	size_t n = strcspn(word, "%");
	char text[32];

	if (!word[n] || word[n + strspn(word + n, "%")] || !n || n >= sizeof(text))
		return false;
	memcpy(text, word, n);
	text[n] = '\0';
	*value = NAN;
	if (is_hashes(text) || !strcmp(text, "-"))
		return true;
	if (strspn(text, "0123456789") == n && n == 5)
		return true; /* perhaps the first five digits of more */
	if (text[n - 1] == '-' || text[n - 1] == 'e')
		return isdigit((unsigned char)text[0]);
	return fields_number(text, value);
}

static bool all_cells(const struct fields *f, size_t from)
{
	double value;

	for (size_t i = from; i < f->count; i++)
		if (!cell(f->words[i], &value))
			return false;
	return true;
}

/* Five cells, or fewer: an efficiency is whole, and a single share may be either. */
static void read_behind(struct tio_row *row, char *const *words, size_t count)
{
	double values[BEHIND_CPU];
	bool ends_whole;

	row->avg_ms = row->max_ms = row->over_2s = row->over_10s = row->efficiency = NAN;
	for (size_t i = 0; i < count; i++)
		cell(words[i], &values[i]);
	if (count > 0)
		row->avg_ms = values[0];
	if (count > 1)
		row->max_ms = values[1];
	if (count < 3)
		return;
	ends_whole = !strchr(words[count - 1], '.');
	if (ends_whole)
		row->efficiency = values[count - 1];
	count -= ends_whole;
	if (count == 4) {
		row->over_2s = values[2];
		row->over_10s = values[3];
	}
}

static bool is_power_of_two(double value)
{
	return value >= 1 && exp2(round(log2(value))) == value;
}

/* Size, block and threads stand right before the rate; the rest is the identifier. */
static bool read_before(
	struct reader *r, struct tio_row *row, char *const *words, size_t *count)
{
	double values[3] = {NAN, NAN, NAN}; /* from the right: threads, block, size */
	uint64_t whole;
	size_t n = 0;

	for (; n < 3 && n < *count && fields_whole(words[*count - 1 - n], &whole); n++)
		values[n] = (double)whole;
	*count -= n;
	if (n == 2 && !(is_power_of_two(values[1]) && values[1] >= 512)) {
		values[2] = values[1];
		values[1] = NAN;
	}
	row->threads = values[0];
	row->block = values[1];
	row->size_mib = values[2];
	if (row->threads > 1e6 || row->block > 1e12 || row->size_mib > 1e12 ||
		row->threads == 0 || row->block == 0)
		return false;
	if (row->block >= 10000 && fmod(row->block, 512) != 0) {
		reader_warn(r, row->line,
			"block size %.0f is cut off: its column was too narrow", row->block);
		row->block = NAN;
	}
	return true;
}

static void recover_rate(struct reader *r, struct tio_row *row, const char *word)
{
	/* Two decimals, a point, and as many digits as are left: the number was larger. */
	double least = pow(10, (double)MIN(strlen(word), (size_t)20) - 3) - 0.005;
	double rate = row->efficiency * row->cpu / 100;

	if (rate >= least * 0.99) {
		row->rate = rate;
		row->marks |= RESULT_RECOVERED;
		reader_warn(r, row->line,
			"rate \"%s\" recovered from CPU efficiency times CPU: about %.0f MB/s",
			word, rate);
	} else {
		reader_warn(r, row->line,
			"rate \"%s\" is unknown: at least %.2f MB/s, and CPU and CPU "
			"efficiency do not tell it",
			word, least);
	}
}

/* tiobench.pl's own options, where its command is in the text. */
static void apply_command(const struct reader *r, struct tio_row *row)
{
	const char *command = reader_command(r, "tiobench.pl"), *rest;

	row->random = NAN;
	row->runs = 1;
	if (!command)
		command = reader_command(r, "tiobench");
	if (!command)
		return;
	if (reader_option(command, "--random") &&
		!fields_leading(reader_option(command, "--random"), &row->random, &rest))
		row->random = NAN;
	if (!reader_option(command, "--numruns") ||
		!fields_leading(reader_option(command, "--numruns"), &row->runs, &rest) ||
		row->runs < 1)
		row->runs = 1;
	row->bypasses_cache = reader_option(command, "--flushCaches") ||
			      reader_option(command, "--directio");
}

static bool is_nothing(const struct tio_row *row)
{
	return row->rate == 0 && !(row->max_ms > 0) && !(row->cpu > 0);
}

static void add_row(struct reader *r, struct state *s, struct tio_row *row,
	char *const *words, size_t count)
{
	_cleanup_free_ char *identifier = NULL;
	size_t length = 0;

	if (row->rate < 0 || row->avg_ms < 0 || row->max_ms < 0 || row->cpu < 0) {
		reader_malformed(r, "expected numbers that are not below 0");
		return;
	}
	if (is_nothing(row)) {
		reader_malformed(r, "a rate of 0: nothing was read or written");
		return;
	}
	for (size_t i = 0; i < count; i++)
		length += strlen(words[i]) + 1;
	identifier = calloc(1, length + 1);
	if (!identifier) {
		r->failed = true;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		strcat(identifier, i ? " " : "");
		strcat(identifier, words[i]);
	}
	row->arm = reader_arm(r, *identifier ? identifier : NULL);
	row->wall_s = row->user_s = row->system_s = row->counted_mib = NAN;
	row->rounding_ms = 0.0005;
	tio_rows_add(r, &s->rows, row);
}

/* A row whose CPU is word cpu of the fields. */
static void read_row(
	struct reader *r, struct state *s, const struct fields *f, size_t cpu)
{
	struct tio_row row = {.line = reader_number(r), .section = s->section};
	size_t before = cpu - 1;

	cpu_cell(f->words[cpu], &row.cpu);
	cell(f->words[cpu - 1], &row.rate);
	read_behind(&row, f->words + cpu + 1, f->count - cpu - 1);
	if (!read_before(r, &row, f->words, &before)) {
		reader_malformed(r, "expected sizes, blocks and threads that can be");
		return;
	}
	if (is_hashes(f->words[cpu - 1]))
		recover_rate(r, &row, f->words[cpu - 1]);
	apply_command(r, &row);
	add_row(r, s, &row, f->words, before);
}

/* The word with the CPU of a row, or 0. */
static size_t find_cpu(const struct fields *f)
{
	double value;

	for (size_t i = f->count; i-- > 1;)
		if (cpu_cell(f->words[i], &value) && cell(f->words[i - 1], &value))
			return i;
	return 0;
}

/* The second half of a row that a mail program has wrapped, or NULL. */
static bool is_rest_of_row(const char *line, size_t missing, struct fields *rest)
{
	fields_split(rest, line, " ");
	if (rest->count && rest->count == missing && all_cells(rest, 0))
		return true;
	fields_deinit(rest);
	return false;
}

static size_t take_row(
	struct reader *r, struct state *s, struct fields *f, size_t cpu)
{
	size_t behind = f->count - cpu - 1, lines = 1;
	struct fields rest = {0};

	if (behind < BEHIND_CPU &&
		is_rest_of_row(reader_ahead(r, 1), BEHIND_CPU - behind, &rest)) {
		for (size_t i = 0; i < rest.count && f->count < FIELDS_MAX; i++)
			f->words[f->count++] = rest.words[i];
		lines = 2;
	}
	if (f->count - cpu - 1 > BEHIND_CPU || !all_cells(f, cpu + 1))
		reader_malformed(r,
			"expected two latencies, two shares and the CPU efficiency behind "
			"the CPU");
	else if (!s->in_section)
		reader_malformed(
			r, "expected a title such as \"Sequential Reads\" above this row");
	else
		read_row(r, s, f, cpu);
	fields_deinit(&rest);
	return lines;
}

/* 0.3.1: four pairs of rate and CPU. */
static bool is_old_row(const struct fields *f)
{
	double value;

	if (f->count < 8)
		return false;
	for (size_t i = 0; i < 4; i++)
		if (!cell(f->words[f->count - 8 + 2 * i], &value) ||
			!cpu_cell(f->words[f->count - 7 + 2 * i], &value))
			return false;
	return true;
}

static void take_old_row(struct reader *r, struct state *s, const struct fields *f)
{
	static const enum tio_section order[] = {
		TIO_READ, TIO_RREAD, TIO_WRITE, TIO_RWRITE};
	struct tio_row row = {.line = reader_number(r)};
	size_t before = f->count - 8;

	if (!read_before(r, &row, f->words, &before)) {
		reader_malformed(r, "expected sizes, blocks and threads that can be");
		return;
	}
	apply_command(r, &row);
	row.avg_ms = row.max_ms = row.over_2s = row.over_10s = row.efficiency = NAN;
	for (size_t i = 0; i < 4; i++) {
		const char *rate = f->words[f->count - 8 + 2 * i];

		cell(rate, &row.rate);
		cpu_cell(f->words[f->count - 7 + 2 * i], &row.cpu);
		row.section = order[i];
		/* The identifier is the directory, which says nothing of the arm. */
		add_row(r, s, &row, NULL, 0);
		if (strlen(rate) == 5 && !strchr(rate, '.'))
			reader_warn(r, row.line,
				"rate \"%s\" may have lost digits: its column was too narrow",
				rate);
	}
}

static size_t take_malformed(struct reader *r, const struct state *s, const struct fields *f)
{
	size_t numbers = 0;
	double value;

	for (size_t i = 0; i < f->count; i++)
		numbers += cell(f->words[i], &value) || strchr(f->words[i], '%') != NULL;
	if (!s->in_section || numbers < 6)
		return 0;
	reader_malformed(r,
		"expected \"identifier size block threads rate CPU%% latency latency share "
		"share efficiency\"");
	return 1;
}

static size_t take(struct reader *r, void *data)
{
	struct state *s = data;
	const char *line = reader_line(r);
	_cleanup_(fields_deinit) struct fields f = {0};
	size_t cpu;

	if (is_title(line, &s->section)) {
		s->in_section = true;
		return 1;
	}
	if (is_furniture(line))
		return 1;
	fields_split(&f, line, " |");
	if (is_old_row(&f)) {
		take_old_row(r, s, &f);
		return 1;
	}
	cpu = find_cpu(&f);
	/* Elsewhere a percent sign alone does not make a row. */
	if (cpu && (s->in_section || f.count - cpu - 1 == BEHIND_CPU))
		return take_row(r, s, &f, cpu);
	return take_malformed(r, s, &f);
}

static void finish(struct reader *r, void *data)
{
	struct state *s = data;

	tio_rows_finish(r, &s->rows);
}

static void deinit(void *data)
{
	struct state *s = data;

	tio_rows_deinit(&s->rows);
}

const struct import_format import_tiobench = {
	.name = "tiobench",
	.help = "tables of tiobench.pl, 0.3.1 to 2024, as they are or as mail has left them",
	.state_bytes = sizeof(struct state),
	.take = take,
	.finish = finish,
	.deinit = deinit,
};
