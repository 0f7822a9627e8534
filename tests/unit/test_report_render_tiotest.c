/* SPDX-License-Identifier: GPL-3.0-or-later */

/* tiotest's box and its terse lines, and the table of transactions, from made-up runs. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/macros.h"
#include "report/render_pgbench.h"
#include "report/render_tiotest.h"

static void assert_close(double value, double wanted, double within)
{
	if (fabs(value - wanted) > within)
		fail_msg("%f is not %f", value, wanted);
}

static struct result_phase *add_phase(struct result_run *run, const char *name)
{
	struct result_phase *phase;

	assert_int_equal(result_run_add_phase(run, name, name, &phase, NULL), 0);
	phase->latency = malloc(sizeof(*phase->latency));
	assert_non_null(phase->latency);
	hist_init(phase->latency);
	return phase;
}

/* 64 MiB by 8 threads in 2 s, half of it system time; latencies of 1 ms and 3 s. */
static void fill(struct result_phase *p)
{
	p->counters = (struct result_counters){.threads = 8,
		.bytes = UINT64_C(64) << 20,
		.operations = 4,
		.wall_ns = 2 * NS_PER_S,
		.user_ns = NS_PER_S / 10,
		.system_ns = NS_PER_S};
	for (int i = 0; i < 3; i++)
		hist_record(p->latency, NS_PER_MS);
	hist_record(p->latency, 3 * NS_PER_S);
}

static void boxes_are_those_of_tiotest(void **state _unused_)
{
	static const char *const wanted[] = {
		"Tiotest results for 8 concurrent io threads:\n,---",
		"| Write          64 MBs |    2.0 s |  32.000 MB/s |   5.0 %  |  50.0 % |\n",
		"| Read           64 MBs |    2.0 s |  32.000 MB/s |   5.0 %  |  50.0 % |\n",
		"| Write        |      750.750 ms |     3000.000 ms | 25.00000 |   0.00000 |\n",
		("| Total        |      750.750 ms |     3000.000 ms | 25.00000 |   0.00000 |\n"
		 "`--------------+-----------------+-----------------+----------+---"),
	};
	_cleanup_(strbuf_deinit) struct strbuf b = {0};
	struct result_run run = {0};

	fill(add_phase(&run, "write/t8"));
	fill(add_phase(&run, "read/t8"));
	fill(add_phase(&run, "write/t4"));
	render_tiotest(&run, TIOTEST_BOX, &b);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (!strstr(strbuf_text(&b), wanted[i]))
			fail_msg("not found: %s\nin %s", wanted[i], strbuf_text(&b));
	}
	assert_null(strstr(strbuf_text(&b), "Random"));
	result_run_deinit(&run);
}

static void terse_lines_are_those_of_tiotest(void **state _unused_)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};
	struct result_run run = {0};

	fill(add_phase(&run, "write/t8"));
	fill(add_phase(&run, "rread/t8"));
	render_tiotest(&run, TIOTEST_TERSE, &b);
	assert_string_equal(strbuf_text(&b),
		"write:64.00000,2.00000,0.10000,1.00000,750.75000,3000.00000,25.00000,"
		"0.00000\n"
		"rread:64.00000,2.00000,0.10000,1.00000,750.75000,3000.00000,25.00000,"
		"0.00000\n"
		"total:750.75000,3000.00000,25.00000,0.00000\n");
	result_run_deinit(&run);
}

static void transactions_have_a_row_for_each_number_of_clients(void **state _unused_)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};
	struct result_run run = {0};
	static const double exact[] = {50, 80, 90, 95};
	struct result_phase *p = add_phase(&run, "wal/t4");
	unsigned clients, both, reads;
	double ms[4];

	p->counters.threads = 4;
	for (uint64_t i = 1; i <= 100; i++)
		hist_record(p->latency, i * NS_PER_MS);
	result_phase_add_metric(
		p, "operations", UNIT_OPERATIONS_PER_SECOND, HIGHER_IS_BETTER, 182, NULL);
	p = add_phase(&run, "wal-readonly/t4");
	p->counters.threads = 4;
	result_phase_add_metric(
		p, "operations", UNIT_OPERATIONS_PER_SECOND, HIGHER_IS_BETTER, 673, NULL);
	render_pgbench(&run, &b);
	/* Buckets of the histogram are up to 1 % wide. */
	assert_int_equal(sscanf(strstr(strbuf_text(&b), "\n      4 "),
				 " %u %u %u %lf %lf %lf %lf", &clients, &both, &reads, &ms[0],
				 &ms[1], &ms[2], &ms[3]),
		7);
	assert_int_equal(both, 182);
	assert_int_equal(reads, 673);
	for (size_t i = 0; i < ARRAY_SIZE(ms); i++)
		assert_close(ms[i], exact[i], exact[i] * .015);
	result_run_deinit(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boxes_are_those_of_tiotest),
		cmocka_unit_test(terse_lines_are_those_of_tiotest),
		cmocka_unit_test(transactions_have_a_row_for_each_number_of_clients),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
