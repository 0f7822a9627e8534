/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What hangs and what is only slow. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/clock.h"
#include "run/hang.h"

#define BOUND (10 * NS_PER_S)

/* A look after so many seconds: what both devices have completed and have in flight. */
static int look(struct hang *h, uint64_t s, uint64_t completed, uint64_t in_flight,
	uint64_t other_completed, uint64_t other_in_flight)
{
	const struct hang_sample samples[2] = {
		{completed, in_flight}, {other_completed, other_in_flight}};

	return hang_look(h, samples, 0, s * NS_PER_S);
}

/* Nothing on any device. */
static int look_idle(struct hang *h, uint64_t s, uint64_t cpu_ms)
{
	const struct hang_sample samples[2] = {{0, 0}, {0, 0}};

	return hang_look(h, samples, cpu_ms * NS_PER_MS, s * NS_PER_S);
}

static struct hang two_devices(uint64_t bound_ns)
{
	struct hang h;

	hang_init(&h, bound_ns, 0);
	hang_set_devices(&h, 2, 0);
	return h;
}

static void a_device_that_answers_nothing_hangs_though_the_other_works(void **state)
{
	struct hang h = two_devices(BOUND);

	(void)state;
	assert_int_equal(look(&h, 3, 5, 0, 7, 1), HANG_NONE);
	assert_int_equal(look(&h, 6, 6, 1, 7, 2), HANG_NONE);
	assert_int_equal(look(&h, 9, 9, 1, 7, 2), HANG_NONE);
	assert_int_equal(look(&h, 12, 12, 1, 7, 2), HANG_NONE);
	/* It has completed requests before 3 s, as far as anybody knows. */
	assert_int_equal(look(&h, 13, 13, 1, 7, 2), 1);
}

static void a_slow_device_does_not_hang(void **state)
{
	struct hang h = two_devices(BOUND);

	(void)state;
	assert_int_equal(look(&h, 4, 0, 1, 0, 0), HANG_NONE);
	for (uint64_t s = 8; s < 80; s += 4)
		assert_int_equal(look(&h, s, s / 8, 1, 0, 0), HANG_NONE);
	assert_int_equal(look(&h, 81, 9, 1, 0, 0), HANG_NONE);
	assert_int_equal(look(&h, 82, 9, 1, 0, 0), 0);
}

static void an_idle_device_does_not_hang_while_we_compute(void **state)
{
	struct hang h = two_devices(BOUND);

	(void)state;
	for (uint64_t s = 2; s < 100; s += 2)
		assert_int_equal(look_idle(&h, s, s * 150), HANG_NONE);
	/* Waiting for others takes a little time of a processor, too. */
	for (uint64_t s = 100; s < 108; s += 2)
		assert_int_equal(look_idle(&h, s, 98 * 150 + s - 98), HANG_NONE);
	assert_int_equal(look_idle(&h, 108, 98 * 150 + 10), HANG_STEP);
}

static void a_step_may_be_quiet_for_the_time_that_it_is_expected_to_take(void **state)
{
	struct hang h = two_devices(BOUND);

	(void)state;
	hang_step(&h, 20 * NS_PER_S, 0);
	for (uint64_t s = 3; s < 30; s += 3)
		assert_int_equal(look_idle(&h, s, 0), HANG_NONE);
	assert_int_equal(look_idle(&h, 30, 0), HANG_STEP);
	hang_step(&h, 0, 31 * NS_PER_S);
	assert_int_equal(look_idle(&h, 35, 0), HANG_NONE);
	assert_int_equal(look_idle(&h, 40, 0), HANG_NONE);
	assert_int_equal(look_idle(&h, 41, 0), HANG_STEP);
}

static void who_was_stopped_itself_finds_nothing(void **state)
{
	struct hang h = two_devices(BOUND);

	(void)state;
	assert_int_equal(look(&h, 4, 1, 1, 0, 0), HANG_NONE);
	assert_int_equal(look(&h, 100, 1, 1, 0, 0), HANG_NONE);
	assert_int_equal(look(&h, 105, 1, 1, 0, 0), HANG_NONE);
	assert_int_equal(look(&h, 110, 1, 1, 0, 0), 0);
}

static void without_a_bound_nothing_hangs(void **state)
{
	struct hang h = two_devices(0);

	(void)state;
	for (uint64_t s = 1; s < 100000; s *= 3)
		assert_int_equal(look(&h, s, 1, 1, 0, 0), HANG_NONE);
}

static void it_looks_ten_times_within_the_bound(void **state)
{
	struct hang h;

	(void)state;
	hang_init(&h, NS_PER_S, 0);
	assert_int_equal(hang_pause_ns(&h), NS_PER_S / 10);
	hang_init(&h, 300 * NS_PER_S, 0);
	assert_int_equal(hang_pause_ns(&h), 10 * NS_PER_S);
	hang_init(&h, 0, 0);
	assert_int_equal(hang_pause_ns(&h), 10 * NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_that_answers_nothing_hangs_though_the_other_works),
		cmocka_unit_test(a_slow_device_does_not_hang),
		cmocka_unit_test(an_idle_device_does_not_hang_while_we_compute),
		cmocka_unit_test(
			a_step_may_be_quiet_for_the_time_that_it_is_expected_to_take),
		cmocka_unit_test(who_was_stopped_itself_finds_nothing),
		cmocka_unit_test(without_a_bound_nothing_hangs),
		cmocka_unit_test(it_looks_ten_times_within_the_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
