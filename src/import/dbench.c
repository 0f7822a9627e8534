/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * dbench 4: the line with its throughput, and the table of operations above it, which is
 * kept until that line tells the number of clients.  Its megabytes are 10^6 bytes.
 */

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "import/formats.h"

enum { OPERATIONS_MAX = 32, NAME = 24 };

struct operation {
	char name[NAME];
	double count, mean_ms, max_ms;
};

struct state {
	bool in_report;
	struct operation operations[OPERATIONS_MAX];
	size_t count;
};

/* "Flush 331 0.684 9.599" */
static bool take_operation(struct state *s, const char *line)
{
	struct operation o;
	int end = 0;

	if (sscanf(line, " %23[A-Za-z] %lf %lf %lf%n", o.name, &o.count, &o.mean_ms, &o.max_ms,
		    &end) != 4 ||
		line[end] || !(o.count >= 0 && o.mean_ms >= 0 && o.max_ms >= 0) ||
		!(o.count < 1e18 && o.mean_ms < 1e12 && o.max_ms < 1e12))
		return false;
	if (s->count < OPERATIONS_MAX)
		s->operations[s->count++] = o;
	return true;
}

static void put_operations(
	struct reader *r, const struct state *s, size_t arm, unsigned clients)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct operation *o = &s->operations[i];
		char name[NAME];
		struct result_phase *phase;

		for (size_t k = 0; k < NAME; k++)
			name[k] = (char)tolower((unsigned char)o->name[k]);
		phase = reader_phase(r, arm, "dbench",
			reader_threads_name(name, clients).text, o->name);
		reader_counter(phase, RESULT_THREADS, clients);
		reader_counter(phase, RESULT_OPERATIONS, (uint64_t)o->count);
		reader_latency(r, phase, "latency_mean", o->mean_ms * 1e6);
		reader_latency(r, phase, "latency_max", o->max_ms * 1e6);
	}
}

/* "Throughput 34.5038 MB/sec (sync open)  2 clients  2 procs  max_latency=30.935 ms" */
static void take_throughput(struct reader *r, struct state *s, const char *line)
{
	const char *rest, *at, *latency = strstr(line, "max_latency=");
	double rate, max_ms;
	unsigned clients = 0;
	struct result_phase *phase;
	size_t arm;

	line += strlen("Throughput ");
	for (at = strstr(line, " client"); at && at > line &&
					  strchr("0123456789", at[-1]);)
		at--;
	if (!fields_leading(line, &rate, &rest) || rate < 0 || strncmp(rest, "MB/sec", 6) ||
		!at || sscanf(at, "%u", &clients) != 1 || !clients || clients > 1000000) {
		reader_malformed(r, "expected \"Throughput N MB/sec N clients\"");
		return;
	}
	arm = reader_arm(r, NULL);
	phase = reader_phase(
		r, arm, "dbench", reader_threads_name("load", clients).text, "load");
	reader_counter(phase, RESULT_THREADS, clients);
	reader_rate(r, phase, rate * 1e6);
	if (latency && fields_leading(latency + strlen("max_latency="), &max_ms, &rest) &&
		max_ms >= 0)
		reader_latency(r, phase, "latency_max", max_ms * 1e6);
	put_operations(r, s, arm, clients);
}

static bool is_progress(const char *line)
{
	static const char *const words[] = {" execute ", " warmup ", " cleanup ",
		"prepared for launch", "releasing clients", "Running for", "Operation",
		"barrier semaphore", "----"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(line, words[i]))
			return true;
	return !*line;
}

static size_t take(struct reader *r, void *data)
{
	struct state *s = data;
	const char *line = reader_line(r);

	if (!strncmp(line, "dbench version", 14)) {
		s->count = 0;
		return s->in_report = true;
	}
	if (!strncmp(line, "Throughput ", 11) && strstr(line, "MB/sec")) {
		take_throughput(r, s, line);
		s->count = 0;
		s->in_report = false;
		return 1;
	}
	return s->in_report && (is_progress(line) || take_operation(s, line));
}

const struct import_format import_dbench = {
	.name = "dbench",
	.help = "reports of dbench 4",
	.state_bytes = sizeof(struct state),
	.take = take,
};
