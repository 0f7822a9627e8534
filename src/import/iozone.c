/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Reports of iozone: its throughput mode (-t), and the table of a single process.
 *
 * In throughput mode "children see" is a sum of rates of different times, "parent sees"
 * is all bytes over the time of the parent; the latter is the rate, and both are kept.
 * Kilobytes are 1024 bytes.  With -O the numbers are operations a second.
 *
 * A row of the table has a number for each test that ran, in the order of the header;
 * which ran is in the command (-i).
 */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "import/formats.h"

struct state {
	bool in_report;
	double record_bytes, file_bytes; /* NAN: unknown */
	/* The present test. */
	size_t arm;
	unsigned children; /* 0: none begun */
	size_t kind;
	bool counts_operations;
	double see[2]; /* children, parent */
	double each[3]; /* min, max, avg of a process */
	double min_xfer;
};

static const struct {
	const char *title, *phase;
} kinds[] = {
	{"initial writers", "write"},
	{"rewriters", "rewrite"},
	{"readers", "read"},
	{"re-readers", "reread"},
	{"reverse readers", "reverse-read"},
	{"stride readers", "stride-read"},
	{"random readers", "rread"},
	{"random writers", "rwrite"},
	{"mixed workload", "mixed"},
	{"pwrite writers", "pwrite"},
	{"pread readers", "pread"},
	{"fwriters", "fwrite"},
	{"freaders", "fread"},
};

/* The columns of the table, and the number of the test (-i) that fills them. */
static const struct {
	const char *phase, *title;
	unsigned test;
} columns[] = {
	{"write", "initial writers", 0},
	{"rewrite", "rewriters", 0},
	{"read", "readers", 1},
	{"reread", "re-readers", 1},
	{"rread", "random readers", 2},
	{"rwrite", "random writers", 2},
	{"reverse-read", "reverse readers", 3},
	{"record-rewrite", "record rewriters", 4},
	{"stride-read", "stride readers", 5},
	{"fwrite", "fwriters", 6},
	{"frewrite", "frewriters", 6},
	{"fread", "freaders", 7},
	{"freread", "fre-readers", 7},
};

/* Which of each[] a line is about. */
static const char *const each_words[] = {"Min throughput per process",
	"Max throughput per process", "Avg throughput per process"};

static void put_each(struct reader *r, struct result_phase *phase, const struct state *s)
{
	static const char *const names[] = {"child_min", "child_max", "child_avg"};

	for (size_t i = 0; i < 3; i++)
		reader_metric(r, phase, names[i], UNIT_BYTES_PER_SECOND,
			i == 1 ? NO_DIRECTION : HIGHER_IS_BETTER, s->each[i]);
	reader_metric(
		r, phase, "min_xfer", UNIT_BYTES, NO_DIRECTION, s->min_xfer);
}

static void put_common(
	struct result_phase *phase, const struct state *s, unsigned children)
{
	reader_counter(phase, RESULT_THREADS, children);
	if (s->record_bytes > 0 && s->record_bytes < 1e18)
		reader_counter(phase, RESULT_BLOCK_BYTES, (uint64_t)s->record_bytes);
	if (s->file_bytes * children > 0 && s->file_bytes * children < 1e18)
		reader_counter(phase, RESULT_REQUESTED_BYTES,
			(uint64_t)(s->file_bytes * children));
}

static void flush(struct reader *r, struct state *s)
{
	struct result_phase *phase;

	if (!s->children)
		return;
	phase = reader_phase(r, s->arm, "throughput",
		reader_threads_name(kinds[s->kind].phase, s->children).text,
		kinds[s->kind].title);
	put_common(phase, s, s->children);
	if (s->counts_operations) {
		reader_metric(r, phase, "operations", UNIT_OPERATIONS_PER_SECOND,
			HIGHER_IS_BETTER, s->see[1]);
	} else {
		reader_rate(r, phase, s->see[1]);
		reader_metric(r, phase, "children", UNIT_BYTES_PER_SECOND,
			HIGHER_IS_BETTER, s->see[0]);
		reader_metric(r, phase, "parent", UNIT_BYTES_PER_SECOND,
			HIGHER_IS_BETTER, s->see[1]);
		put_each(r, phase, s);
	}
	s->children = 0;
}

/* "= 397559.20 kB/sec" behind the words of a line. */
static bool value_of(const char *line, double *value, bool *operations)
{
	const char *at = strchr(line, '='), *rest;

	if (!at || !fields_leading(at + 1 + strspn(at + 1, " "), value, &rest) || *value < 0)
		return false;
	*operations = !strncmp(rest, "ops", 3);
	if (!*operations && strncasecmp(rest, "kB", 2))
		return false;
	*value *= *operations ? 1 : 1024;
	return true;
}

static bool find_kind(const char *text, size_t *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t n = strlen(kinds[i].title);

		if (!strncmp(text, kinds[i].title, n) && strchr(" =", text[n])) {
			*kind = i;
			return true;
		}
	}
	return false;
}

/* "Children see throughput for  4 initial writers = ..." */
static bool take_see(struct reader *r, struct state *s, const char *line)
{
	static const char *const who[] = {"Children see", "Parent sees"};
	unsigned children;
	size_t kind = 0;
	int end = 0;

	for (size_t i = 0; i < 2; i++) {
		char pattern[64];

		if (strncmp(line, who[i], strlen(who[i])))
			continue;
		snprintf(pattern, sizeof(pattern), "%s throughput for %%u %%n", who[i]);
		if (sscanf(line, pattern, &children, &end) != 1 || !end || !children ||
			children > 1000000 || !find_kind(line + end, &kind)) {
			reader_malformed(r, "expected \"%s throughput for N KIND\"", who[i]);
			return true;
		}
		if (!i || !s->children) {
			flush(r, s);
			s->see[0] = s->see[1] = s->min_xfer = NAN;
			s->each[0] = s->each[1] = s->each[2] = NAN;
			s->arm = reader_arm(r, NULL);
			s->children = children;
			s->kind = kind;
		}
		if (!value_of(line + end, &s->see[i], &s->counts_operations)) {
			s->see[i] = NAN;
			reader_malformed(r, "expected \"= N kB/sec\" or \"= N ops/sec\"");
		}
		return true;
	}
	return false;
}

static bool take_each(struct state *s, const char *line)
{
	bool operations;

	for (size_t i = 0; i < 3; i++)
		if (!strncmp(line, each_words[i], strlen(each_words[i]))) {
			if (!value_of(line, &s->each[i], &operations))
				s->each[i] = NAN;
			return true;
		}
	if (strncmp(line, "Min xfer", 8))
		return false;
	if (!value_of(line, &s->min_xfer, &operations))
		s->min_xfer = NAN;
	return true;
}

/* "Record Size 4 kB", "File size set to 32768 kB" */
static double setting(const char *line, const char *words)
{
	const char *rest;
	double value;

	if (strncmp(line, words, strlen(words)))
		return NAN;
	line += strlen(words);
	line += strspn(line, " ");
	return fields_leading(line, &value, &rest) && !strncasecmp(rest, "kB", 2)
		       ? value * 1024
		       : NAN;
}

/* Did test n run?  Without -i all do. */
static bool ran(const char *command, unsigned test)
{
	bool any = false;

	for (const char *p = command; p && (p = strstr(p, " -i")) != NULL; p += 3) {
		any = true;
		if (strtoul(p + 3, NULL, 10) == test)
			return true;
	}
	return !any;
}

static bool take_table(struct reader *r, struct state *s, const char *line)
{
	const char *command = reader_command(r, "iozone");
	_cleanup_(fields_deinit) struct fields f = {0};
	uint64_t values[FIELDS_MAX];
	size_t at = 2, arm;

	fields_split(&f, line, " ");
	for (size_t i = 0; i < f.count; i++)
		if (!fields_whole(f.words[i], &values[i]))
			return false;
	if (f.count < 3 || f.count > ARRAY_SIZE(columns) + 2)
		return false;
	arm = reader_arm(r, NULL);
	s->file_bytes = (double)values[0] * 1024;
	s->record_bytes = (double)values[1] * 1024;
	for (size_t i = 0; i < ARRAY_SIZE(columns) && at < f.count; i++) {
		struct result_phase *phase;

		if (!ran(command, columns[i].test))
			continue;
		phase = reader_phase(r, arm, "throughput",
			reader_threads_name(columns[i].phase, 1).text, columns[i].title);
		put_common(phase, s, 1);
		reader_rate(r, phase, (double)values[at++] * 1024);
	}
	return true;
}

static size_t take(struct reader *r, void *data)
{
	struct state *s = data;
	const char *line = reader_line(r);
	double value;

	line += strspn(line, " ");
	if (!strncmp(line, "Iozone: Performance Test", 24)) {
		flush(r, s);
		s->record_bytes = s->file_bytes = NAN;
		return s->in_report = true;
	}
	if (take_see(r, s, line) || (s->children && take_each(s, line)))
		return 1;
	if (!s->in_report)
		return 0;
	value = setting(line, "Record Size");
	s->record_bytes = isnan(value) ? s->record_bytes : value;
	value = setting(line, "File size set to");
	s->file_bytes = isnan(value) ? s->file_bytes : value;
	if (strstr(line, "iozone test complete")) {
		flush(r, s);
		s->in_report = false;
		return 1;
	}
	take_table(r, s, line);
	return 1;
}

static void finish(struct reader *r, void *data)
{
	flush(r, data);
}

const struct import_format import_iozone = {
	.name = "iozone",
	.help = "throughput reports of iozone (-t), and its table of one process",
	.state_bytes = sizeof(struct state),
	.take = take,
	.finish = finish,
};
