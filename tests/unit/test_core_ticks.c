/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The clock for short intervals against CLOCK_MONOTONIC. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <time.h>

#include "core/macros.h"
#include "core/ticks.h"

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* Of many measurements the one that was disturbed least counts. */
static void intervals_are_those_of_the_monotonic_clock(void **state _unused_)
{
	struct ticks t;
	double best = 1;

	ticks_begin(&t);
	ticks_calibrate(&t);
	for (int i = 0; i < 20 && best > 1e-4; i++) {
		uint64_t outer = clock_now_ns(), from = ticks_now(&t);
		uint64_t inner = clock_now_ns(), inner_ns, outer_ns, ns;

		sleep_ms(5);
		inner_ns = clock_now_ns() - inner;
		ns = ticks_between_ns(&t, from, ticks_now(&t));
		outer_ns = clock_now_ns() - outer;
		if (ns < inner_ns)
			best = MIN(best, (double)(inner_ns - ns) / (double)ns);
		else if (ns > outer_ns)
			best = MIN(best, (double)(ns - outer_ns) / (double)ns);
		else
			best = 0;
	}
	assert_true(best <= 1e-4);
}

static void calibration_may_come_long_after_the_beginning(void **state _unused_)
{
	struct ticks a, b;

	ticks_begin(&a);
	sleep_ms(50);
	ticks_calibrate(&a);
	ticks_begin(&b);
	ticks_calibrate(&b);
	assert_int_equal(a.counter, b.counter);
	if (a.counter) {
		double ratio = (double)a.scale / (double)b.scale;

		assert_true(ratio > .999 && ratio < 1.001);
	}
}

static void backward_steps_are_nothing(void **state _unused_)
{
	struct ticks counter = { .counter = true, .scale = UINT64_C(1) << 31 };
	struct ticks clock = { 0 };

	assert_int_equal(ticks_between_ns(&counter, 100, 98), 0);
	assert_int_equal(ticks_between_ns(&clock, 100, 98), 0);
	assert_int_equal(ticks_between_ns(&counter, 100, 300), 100);
	assert_int_equal(ticks_between_ns(&clock, 100, 300), 200);
	/* An hour at 4 GHz. */
	assert_true(ticks_between_ns(&counter, 0, UINT64_C(14400000000000)) ==
		    UINT64_C(7200000000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_are_those_of_the_monotonic_clock),
		cmocka_unit_test(calibration_may_come_long_after_the_beginning),
		cmocka_unit_test(backward_steps_are_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
