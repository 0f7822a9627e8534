/* SPDX-License-Identifier: GPL-3.0-or-later */

/* When operations are due. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "core/clock.h"
#include "core/macros.h"
#include "workload/pace.h"

static void threads_share_a_rate_and_are_spread_over_an_interval(void **state _unused_)
{
	const struct pace pace = { .rate = 100 };
	const uint64_t start_ns = clock_now_ns();
	struct pacer second = { .pace = &pace, .start_ns = start_ns, .index = 1, .threads = 4 };
	uint64_t due_ns = 0;

	/* 100 a second of 4 threads: each has one in 40 ms, this one from 10 ms on. */
	for (uint64_t i = 0; i < 3; i++) {
		assert_true(pacer_next(&second, &due_ns));
		assert_int_equal(due_ns - start_ns, 10 * NS_PER_MS + i * 40 * NS_PER_MS);
	}
}

static void nothing_is_due_after_the_end(void **state _unused_)
{
	const struct pace pace = { .rate = 10, .runtime_ns = 250 * NS_PER_MS };
	struct pacer p = { .pace = &pace, .start_ns = clock_now_ns(), .threads = 1 };
	uint64_t due_ns = 0;

	for (int i = 0; i < 3; i++)
		assert_true(pacer_next(&p, &due_ns));
	assert_false(pacer_next(&p, &due_ns));
	assert_int_equal(p.turns, 3);
}

static void the_first_operation_needs_no_pause(void **state _unused_)
{
	const struct pace pace = { .think_ns = NS_PER_S };
	struct pacer p = { .pace = &pace, .start_ns = clock_now_ns(), .threads = 1 };
	uint64_t due_ns = 1;

	assert_true(pacer_next(&p, &due_ns));
	assert_int_equal(due_ns, 0);
	assert_true(pacer_next(&p, &due_ns));
	assert_true(due_ns >= p.start_ns + NS_PER_S);
}

static void sleep_ends_in_time_or_when_told(void **state _unused_)
{
	uint64_t due_ns = clock_now_ns() + 5 * NS_PER_MS;
	int quit = 0;

	assert_true(pace_sleep(due_ns, &quit));
	assert_true(clock_now_ns() >= due_ns);
	quit = 1;
	assert_false(pace_sleep(clock_now_ns() + 3600 * NS_PER_S, &quit));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_share_a_rate_and_are_spread_over_an_interval),
		cmocka_unit_test(nothing_is_due_after_the_end),
		cmocka_unit_test(the_first_operation_needs_no_pause),
		cmocka_unit_test(sleep_ends_in_time_or_when_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
