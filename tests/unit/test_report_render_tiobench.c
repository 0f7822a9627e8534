/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The tiobench tables.  tests/report/in holds reports that tiobench.pl printed (the
 * classic one: the rows of 0.3.3 whose values fitted, below the header that old perls put
 * into every section).  Each row is turned into counters and a histogram; rendered again
 * the report must be the same to the last blank.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fileio.h"
#include "core/macros.h"
#include "report/render_tiobench.h"

#define WALL_NS (1000 * NS_PER_S)

struct row {
	char identifier[64];
	unsigned size_mib, block_bytes, threads;
	double rate, cpu, mean_ms, max_ms, over_2s, over_10s, efficiency;
};

static double efficiency(double rate, double cpu)
{
	return rate / (cpu / 100 + 0.00001);
}

/* The CPU share that was cut to row->cpu in print and gives row->efficiency. */
static double full_cpu(const struct row *row)
{
	double step = row->cpu < 10 ? 1e-3 : row->cpu < 100 ? 1e-2 : .1;

	for (int i = 0; i < 1000; i++) {
		double cpu = row->cpu + step * (i + .5) / 1000;

		if (fabs(efficiency(row->rate, cpu) - row->efficiency) < .49)
			return cpu;
	}
	/* 0.3.3 had no 0.00001; its printed efficiency is a little larger. */
	return row->cpu + step / 2;
}

static void add_row(struct result_run *run, const char *phase, const struct row *row)
{
	_cleanup_(err_clear) struct err e = { 0 };
	struct result_phase *p;
	struct hist *h = malloc(sizeof(*h));

	assert_non_null(h);
	assert_int_equal(result_run_add_phase(run, phase, phase, &p, &e), 0);
	p->counters = (struct result_counters){
		.requested_bytes = (uint64_t)row->size_mib << 20,
		.block_bytes = row->block_bytes,
		.threads = row->threads,
		.bytes = (uint64_t)llround(row->rate * (1 << 20) * 1000),
		.wall_ns = WALL_NS,
		.system_ns = (uint64_t)llround(full_cpu(row) / 100 * WALL_NS),
	};
	hist_init(h);
	h->count = 100000;
	h->sum_ns = (uint64_t)llround(row->mean_ms * 1e6 * (double)h->count);
	h->max_ns = (uint64_t)llround(row->max_ms * 1e6);
	h->over_2s = (uint64_t)llround(row->over_2s / 100 * (double)h->count);
	h->over_10s = (uint64_t)llround(row->over_10s / 100 * (double)h->count);
	p->latency = h;
}

static const char *phase_of_title(const char *line)
{
	static const char *const titles[][2] = { { "Sequential Reads", "read/x" },
		{ "Random Reads", "rread/x" }, { "Sequential Writes", "write/x" },
		{ "Random Writes", "rwrite/x" } };

	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		if (!strcmp(line, titles[i][0]))
			return titles[i][1];
	return NULL;
}

/* All rows of a report; returns how many. */
static unsigned read_report(const char *report, struct result_run *run, char identifier[64])
{
	_cleanup_free_ char *copy = strdup(report);
	const char *phase = NULL;
	char *rest = copy, *line;
	unsigned rows = 0;

	while ((line = strsep(&rest, "\n"))) {
		const char *title = phase_of_title(line);
		struct row row;

		if (title)
			phase = title;
		if (sscanf(line, "%63s %u %u %u %lf %lf%% %lf %lf %lf %lf %lf", row.identifier,
			    &row.size_mib, &row.block_bytes, &row.threads, &row.rate,
			    &row.cpu, &row.mean_ms, &row.max_ms, &row.over_2s, &row.over_10s,
			    &row.efficiency) != 11)
			continue;
		add_row(run, phase, &row);
		strcpy(identifier, row.identifier);
		rows++;
	}
	return rows;
}

static void same_report_again(const char *path, enum tiobench_format format, unsigned rows)
{
	_cleanup_(result_run_deinit) struct result_run run = { 0 };
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };
	_cleanup_free_ char *report = NULL;
	char identifier[64];

	if (fileio_read(path, &report, NULL, &e))
		fail_msg("%s", err_message(&e));
	assert_int_equal(read_report(report, &run, identifier), rows);
	render_tiobench_units(format, &b);
	render_tiobench(&run, identifier, format, &b);
	assert_string_equal(strbuf_text(&b), report);
}

static void wide_reports_of_tiobench_come_out_the_same(void **state _unused_)
{
	same_report_again("tests/report/in/tiobench-wide-threads.txt", TIOBENCH_WIDE, 12);
	same_report_again("tests/report/in/tiobench-wide-matrix.txt", TIOBENCH_WIDE, 64);
	same_report_again("tests/report/in/tiobench-wide-direct.txt", TIOBENCH_WIDE, 8);
}

static void classic_rows_of_tiobench_come_out_the_same(void **state _unused_)
{
	same_report_again("tests/report/in/tiobench-classic.txt", TIOBENCH_CLASSIC, 4);
}

static void rendered_is(const struct row *rows, size_t n, enum tiobench_format format,
	const char *path)
{
	_cleanup_(result_run_deinit) struct result_run run = { 0 };
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };
	_cleanup_free_ char *want = NULL;

	for (size_t i = 0; i < n; i++)
		add_row(&run, i % 2 ? "rread/x" : "write/x", &rows[i]);
	render_tiobench(&run, rows[0].identifier, format, &b);
	if (fileio_read(path, &want, NULL, &e))
		fail_msg("%s", err_message(&e));
	assert_string_equal(strbuf_text(&b), want);
}

static void values_that_do_not_fit_widen_their_column(void **state _unused_)
{
	static const struct row rows[] = {
		{ "an-identifier-of-more-than-28-characters", 1048576, 1048576, 1024,
			123456789.5, 10723.4, 100000, 100000000, 100, 100, 0 },
		{ "", 16, 512, 8, 3703.7, 1545.6, .001, 4.07, 0, 0, 0 },
	};

	rendered_is(rows, 2, TIOBENCH_CLASSIC, "tests/report/out/tiobench-classic-widened.txt");
	rendered_is(rows, 2, TIOBENCH_WIDE, "tests/report/out/tiobench-wide-widened.txt");
}

static void cpu_is(double percent, const char *want)
{
	_cleanup_(result_run_deinit) struct result_run run = { 0 };
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	struct row row = { "x", 1, 1, 1, 1, 0, 0, 0, 0, 0, 0 };
	char text[256] = "";

	add_row(&run, "read/x", &row);
	run.phases[0].counters.system_ns = (uint64_t)llround(percent / 100 * WALL_NS);
	render_tiobench(&run, "x", TIOBENCH_WIDE, &b);
	sscanf(strstr(strbuf_text(&b), "1.00 ") + 5, "%255s", text);
	assert_string_equal(text, want);
}

static void cpu_is_cut_as_perl_does_but_never_wrong(void **state _unused_)
{
	cpu_is(60.4789, "60.47%");
	cpu_is(6.9249, "6.924%");
	cpu_is(399.04, "399.0%");
	cpu_is(100, "100%");
	cpu_is(0, "0%");
	cpu_is(60.5, "60.5%");
	cpu_is(0.00012345678, "0.000%");
	cpu_is(0.00001, "0%");	  /* perl: "1e-05%" */
	cpu_is(1545.6, "1546%");  /* perl: "1545.%" */
	cpu_is(123456.7, "123457%"); /* perl: "12345%" */
}

static void unknown_latencies_are_a_dash(void **state _unused_)
{
	_cleanup_(result_run_deinit) struct result_run run = { 0 };
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };
	struct row row = { "x", 1, 1, 1, 1, 0, 0, 0, 0, 0, 0 };

	add_row(&run, "read/x", &row);
	free(run.phases[0].latency);
	run.phases[0].latency = NULL;
	assert_int_equal(result_phase_add_metric(&run.phases[0], "latency_mean",
				 UNIT_NANOSECONDS, LOWER_IS_BETTER, 1234567, &e),
		0);
	render_tiobench(&run, "x", TIOBENCH_WIDE, &b);
	assert_non_null(strstr(strbuf_text(&b),
		" 0.000%     1.235           -         -        -   66667\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wide_reports_of_tiobench_come_out_the_same),
		cmocka_unit_test(classic_rows_of_tiobench_come_out_the_same),
		cmocka_unit_test(values_that_do_not_fit_widen_their_column),
		cmocka_unit_test(cpu_is_cut_as_perl_does_but_never_wrong),
		cmocka_unit_test(unknown_latencies_are_a_dash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
