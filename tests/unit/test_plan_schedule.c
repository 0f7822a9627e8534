/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The number of blocks follows from the pilot, from looks, or from the plan, and always
 * is the same for the same values. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/schedule.h"

static struct schedule_step ask(
	const struct schedule *s, const double *d, const double *other, size_t blocks)
{
	const double *series[] = {d, other};
	const struct schedule_effects f = {series, other ? 2 : 1, blocks};
	struct schedule_step step;

	schedule_next(s, &f, &step);
	return step;
}

/* sd 0.03536 */
static const double pilot[] = {.05, -.05, .025, -.025, .025, -.025};

static const struct schedule stein = {SCHEDULE_STEIN, 6, 100, .03, .03};

static void a_fixed_number_stays(void **state)
{
	const struct schedule s = {SCHEDULE_FIXED, 4, 100, 0, .03};
	struct schedule_step step = ask(&s, pilot, NULL, 4);

	(void)state;
	assert_int_equal(step.blocks, 4);
	assert_false(step.announce);
	assert_true(step.level == .95);
	assert_int_equal(step.stage.count, 4);
}

static void the_pilot_is_measured_before_anything_is_planned(void **state)
{
	(void)state;
	for (size_t n = 0; n < 6; n++) {
		struct schedule_step step = ask(&stein, pilot, NULL, n);

		assert_int_equal(step.blocks, 6);
		assert_int_equal(step.stage.first, 0);
		assert_int_equal(step.stage.count, 6);
		assert_false(step.announce);
	}
}

/* t(.975, 5) = 2.5706; (2.5706 * sd / ln 1.03)^2 with sd = sqrt(.0075 / 5) = .03873 gives
 * 11.34. */
static void the_spread_of_the_pilot_gives_the_number(void **state)
{
	struct schedule_step step = ask(&stein, pilot, NULL, 6);

	(void)state;
	assert_true(fabs(step.sd - .0387298) < 1e-6);
	assert_int_equal(step.wanted, 12);
	assert_int_equal(step.blocks, 12);
	assert_int_equal(step.stage.first, 6);
	assert_int_equal(step.stage.count, 6);
	assert_true(step.announce);
}

static void later_blocks_do_not_change_the_plan(void **state)
{
	double d[12] = {.05, -.05, .025, -.025, .025, -.025, 9, -9, 9, -9, 9, -9};

	(void)state;
	for (size_t n = 7; n <= 12; n++) {
		struct schedule_step step = ask(&stein, d, NULL, n);

		assert_int_equal(step.blocks, 12);
		assert_int_equal(step.stage.first, 6);
		assert_false(step.announce);
	}
}

static void the_cap_holds_and_what_was_wanted_is_known(void **state)
{
	struct schedule s = stein;
	struct schedule_step step;

	(void)state;
	s.max = 8;
	step = ask(&s, pilot, NULL, 6);
	assert_int_equal(step.blocks, 8);
	assert_int_equal(step.wanted, 12);
	s.max = 6;
	assert_int_equal(ask(&s, pilot, NULL, 6).blocks, 6);
}

static void the_arm_that_needs_most_decides(void **state)
{
	const double quiet[] = {.001, -.001, .001, -.001, .001, -.001};

	(void)state;
	assert_int_equal(ask(&stein, quiet, NULL, 6).blocks, 6);
	assert_int_equal(ask(&stein, quiet, pilot, 6).blocks, 12);
	assert_int_equal(ask(&stein, pilot, quiet, 6).blocks, 12);
}

static void blocks_without_value_are_left_out_of_the_spread(void **state)
{
	const double holes[] = {.05, -.05, NAN, .025, -.025, NAN};
	const double empty[] = {NAN, NAN, NAN, NAN, .01, NAN};
	struct schedule_step step = ask(&stein, holes, NULL, 6);

	(void)state;
	assert_true(fabs(step.sd - .0456435) < 1e-6);
	assert_int_equal(step.wanted, 25); /* t(.975, 3) = 3.1824 */
	step = ask(&stein, empty, NULL, 6);
	assert_int_equal(step.wanted, 0);
	assert_int_equal(step.blocks, 6);
	assert_true(isnan(step.sd));
}

static const struct schedule looks = {SCHEDULE_LOOKS, 6, 100, 0, .03};

static void looks_share_the_error(void **state)
{
	struct schedule s = looks;

	(void)state;
	assert_true(fabs(schedule_level(&s) - .9875) < 1e-12);
	s.max = 24;
	assert_true(fabs(schedule_level(&s) - (1 - .05 / 3)) < 1e-12);
}

static void a_clear_difference_ends_it_at_the_second_look(void **state)
{
	double d[48];

	(void)state;
	for (size_t i = 0; i < 48; i++)
		d[i] = .2 + .001 * (double)i;
	assert_int_equal(ask(&looks, d, NULL, 0).blocks, 6);
	/* Six signs cannot say it at this level. */
	assert_int_equal(ask(&looks, d, NULL, 6).blocks, 12);
	assert_true(ask(&looks, d, NULL, 6).announce);
	assert_int_equal(ask(&looks, d, NULL, 6).stage.first, 6);
	assert_int_equal(ask(&looks, d, NULL, 12).blocks, 12);
	assert_true(ask(&looks, d, NULL, 12).announce);
}

static void what_is_equivalent_or_open_is_told_apart(void **state)
{
	double same[48], noise[48];

	(void)state;
	for (size_t i = 0; i < 48; i++) {
		same[i] = (i % 2 ? .001 : -.001) * (double)(i + 1) / 48;
		noise[i] = (i % 2 ? .2 : -.2) + .001 * (double)i;
	}
	assert_int_equal(ask(&looks, same, NULL, 12).blocks, 12);
	assert_int_equal(ask(&looks, noise, NULL, 12).blocks, 24);
	assert_int_equal(ask(&looks, noise, NULL, 24).blocks, 48);
	assert_int_equal(ask(&looks, noise, NULL, 24).stage.first, 24);
	assert_int_equal(ask(&looks, noise, NULL, 48).blocks, 48);
	/* One open arm keeps it going. */
	assert_int_equal(ask(&looks, same, noise, 12).blocks, 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fixed_number_stays),
		cmocka_unit_test(the_pilot_is_measured_before_anything_is_planned),
		cmocka_unit_test(the_spread_of_the_pilot_gives_the_number),
		cmocka_unit_test(later_blocks_do_not_change_the_plan),
		cmocka_unit_test(the_cap_holds_and_what_was_wanted_is_known),
		cmocka_unit_test(the_arm_that_needs_most_decides),
		cmocka_unit_test(blocks_without_value_are_left_out_of_the_spread),
		cmocka_unit_test(looks_share_the_error),
		cmocka_unit_test(a_clear_difference_ends_it_at_the_second_look),
		cmocka_unit_test(what_is_equivalent_or_open_is_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
