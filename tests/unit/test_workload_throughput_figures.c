/* SPDX-License-Identifier: GPL-3.0-or-later */

/* iozone's figures from made-up times of children, and its lines. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "core/clock.h"
#include "core/macros.h"
#include "report/render_iozone.h"
#include "workload/throughput.h"

enum { MIB = 1 << 20 };

static void assert_close(double value, double wanted, double within)
{
	if (fabs(value - wanted) > within)
		fail_msg("%f is not %f", value, wanted);
}

static void children_see_the_sum_of_their_own_rates(void **state _unused_)
{
	/* The first has written 8 MiB in 2 s; then the other had 6 MiB. */
	const struct throughput_child children[] = {
		{8 * MIB, 2 * NS_PER_S}, {6 * MIB, 2 * NS_PER_S}};
	struct throughput_figures f = throughput_figures(children, 2, 4 * NS_PER_S);

	assert_close(f.children, 7.0 * MIB, 1);
	assert_close(f.avg, 3.5 * MIB, 1);
	assert_close(f.min, 3.0 * MIB, 1);
	assert_close(f.max, 4.0 * MIB, 1);
	assert_int_equal(f.min_xfer, 6 * MIB);
	/* The parent waits 4 s but counts only what came before the stonewall. */
	assert_close(f.parent, 3.5 * MIB, 1);
}

static void rates_of_different_times_are_added_nevertheless(void **state _unused_)
{
	/* Without stonewall: all of the file, each in its own time. */
	const struct throughput_child children[] = {
		{8 * MIB, 1 * NS_PER_S}, {8 * MIB, 8 * NS_PER_S}};
	struct throughput_figures f = throughput_figures(children, 2, 8 * NS_PER_S);

	assert_close(f.children, 9.0 * MIB, 1);
	assert_close(f.parent, 2.0 * MIB, 1);
	assert_int_equal(f.min_xfer, 8 * MIB);
}

static void one_child_is_minimum_maximum_and_average(void **state _unused_)
{
	const struct throughput_child child = {4 * MIB, NS_PER_S / 2};
	struct throughput_figures f = throughput_figures(&child, 1, NS_PER_S / 2);

	assert_close(f.children, 8.0 * MIB, 1);
	assert_close(f.parent, f.children, 1);
	assert_close(f.min, f.max, 0);
	assert_close(f.avg, f.max, 0);
}

static void shuffled_records_come_once_each(void **state _unused_)
{
	static const uint64_t counts[] = {1, 2, 3, 7, 64, 1000, 4096, 4097};

	for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
		unsigned char seen[4097] = {0};
		unsigned in_place = 0;

		for (uint64_t i = 0; i < counts[c]; i++) {
			uint64_t place = throughput_shuffled(i, counts[c], 42);

			assert_true(place < counts[c]);
			assert_int_equal(seen[place]++, 0);
			in_place += place == i;
		}
		if (counts[c] >= 1000)
			assert_true(in_place < 10);
	}
}

static void add_phase(struct result_run *run, const char *title, uint32_t children)
{
	static const char *const names[] = {"children", "parent", "child_min", "child_max",
		"child_avg", "min_xfer"};
	static const double kilobytes[] = {
		766235.23, 318451.34, 140886.58, 294295.00, 191558.81, 15628.00};
	struct result_phase *phase;

	assert_int_equal(result_run_add_phase(run, title, title, &phase, NULL), 0);
	phase->counters.threads = children;
	phase->counters.requested_bytes = children * UINT64_C(32768) * 1024;
	phase->counters.block_bytes = 4096;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(
			result_phase_add_metric(phase, names[i], UNIT_BYTES_PER_SECOND,
				HIGHER_IS_BETTER, kilobytes[i] * 1024, NULL),
			0);
}

static void lines_are_those_of_iozone(void **state _unused_)
{
	static const char wanted[] =
		"\tThroughput test with 4 processes\n"
		"\tEach process writes a 32768 kByte file in 4 kByte records\n"
		"\n"
		"\tChildren see throughput for  4 initial writers \t=  766235.23 kB/sec\n"
		"\tParent sees throughput for  4 initial writers \t=  318451.34 kB/sec\n"
		"\tMin throughput per process \t\t\t=  140886.58 kB/sec \n"
		"\tMax throughput per process \t\t\t=  294295.00 kB/sec\n"
		"\tAvg throughput per process \t\t\t=  191558.81 kB/sec\n"
		"\tMin xfer \t\t\t\t\t=   15628.00 kB\n"
		"\n"
		"\tChildren see throughput for  4 readers \t\t=  766235.23 kB/sec\n";
	_cleanup_(strbuf_deinit) struct strbuf b = {0};
	struct result_run run = {0};

	add_phase(&run, "initial writers", 4);
	add_phase(&run, "readers", 4);
	add_phase(&run, "re-readers", 4);
	render_iozone(&run, &b);
	assert_memory_equal(strbuf_text(&b), wanted, strlen(wanted));
	assert_non_null(strstr(strbuf_text(&b),
		"\tChildren see throughput for 4 re-readers \t=  766235.23 kB/sec\n"));
	result_run_deinit(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_see_the_sum_of_their_own_rates),
		cmocka_unit_test(rates_of_different_times_are_added_nevertheless),
		cmocka_unit_test(one_child_is_minimum_maximum_and_average),
		cmocka_unit_test(shuffled_records_come_once_each),
		cmocka_unit_test(lines_are_those_of_iozone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
