/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * fs_mark: a row for each iteration, with files a second, and with -v the least, mean and
 * longest time of each call in microseconds.  Its count of files is a running total, so
 * how many an iteration made is not known from a row.
 */

#include <stdio.h>
#include <string.h>

#include "import/formats.h"

enum { PLAIN = 5, VERBOSE = PLAIN + 18, FSYNC = PLAIN + 6 };

struct state {
	unsigned threads; /* 0: unknown */
	bool in_header, in_table;
};

static void put_row(struct reader *r, struct state *s, const double *v, size_t count)
{
	struct result_phase *phase = reader_phase(r, reader_arm(r, NULL), "fs_mark",
		s->threads ? reader_threads_name("create", s->threads).text : "create",
		"files created");

	if (s->threads)
		reader_counter(phase, RESULT_THREADS, s->threads);
	if (v[2] < 1e18)
		reader_counter(phase, RESULT_BLOCK_BYTES, (uint64_t)v[2]);
	reader_metric(r, phase, "operations", UNIT_OPERATIONS_PER_SECOND, HIGHER_IS_BETTER,
		v[3]);
	if (count == VERBOSE && v[FSYNC + 2] > 0) { /* all zero: there was none */
		reader_latency(r, phase, "sync_mean", v[FSYNC + 1] * 1000);
		reader_latency(r, phase, "sync_max", v[FSYNC + 2] * 1000);
	}
}

static size_t take_row(struct reader *r, struct state *s, const char *line)
{
	_cleanup_(fields_deinit) struct fields f = {0};
	double values[VERBOSE] = {0};
	size_t good = 0;

	fields_split(&f, line, " ");
	if (!f.count)
		return 0;
	while (good < f.count && good < VERBOSE &&
		fields_number(f.words[good], &values[good]) && values[good] >= 0)
		good++;
	if (good == f.count && (good == PLAIN || good == VERBOSE)) {
		put_row(r, s, values, good);
		return 1;
	}
	if (good < 2)
		return 0;
	reader_malformed(r, "expected \"FSUse%% Count Size Files/sec Overhead\", and with -v "
			    "three times for each of six calls");
	return 1;
}

static size_t take(struct reader *r, void *data)
{
	struct state *s = data;
	const char *line = reader_line(r);
	const char *at;

	if (*line == '#' && strstr(line, "fs_mark ")) {
		*s = (struct state){.in_header = true};
		return 1;
	}
	if (*line == '#' && (at = strstr(line, " thread(s) starting"))) {
		while (at > line && strchr("0123456789", at[-1]))
			at--;
		sscanf(at, "%u", &s->threads);
		return 1;
	}
	if (!strncmp(line, "FSUse%", 6))
		return s->in_table = true;
	if (s->in_table && *line)
		return take_row(r, s, line);
	return s->in_header && *line == '#';
}

const struct import_format import_fsmark = {
	.name = "fsmark",
	.help = "tables of fs_mark, with and without -v",
	.state_bytes = sizeof(struct state),
	.take = take,
};
