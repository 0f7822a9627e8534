/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The result line of dd, from coreutils 5.3 (2005) to today and BusyBox:
 *
 *	2621440000 bytes (2.6 GB) copied, 51.3763 seconds, 51.0 MB/s
 *	209715200 bytes (210 MB, 200 MiB) copied, 0.20023 s, 1.0 GB/s
 *	83886080 bytes (80.0MB) copied, 3.084522 seconds, 25.9MB/s
 *
 * and as people paste it, without the count of bytes and with words before it.  The rate
 * is computed from bytes and seconds where both are there, since dd rounds it to two or
 * three digits; its MB are 10^6 bytes, those of BusyBox, which puts no blank before the
 * unit, 2^20.  What dd was asked to do is in its command, when that is in the text.
 *
 * A line with status=progress stands before the lines of records and is no result.
 */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/macros.h"
#include "core/units.h"
#include "import/formats.h"

struct row {
	size_t arm;
	unsigned line;
	double bytes;	/* NAN: unknown */
	double rounded; /* the size in parentheses; NAN: none */
	double seconds;
	double rate; /* as printed, bytes per second; NAN: "Infinity B/s" or none */
	uint64_t block_bytes; /* 0: unknown */
	bool reads, writes, unsynced;
};

struct state {
	struct row *rows;
	size_t count;
	bool said_unknown;
	unsigned records; /* line with the number of records; 0: none */
};

/* "2.6 GB", "80.0MB", "1.0 KiB" at text; 0 when there is no unit. */
static double unit_of(const char *unit, bool glued)
{
	static const char letters[] = "kMGTPE";
	const char *at;
	double base = glued ? 1024 : 1000;

	if (*unit == 'B')
		return 1;
	at = *unit == 'K' ? letters : strchr(letters, *unit);
	if (!*unit || !at)
		return 0;
	if (unit[1] == 'i')
		base = 1024;
	if (unit[1 + (unit[1] == 'i')] != 'B')
		return 0;
	return pow(base, (double)(at - letters + 1));
}

static double scaled(const char *text)
{
	const char *rest;
	double value, unit;

	if (!fields_leading(text, &value, &rest))
		return NAN;
	unit = unit_of(rest, rest[-1] != ' ');
	return unit > 0 ? value * unit : NAN;
}

/* What stands before "copied": the count of bytes, a size in parentheses, or both. */
static void parse_size(struct row *row, const char *line, const char *copied)
{
	const char *p = copied, *rest;

	row->bytes = row->rounded = NAN;
	while (p > line && *p != '(')
		p--;
	if (*p == '(')
		row->rounded = scaled(p + 1);
	/* The count is the number before "byte". */
	for (p = line; (p = strstr(p, " byte")) != NULL && p < copied; p++) {
		const char *digits = p;

		while (digits > line && strchr("0123456789", digits[-1]))
			digits--;
		if (fields_leading(digits, &row->bytes, &rest))
			return;
		row->bytes = NAN;
	}
}

/* "51.3763 seconds, 51.0 MB/s" */
static bool parse_time(struct row *row, const char *text)
{
	const char *rest;
	size_t n;

	if (!fields_leading(text, &row->seconds, &rest) || row->seconds < 0)
		return false;
	n = strcspn(rest, ", ");
	if (strncmp(rest, "s", n) && strncmp(rest, "seconds", n) &&
		strncmp(rest, "second", n))
		return false;
	rest += n;
	rest += strspn(rest, ", ");
	row->rate = scaled(rest);
	return !*rest || !isnan(row->rate) || !strncmp(rest, "Infinity", 8);
}

static bool word_is(const char *text, const char *word)
{
	return text && !strncmp(text, word, strlen(word)) &&
	       (text[strlen(word)] == ' ' || !text[strlen(word)]);
}

/* The part of a command from its word dd to the end of that command. */
static double operand(const char *command, const char *key)
{
	const char *text = reader_option(command, key);
	_cleanup_free_ char *word = NULL;
	uint64_t bytes;
	double value;

	if (!text)
		return NAN;
	word = strndup(text, strcspn(text, " "));
	if (!word)
		return NAN;
	if (fields_number(word, &value))
		return value;
	return units_parse_bytes(word, &bytes, NULL) ? NAN : (double)bytes;
}

/* Is a count of bytes what was rounded to two digits? */
static bool rounds_to(double bytes, double rounded)
{
	return isnan(rounded) || fabs(bytes / rounded - 1) < 0.06;
}

static void apply_command(struct row *row, const char *command)
{
	const char *of = reader_option(command, "of="), *conv, *oflag;
	double block = operand(command, "bs="), count = operand(command, "count=");

	row->reads = word_is(of, "/dev/null");
	row->writes = of && !row->reads;
	conv = reader_option(command, "conv=");
	oflag = reader_option(command, "oflag=");
	row->unsynced = row->writes && !(conv && memmem(conv, strcspn(conv, " "), "sync", 4)) &&
		!(oflag && memmem(oflag, strcspn(oflag, " "), "sync", 4));
	if (block >= 1 && block < 1e12)
		row->block_bytes = (uint64_t)block;
	if (isnan(row->bytes) && block >= 1 && count >= 1 &&
		rounds_to(block * count, row->rounded))
		row->bytes = block * count;
}

static bool is_same(const struct row *a, const struct row *b)
{
	return a->arm == b->arm && a->seconds == b->seconds &&
	       (a->bytes == b->bytes || (isnan(a->bytes) && isnan(b->bytes))) &&
	       (a->rate == b->rate || (isnan(a->rate) && isnan(b->rate)));
}

static void say_command(struct reader *r, struct state *s, const struct row *row)
{
	if (row->unsynced)
		reader_warn(r, row->line,
			"dd without sync: what was still in memory when it ended is not "
			"in its time");
	if (!row->reads && !row->writes && !s->said_unknown)
		reader_warn(r, row->line,
			"the command of dd is not in the text: whether it wrote, and "
			"whether anything was synced, is unknown");
	s->said_unknown |= !row->reads && !row->writes;
}

static void add_row(struct reader *r, struct state *s, struct row *row)
{
	const char *command = reader_command(r, "dd");
	struct row *rows;

	row->arm = reader_arm(r, NULL);
	row->line = reader_number(r);
	if (command)
		apply_command(row, command);
	if (s->count && is_same(&s->rows[s->count - 1], row)) {
		reader_warn(r, row->line,
			"the same line as line %u: a copy, not another run",
			s->rows[s->count - 1].line);
		return;
	}
	if (s->count >= READER_ROWS_MAX) {
		r->full = true;
		return;
	}
	rows = reallocarray(s->rows, s->count + 1, sizeof(*rows));
	if (!rows) {
		r->failed = true;
		return;
	}
	s->rows = rows;
	rows[s->count++] = *row;
	say_command(r, s, row);
}

/* "2932+0 records out" and the like. */
static bool is_records(const char *line)
{
	unsigned long long whole, part;
	int end = 0;

	return sscanf(line, "%llu+%llu records %*1[io]%n", &whole, &part, &end) == 2 && end;
}

static size_t take(struct reader *r, void *data)
{
	struct state *s = data;
	const char *line = reader_line(r), *copied = strstr(line, "copied");
	struct row row = {.rate = NAN};

	if (is_records(line)) {
		s->records = reader_number(r);
		return 1;
	}
	if (!copied || (copied[6] && copied[6] != ','))
		return 0;
	parse_size(&row, line, copied);
	if (isnan(row.bytes) && isnan(row.rounded))
		return 0; /* a sentence in which something is copied */
	if (is_records(reader_ahead(r, 1)))
		return 1;
	copied += strcspn(copied, ",");
	copied += strspn(copied, ", ");
	if (!parse_time(&row, copied)) {
		reader_malformed(r, "expected \"N bytes (...) copied, SECONDS s, RATE\": %s",
			*copied ? "the time and the rate cannot be read"
				: "time and rate are missing");
		return 1;
	}
	add_row(r, s, &row);
	return 1;
}

/* Sizes are in the names of phases when an arm has several. */
static bool several_sizes(const struct state *s, const struct row *row)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->rows[i].arm == row->arm && s->rows[i].bytes != row->bytes &&
			!(isnan(s->rows[i].bytes) && isnan(row->bytes)))
			return true;
	return false;
}

static void name_of(const struct state *s, const struct row *row, char name[64])
{
	const char *kind = row->reads ? "read" : row->writes ? "write" : "copy";

	if (several_sizes(s, row) && !isnan(row->bytes))
		snprintf(name, 64, "%s/s%.0f", kind, row->bytes);
	else
		snprintf(name, 64, "%s", kind);
}

static void finish_row(struct reader *r, const struct state *s, const struct row *row)
{
	static const char *const titles[] = {"dd", "dd write", "dd read"};
	struct result_phase *phase;
	char name[64];

	name_of(s, row, name);
	phase = reader_phase(r, row->arm, "dd", name,
		titles[row->reads ? 2 : row->writes]);
	if (!phase)
		return;
	reader_counter(phase, RESULT_THREADS, 1);
	if (row->seconds * 1e9 < 9e18)
		reader_counter(phase, RESULT_WALL, (uint64_t)(row->seconds * NS_PER_S + .5));
	if (row->bytes < 9e18) {
		reader_counter(phase, RESULT_BYTES, (uint64_t)row->bytes);
		reader_counter(phase, RESULT_REQUESTED_BYTES, (uint64_t)row->bytes);
	}
	if (row->block_bytes)
		reader_counter(phase, RESULT_BLOCK_BYTES, row->block_bytes);
	if (row->unsynced) {
		phase->marks |= RESULT_NOT_SYNCED;
		reader_counter(phase, RESULT_SYNCS, 0);
	}
	reader_rate(r, phase,
		row->bytes >= 0 && row->seconds > 0 ? row->bytes / row->seconds : row->rate);
}

static void finish(struct reader *r, void *data)
{
	struct state *s = data;

	if (!s->count && s->records)
		reader_warn(r, s->records,
			"dd told how many records, but not how long they took");
	for (size_t i = 0; i < s->count; i++)
		finish_row(r, s, &s->rows[i]);
}

static void deinit(void *data)
{
	struct state *s = data;

	free(s->rows);
}

const struct import_format import_dd = {
	.name = "dd",
	.help = "result lines of dd (coreutils since 2005, BusyBox)",
	.state_bytes = sizeof(struct state),
	.take = take,
	.finish = finish,
	.deinit = deinit,
};
