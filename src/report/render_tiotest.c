/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * tiotest's boxes and its terse lines; see render_tiotest.h.  The phases of a combination
 * have the same words behind the "/" of their names.  Rates are MiB/s though labelled
 * MB/s, CPU is that of the process over the time of the phase, and a phase without
 * operations has no row.
 */

#include "report/render_tiotest.h"

#include <stdbool.h>
#include <string.h>

#include "core/clock.h"
#include "report/layouts.h"

static const struct row {
	const char *phase, *terse, *title;
	int width; /* of the amount */
} rows[] = {
	{"write/", "write", "Write", 11},
	{"rwrite/", "rwrite", "Random Write", 4},
	{"read/", "read", "Read", 12},
	{"rread/", "rread", "Random Read", 5},
};

struct latency {
	double avg_ms, max_ms, over_2s, over_10s;
};

static struct latency latency_of(const struct hist *h)
{
	double n = h && h->count ? (double)h->count : 1;

	if (!h)
		return (struct latency){0};
	return (struct latency){.avg_ms = (double)h->sum_ns / n / NS_PER_MS,
		.max_ms = (double)h->max_ns / NS_PER_MS,
		.over_2s = 100 * (double)h->over_2s / n,
		.over_10s = 100 * (double)h->over_10s / n};
}

static double seconds(uint64_t ns)
{
	return (double)ns / NS_PER_S;
}

static double megabytes(const struct result_phase *p)
{
	return (double)p->counters.bytes / (1 << 20);
}

static const struct result_phase *find(
	const struct result_run *run, const struct row *row, const char *combination)
{
	size_t n = strlen(row->phase);

	for (size_t i = 0; i < run->phase_count; i++)
		if (!strncmp(run->phases[i].name, row->phase, n) &&
			!strcmp(run->phases[i].name + n, combination) &&
			run->phases[i].counters.operations)
			return &run->phases[i];
	return NULL;
}

/* Everything that the phases of a combination have recorded, as one latency. */
static struct latency total_of(const struct result_run *run, const char *combination)
{
	uint64_t count = 0, sum_ns = 0, max_ns = 0, over_2s = 0, over_10s = 0;
	double n;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct result_phase *p = find(run, &rows[i], combination);

		if (!p || !p->latency)
			continue;
		count += p->latency->count;
		sum_ns += p->latency->sum_ns;
		max_ns = MAX(max_ns, p->latency->max_ns);
		over_2s += p->latency->over_2s;
		over_10s += p->latency->over_10s;
	}
	n = count ? (double)count : 1;
	return (struct latency){(double)sum_ns / n / NS_PER_MS,
		(double)max_ns / NS_PER_MS, 100 * (double)over_2s / n,
		100 * (double)over_10s / n};
}

static void add_terse(const struct result_run *run, const char *combination,
	struct strbuf *out)
{
	struct latency t = total_of(run, combination);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct result_phase *p = find(run, &rows[i], combination);
		struct latency l;

		if (!p)
			continue;
		l = latency_of(p->latency);
		strbuf_addf(out, "%s:%.5f,%.5f,%.5f,%.5f,%.5f,%.5f,%.5f,%.5f\n",
			rows[i].terse, megabytes(p), seconds(p->counters.wall_ns),
			seconds(p->counters.user_ns), seconds(p->counters.system_ns),
			l.avg_ms, l.max_ms, l.over_2s, l.over_10s);
	}
	strbuf_addf(out, "total:%.5f,%.5f,%.5f,%.5f\n", t.avg_ms, t.max_ms, t.over_2s,
		t.over_10s);
}

static void add_latency(const char *title, struct latency l, struct strbuf *out)
{
	strbuf_addf(out, "| %-12s | %12.3f ms | %12.3f ms | %8.5f | %9.5f |\n", title,
		l.avg_ms, l.max_ms, l.over_2s, l.over_10s);
}

static void add_rates(const struct result_run *run, const char *combination,
	struct strbuf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct result_phase *p = find(run, &rows[i], combination);
		double wall;

		if (!p)
			continue;
		wall = seconds(MAX(p->counters.wall_ns, UINT64_C(1)));
		strbuf_addf(out,
			"| %s %*.0f MBs | %6.1f s | %7.3f MB/s | %5.1f %%  | %5.1f %% "
			"|\n",
			rows[i].title, rows[i].width, megabytes(p), wall,
			megabytes(p) / wall, 100 * seconds(p->counters.user_ns) / wall,
			100 * seconds(p->counters.system_ns) / wall);
	}
}

static void add_box(const struct result_run *run, const char *combination,
	unsigned threads, struct strbuf *out)
{
	strbuf_addf(out, "Tiotest results for %u concurrent io threads:\n", threads);
	strbuf_add(out,
		",----------------------------------------------------------------------.\n"
		"| Item                  | Time     | Rate         | Usr CPU  | Sys CPU |\n"
		"+-----------------------+----------+--------------+----------+---------+"
		"\n");
	add_rates(run, combination, out);
	strbuf_add(out,
		"`----------------------------------------------------------------------'\n"
		"Tiotest latency results:\n"
		",-------------------------------------------------------------------------."
		"\n"
		"| Item         | Average latency | Maximum latency | % >2 sec | % >10 sec |"
		"\n"
		"+--------------+-----------------+-----------------+----------+-----------+"
		"\n");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct result_phase *p = find(run, &rows[i], combination);

		if (p)
			add_latency(rows[i].title, latency_of(p->latency), out);
	}
	strbuf_add(out,
		"|--------------+-----------------+-----------------+----------+-----------|"
		"\n");
	add_latency("Total", total_of(run, combination), out);
	strbuf_add(out,
		"`--------------+-----------------+-----------------+----------+-----------'"
		"\n\n");
}

/* Combinations begin with their sequential writes. */
void render_tiotest(
	const struct result_run *run, enum tiotest_format format, struct strbuf *out)
{
	for (size_t i = 0; i < run->phase_count; i++) {
		const struct result_phase *p = &run->phases[i];
		const char *combination;

		if (strncmp(p->name, "write/", strlen("write/")))
			continue;
		combination = p->name + strlen("write/");
		if (format == TIOTEST_TERSE)
			add_terse(run, combination, out);
		else
			add_box(run, combination, p->counters.threads, out);
	}
}

static void add_boxes(
	const struct result_run *run, const char *identifier _unused_, struct strbuf *out)
{
	render_tiotest(run, TIOTEST_BOX, out);
}

static void add_terse_lines(
	const struct result_run *run, const char *identifier _unused_, struct strbuf *out)
{
	render_tiotest(run, TIOTEST_TERSE, out);
}

/* All that the boxes show; a published table lacks some of it. */
static bool has_counters(const struct result_run *run)
{
	const unsigned shown = RESULT_BYTES | RESULT_OPERATIONS | RESULT_WALL |
			       RESULT_USER | RESULT_SYSTEM;

	for (size_t i = 0; i < run->phase_count; i++)
		if (run->phases[i].counters.unknown & shown)
			return false;
	return true;
}

const struct report_layout report_layout_tiotest = {
	.name = "tiotest",
	.type = "tiobench",
	.has = has_counters,
	.lacks = " with times and amounts",
	.render = add_boxes,
};

const struct report_layout report_layout_tiotest_terse = {
	.name = "tiotest-terse",
	.type = "tiobench",
	.has = has_counters,
	.lacks = " with times and amounts",
	.render = add_terse_lines,
};
