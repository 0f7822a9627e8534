/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The table of phases. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <string.h>

#include "core/macros.h"
#include "report/render_phases.h"

static struct result_phase *phase(struct result_run *run, const char *name)
{
	_cleanup_(err_clear) struct err e = { 0 };
	struct result_phase *p;

	assert_int_equal(result_run_add_phase(run, name, name, &p, &e), 0);
	return p;
}

static void metric(struct result_phase *p, const char *name, enum result_unit unit,
	double value)
{
	_cleanup_(err_clear) struct err e = { 0 };

	assert_int_equal(result_phase_add_metric(p, name, unit, NO_DIRECTION, value, &e), 0);
}

static void rendered_is(const struct result_run *run, const char *want)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };

	assert_int_equal(render_phases(run, &b, &e), 0);
	assert_string_equal(strbuf_text(&b), want);
}

static void columns_without_any_value_are_left_out(void **state _unused_)
{
	_cleanup_(result_run_deinit) struct result_run run = { 0 };
	struct result_phase *p = phase(&run, "write/t1");

	metric(p, "rate", UNIT_BYTES_PER_SECOND, 100 << 20);
	metric(p, "operations", UNIT_OPERATIONS_PER_SECOND, 25600);
	metric(p, "sync_mean", UNIT_NANOSECONDS, 12.5e6);
	p->cache = RESULT_CACHE_DROPPED;
	p = phase(&run, "read/t1");
	metric(p, "rate", UNIT_BYTES_PER_SECOND, 1.5 * (1 << 20));
	metric(p, "cached_before", UNIT_FRACTION, .0125);
	p->cache = RESULT_CACHE_ADVISED;
	rendered_is(&run, "PHASE            RATE   OPS/S SYNC-MEAN CACHED CACHE\n"
			  "write/t1 100.00 MiB/s 25600.0    12.5ms      - dropped\n"
			  "read/t1    1.50 MiB/s       -         -   1.2% advised\n");
}

static void what_has_no_room_in_80_columns_is_a_table_below(void **state _unused_)
{
	_cleanup_(result_run_deinit) struct result_run run = { 0 };
	static const char *const names[] = { "latency_mean", "latency_p50", "latency_p90",
		"latency_p95", "latency_p99", "latency_p999", "latency_max", "sync_mean",
		"sync_p50", "sync_p99", "sync_p999", "sync_max" };
	struct result_phase *p = phase(&run, "a-phase-with-a-long-name/t128/b65536/s1024M");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		metric(p, names[i], UNIT_NANOSECONDS, 123456789);
	metric(phase(&run, "short"), "latency_p999", UNIT_NANOSECONDS, 7e9);
	rendered_is(&run,
		"PHASE                                        MEAN   P50   P90   P95   P99 P99.9\n"
		"a-phase-with-a-long-name/t128/b65536/s1024M 123ms 123ms 123ms 123ms 123ms 123ms\n"
		"short                                           -     -     -     -     -    7s\n"
		"\n"
		"PHASE                                         MAX SYNC-MEAN SYNC-P50 SYNC-P99\n"
		"a-phase-with-a-long-name/t128/b65536/s1024M 123ms     123ms    123ms    123ms\n"
		"short                                           -         -        -        -\n"
		"\n"
		"PHASE                                       SYNC-P99.9 SYNC-MAX CACHE\n"
		"a-phase-with-a-long-name/t128/b65536/s1024M      123ms    123ms kept\n"
		"short                                                -        - kept\n");
}

static void a_phase_of_any_length_loses_no_digit(void **state _unused_)
{
	_cleanup_(result_run_deinit) struct result_run run = { 0 };
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };
	char name[100] = { 0 };

	memset(name, 'n', sizeof(name) - 1);
	metric(phase(&run, name), "latency_mean", UNIT_NANOSECONDS, 123456789);
	assert_int_equal(render_phases(&run, &b, &e), 0);
	assert_non_null(strstr(strbuf_text(&b), "n 123ms\n"));
	assert_non_null(strstr(strbuf_text(&b), "n kept\n"));
}

static void a_command_shows_all_its_metrics(void **state _unused_)
{
	_cleanup_(result_run_deinit) struct result_run run = { 0 };
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };
	struct result_phase *p = phase(&run, "run");

	metric(p, "time_total", UNIT_NANOSECONDS, 2e9);
	metric(p, "rate", UNIT_BYTES_PER_SECOND, 3 << 20);
	run.type = strdup("command");
	assert_int_equal(render_phases(&run, &b, &e), 0);
	assert_string_equal(strbuf_text(&b), "PHASE       RATE TIME-TOTAL CACHE\n"
					     "run   3.00 MiB/s         2s kept\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_without_any_value_are_left_out),
		cmocka_unit_test(a_command_shows_all_its_metrics),
		cmocka_unit_test(what_has_no_room_in_80_columns_is_a_table_below),
		cmocka_unit_test(a_phase_of_any_length_loses_no_digit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
