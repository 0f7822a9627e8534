/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * pgbench: its report, the log of single transactions (-l), and tables of transactions a
 * second with percentiles as people publish them:
 *
 *	        R/W TPS   R-O TPS      50th   80th   90th   95th
 *	RAID      182       673         18     32     42     64
 *
 * A line of the log is "client transaction microseconds script epoch microseconds [lag]".
 * The report gives no percentiles; the log gives all.
 */

#include <stdio.h>
#include <string.h>

#include "import/formats.h"

#define NS_PER_MILLISECOND 1e6

struct state {
	unsigned clients; /* 0: not told */
	bool read_only, in_table;
	double mean_ms; /* -1: not told */
	double transactions; /* processed; -1: not told */
	struct hist *log; /* NULL: no line yet */
	size_t log_arm;
};

static struct result_phase *new_phase(struct reader *r, size_t arm, bool read_only,
	unsigned clients)
{
	const char *kind = read_only ? "read-only" : "read-write";
	struct result_phase *phase = reader_phase(r, arm, "pgbench",
		clients ? reader_threads_name(kind, clients).text : kind,
		read_only ? "read-only transactions" : "read-write transactions");

	if (clients)
		reader_counter(phase, RESULT_THREADS, clients);
	return phase;
}

static void put_tps(struct reader *r, struct result_phase *phase, double tps)
{
	reader_metric(r, phase, "operations", UNIT_OPERATIONS_PER_SECOND, HIGHER_IS_BETTER,
		tps);
}

/* "tps = 2967.655172 (without initial connection time)"; the older "including" line is
 * followed by "excluding". */
static void take_tps(struct reader *r, struct state *s, const char *text)
{
	struct result_phase *phase;
	const char *rest;
	double tps;

	if (!fields_leading(text, &tps, &rest) || tps < 0) {
		reader_malformed(r, "expected \"tps = N\"");
		return;
	}
	if (strstr(rest, "including"))
		return;
	phase = new_phase(r, reader_arm(r, NULL), s->read_only, s->clients);
	put_tps(r, phase, tps);
	if (s->mean_ms >= 0)
		reader_latency(r, phase, "latency_mean", s->mean_ms * NS_PER_MILLISECOND);
	if (s->transactions >= 0 && s->transactions < 1e18)
		reader_counter(phase, RESULT_OPERATIONS, (uint64_t)s->transactions);
}

static bool take_report(struct reader *r, struct state *s, const char *line)
{
	static const char *const noise[] = {"pgbench (", "starting vacuum", "progress: ",
		"scaling factor:", "query mode:", "number of threads:", "maximum number of",
		"number of transactions", "number of failed", "duration:", "latency stddev",
		"initial connection time", "statement latencies", "==> "};
	const char *rest;

	if (!strncmp(line, "pgbench (", 9) || !strncmp(line, "transaction type:", 17)) {
		s->clients = 0;
		s->mean_ms = s->transactions = -1;
		s->read_only = strstr(line, "select only") || strstr(line, "SELECT only");
		return true;
	}
	if (sscanf(line, "number of clients: %u", &s->clients) == 1)
		return true;
	if (!strncmp(line, "latency average = ", 18)) {
		if (!fields_leading(line + 18, &s->mean_ms, &rest))
			s->mean_ms = -1;
		return true;
	}
	if (!strncmp(line, "number of transactions actually processed: ", 43) &&
		!fields_leading(line + 43, &s->transactions, &rest))
		s->transactions = -1;
	if (!strncmp(line, "tps = ", 6)) {
		take_tps(r, s, line + 6);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(noise); i++)
		if (!strncmp(line, noise[i], strlen(noise[i])))
			return true;
	return false;
}

static bool take_log(struct reader *r, struct state *s, const char *line)
{
	_cleanup_(fields_deinit) struct fields f = {0};
	uint64_t v[7];

	if (*line < '0' || *line > '9')
		return false;
	fields_split(&f, line, " ");
	if (f.count != 6 && f.count != 7)
		return false;
	for (size_t i = 0; i < f.count; i++)
		if (!fields_whole(f.words[i], &v[i]))
			return false;
	if (v[4] < 1000000000 || v[5] > 999999 || v[2] > 1000000000000)
		return false;
	if (!s->log) {
		s->log = malloc(sizeof(*s->log));
		if (!s->log) {
			r->failed = true;
			return true;
		}
		hist_init(s->log);
		s->log_arm = reader_arm(r, NULL);
	}
	hist_record(s->log, v[2] * 1000);
	return true;
}

static bool is_table_head(const char *line)
{
	return strstr(line, "TPS") && strstr(line, "50th");
}

/* "RAID 182 673 18 32 42 64": six numbers, before them the name of an arm. */
static bool take_table(struct reader *r, const char *line)
{
	static const char *const names[] = {
		"latency_p50", "latency_p80", "latency_p90", "latency_p95"};
	_cleanup_(fields_deinit) struct fields f = {0};
	struct result_phase *phase;
	double v[6];
	size_t arm;

	fields_split(&f, line, " ");
	if (!f.count)
		return false;
	for (size_t i = 0; i < 6; i++)
		if (f.count < 7 || !fields_number(f.words[f.count - 6 + i], &v[i]) ||
			v[i] < 0) {
			reader_malformed(r, "expected a name, two rates and four percentiles");
			return true;
		}
	arm = reader_named_arm(r, f.words[0]);
	phase = new_phase(r, arm, false, 0);
	put_tps(r, phase, v[0]);
	for (size_t i = 0; i < 4; i++)
		reader_latency(r, phase, names[i], v[2 + i] * NS_PER_MILLISECOND);
	put_tps(r, new_phase(r, arm, true, 0), v[1]);
	return true;
}

static size_t take(struct reader *r, void *data)
{
	struct state *s = data;
	const char *line = reader_line(r);

	if (is_table_head(line))
		return s->in_table = true;
	if (s->in_table) {
		s->in_table = *line != '\0';
		return s->in_table && take_table(r, line);
	}
	return take_report(r, s, line) || take_log(r, s, line);
}

static void finish(struct reader *r, void *data)
{
	struct state *s = data;
	struct result_phase *phase;

	if (!s->log)
		return;
	phase = reader_phase(
		r, s->log_arm, "pgbench", "transactions", "transactions of the log");
	if (!phase)
		return;
	reader_counter(phase, RESULT_OPERATIONS, s->log->count);
	phase->latency = take_ptr(s->log);
	r->failed |= result_phase_derive_metrics(phase, NULL) != 0;
}

static void deinit(void *data)
{
	struct state *s = data;

	free(s->log);
}

const struct import_format import_pgbench = {
	.name = "pgbench",
	.help = "reports and logs (-l) of pgbench, and published tables of its percentiles",
	.state_bytes = sizeof(struct state),
	.take = take,
	.finish = finish,
	.deinit = deinit,
};
