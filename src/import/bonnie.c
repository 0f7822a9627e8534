/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The line of comma-separated values of bonnie++ 1.96 and later (CSV format 1.96 to
 * 1.98): 50 fields.  Rates are KiB/s, creations and seeks a second; "+++++" was over too
 * soon to be measured, and an empty field was not run.  The latencies at the end are the
 * longest.  The name of the machine is not quoted: what is more than 50 is part of it.
 *
 * Its tables for people are rounded, and are passed over.
 */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "import/formats.h"

enum { FIELDS = 50, NAME = 2, FIRST_LATENCY = 38 };

struct state {
	bool in_report;
	unsigned passed; /* line of the last table; 0: none */
	size_t rows;
};

/* Field of the value (the CPU is behind it), place among the latencies. */
static const struct {
	const char *phase, *title;
	size_t field, latency;
	double bytes; /* of one unit; 0: operations */
} kinds[] = {
	{"putc", "sequential output per character", 9, 0, 1024},
	{"write", "sequential output of blocks", 11, 1, 1024},
	{"rewrite", "rewrite", 13, 2, 1024},
	{"getc", "sequential input per character", 15, 3, 1024},
	{"read", "sequential input of blocks", 17, 4, 1024},
	{"seek", "random seeks", 19, 5, 0},
	{"create", "sequential create", 26, 6, 0},
	{"stat", "sequential stat", 28, 7, 0},
	{"delete", "sequential delete", 30, 8, 0},
	{"create-random", "random create", 32, 9, 0},
	{"stat-random", "random stat", 34, 10, 0},
	{"delete-random", "random delete", 36, 11, 0},
};

/* "22467us", "3ms", "1s" in nanoseconds; NAN: none. */
static double latency_of(const char *text)
{
	const char *rest;
	double value;

	if (!fields_leading(text, &value, &rest) || value < 0)
		return NAN;
	if (!strcmp(rest, "us"))
		return value * 1e3;
	if (!strcmp(rest, "ms"))
		return value * 1e6;
	return !strcmp(rest, "s") ? value * 1e9 : NAN;
}

/* Cuts a copy of the line into fields; false when they are fewer than there must be. */
static bool split(char *copy, char *out[FIELDS])
{
	size_t commas = 0, extra, n = 0;

	for (const char *p = copy; *p; p++)
		commas += *p == ',';
	if (commas + 1 < FIELDS)
		return false;
	extra = commas + 1 - FIELDS;
	out[n++] = copy;
	for (char *p = copy; *p; p++) {
		if (*p != ',')
			continue;
		if (n == NAME + 1 && extra) { /* a comma in the name */
			extra--;
			continue;
		}
		*p = '\0';
		out[n++] = p + 1;
	}
	return n == FIELDS;
}

static void put(struct reader *r, struct state *s, size_t arm, char *const fields[FIELDS],
	size_t kind)
{
	double value = NAN, cpu = NAN;
	double latency = latency_of(fields[FIRST_LATENCY + kinds[kind].latency]);
	struct result_phase *phase;

	if (!fields_number(fields[kinds[kind].field], &value) || value < 0)
		value = NAN;
	if (!fields_number(fields[kinds[kind].field + 1], &cpu) || cpu < 0)
		cpu = NAN;
	if (isnan(value) && isnan(latency))
		return;
	phase = reader_phase(r, arm, "bonnie", kinds[kind].phase, kinds[kind].title);
	s->rows++;
	if (kinds[kind].bytes > 0)
		reader_rate(r, phase, value * kinds[kind].bytes);
	else
		reader_metric(r, phase, "operations", UNIT_OPERATIONS_PER_SECOND,
			HIGHER_IS_BETTER, value);
	reader_latency(r, phase, "latency_max", latency);
	reader_metric(r, phase, "cpu", UNIT_FRACTION, NO_DIRECTION, cpu / 100);
}

static size_t take_csv(struct reader *r, struct state *s, const char *line)
{
	_cleanup_free_ char *copy = strdup(line);
	char *fields[FIELDS];
	size_t arm, commas = 0;

	s->in_report = false;
	if (!copy) {
		r->failed = true;
		return 1;
	}
	if (!split(copy, fields)) {
		reader_malformed(r, "expected %d fields with commas between them", FIELDS);
		return 1;
	}
	for (const char *p = line; *p; p++)
		commas += *p == ',';
	if (commas + 1 > FIELDS)
		reader_warn(r, reader_number(r),
			"the name \"%s\" has a comma, which shifts the fields for others",
			fields[NAME]);
	arm = reader_arm(r, *fields[NAME] ? fields[NAME] : NULL);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		put(r, s, arm, fields, i);
	return 1;
}

static size_t take(struct reader *r, void *data)
{
	struct state *s = data;
	const char *line = reader_line(r);

	if (!strncmp(line, "1.9", 3) && isdigit((unsigned char)line[3]) && line[4] == ',')
		return take_csv(r, s, line);
	if (!strncmp(line, "Using uid:", 10) || (!strncmp(line, "Version ", 8) &&
						       strstr(line, "Sequential"))) {
		s->passed = reader_number(r);
		return s->in_report = true;
	}
	return s->in_report && strncmp(line, "rc=", 3);
}

static void finish(struct reader *r, void *data)
{
	struct state *s = data;

	if (s->passed && !s->rows)
		reader_warn(r, s->passed,
			"a table of bonnie++ for people: its line of commas is wanted");
}

const struct import_format import_bonnie = {
	.name = "bonnie",
	.help = "CSV lines of bonnie++ 1.96 and later",
	.state_bytes = sizeof(struct state),
	.take = take,
	.finish = finish,
};
