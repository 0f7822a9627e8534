/* SPDX-License-Identifier: GPL-3.0-or-later */

/* When a disk is in its steady state. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/steady.h"

static void five_rounds_are_needed(void **state)
{
	const double values[] = {100, 100, 100, 100, 100};

	(void)state;
	assert_false(steady_is_reached(values, 0));
	assert_false(steady_is_reached(values, 4));
	assert_true(steady_is_reached(values, 5));
}

static void only_the_last_five_count(void **state)
{
	const double values[] = {900, 400, 100, 100, 100, 100, 100};

	(void)state;
	assert_false(steady_is_reached(values, 5));
	assert_false(steady_is_reached(values, 6));
	assert_true(steady_is_reached(values, 7));
}

static void they_may_lie_a_fifth_of_the_mean_apart(void **state)
{
	const double within[] = {100, 91, 109, 91, 109 - 0.1};
	const double beyond[] = {100, 90, 111, 90, 109};

	(void)state;
	assert_true(steady_is_reached(within, 5));
	assert_false(steady_is_reached(beyond, 5));
}

/* A line from 105 to 95 falls by 10 of 100, one from 106 to 94 by 12. */
static void they_may_fall_by_a_tenth_of_the_mean(void **state)
{
	const double slow[] = {104.9, 102.5, 100, 97.5, 95.1};
	const double fast[] = {106, 103, 100, 97, 94};
	const double rising[] = {94, 97, 100, 103, 106};

	(void)state;
	assert_true(steady_is_reached(slow, 5));
	assert_false(steady_is_reached(fast, 5));
	assert_false(steady_is_reached(rising, 5));
}

static void nothing_at_all_is_not_steady(void **state)
{
	const double values[] = {0, 0, 0, 0, 0};

	(void)state;
	assert_false(steady_is_reached(values, 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(five_rounds_are_needed),
		cmocka_unit_test(only_the_last_five_count),
		cmocka_unit_test(they_may_lie_a_fifth_of_the_mean_apart),
		cmocka_unit_test(they_may_fall_by_a_tenth_of_the_mean),
		cmocka_unit_test(nothing_at_all_is_not_steady),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
