/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * PostMark: its report, and the thirteen numbers of "set report terse".  Its clock has
 * whole seconds, and nothing is synced.
 */

#include <stdio.h>
#include <string.h>

#include "import/formats.h"

#define MEGABYTE 1048576.0

struct state {
	bool in_report;
	double seconds; /* of transactions; 0: not told */
};

/* Lines of the report: words, the phase, and what one of them is in bytes (0: a file). */
static const struct {
	const char *words, *phase, *title;
	double bytes;
} kinds[] = {
	{"seconds of transactions", "transactions", "transactions", 0},
	{"created", "create", "files created", 0},
	{"Creation alone", "create-alone", "files created alone", 0},
	{"Deletion alone", "delete-alone", "files deleted alone", 0},
	{"Mixed with", NULL, NULL, 0},
	{"deleted", "delete", "files deleted", 0},
	{"appended", "append", "files appended to", 0},
	{"megabytes read", "data-read", "data read", MEGABYTE},
	{"megabytes written", "data-write", "data written", MEGABYTE},
	{"read", "read", "files read", 0},
};

/* Of the terse line, by place; NULL: told elsewhere. */
static const struct {
	const char *phase, *title;
	double bytes;
} terse[] = {
	{NULL, NULL, 0},
	{NULL, NULL, 0},
	{"transactions", "transactions", 0},
	{"create", "files created", 0},
	{"create-alone", "files created alone", 0},
	{NULL, NULL, 0},
	{"read", "files read", 0},
	{"append", "files appended to", 0},
	{"delete", "files deleted", 0},
	{"delete-alone", "files deleted alone", 0},
	{NULL, NULL, 0},
	{"data-read", "data read", 1},
	{"data-write", "data written", 1},
};

static void put(struct reader *r, const char *name, const char *title, double value,
	double bytes)
{
	struct result_phase *phase =
		reader_phase(r, reader_arm(r, NULL), "postmark", name, title);

	reader_counter(phase, RESULT_SYNCS, 0);
	if (bytes > 0)
		reader_rate(r, phase, value * bytes);
	else
		reader_metric(r, phase, "operations", UNIT_OPERATIONS_PER_SECOND,
			HIGHER_IS_BETTER, value);
}

static void warn_of_clock(struct reader *r, double seconds)
{
	if (seconds < 10)
		reader_warn(r, reader_number(r),
			"PostMark counts whole seconds: of %.0f s each number may be wrong by "
			"as much as a second makes",
			seconds);
}

/* "1556 created (1556 per second)", "1 seconds of transactions (2000 per second)" */
static bool take_line(struct reader *r, const char *line)
{
	const char *per = strchr(line, '('), *rest;
	double value, first;

	if (!per)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strstr(line, kinds[i].words) || strstr(line, kinds[i].words) > per)
			continue;
		if (!fields_leading(per + 1, &value, &rest) || !strstr(rest, "per second")) {
			reader_malformed(r, "expected \"(N per second)\"");
			return true;
		}
		if (!i && fields_leading(line, &first, &rest))
			warn_of_clock(r, first);
		if (kinds[i].phase)
			put(r, kinds[i].phase, kinds[i].title, value, kinds[i].bytes);
		return true;
	}
	return false;
}

static bool take_terse(struct reader *r, const char *line)
{
	_cleanup_(fields_deinit) struct fields f = {0};
	double values[ARRAY_SIZE(terse)];

	fields_split(&f, line, " ");
	if (f.count != ARRAY_SIZE(terse))
		return false;
	for (size_t i = 0; i < f.count; i++)
		if (!fields_number(f.words[i], &values[i]) || values[i] < 0)
			return false;
	warn_of_clock(r, values[1]);
	for (size_t i = 0; i < f.count; i++)
		if (terse[i].phase)
			put(r, terse[i].phase, terse[i].title, values[i], terse[i].bytes);
	return true;
}

static size_t take(struct reader *r, void *data)
{
	struct state *s = data;
	const char *line = reader_line(r);

	line += strspn(line, " ");
	if (!strncmp(line, "PostMark v", 10))
		return s->in_report = true;
	if (!s->in_report || !strncmp(line, "rc=", 3))
		return 0;
	if (take_line(r, line) || take_terse(r, line))
		return 1;
	/* "Time:", "Creating files...Done" */
	return !*line || strchr(line, ':') || strstr(line, "Done") || strstr(line, "total") ||
	       strstr(line, "Reading configuration");
}

const struct import_format import_postmark = {
	.name = "postmark",
	.help = "reports of PostMark, also terse ones",
	.state_bytes = sizeof(struct state),
	.take = take,
};
