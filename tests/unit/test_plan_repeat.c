/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Which blocks are measured again. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/repeat.h"

enum { HEAT = 1, AUDIT = 2 };

static void a_valid_block_is_not_repeated(void **state)
{
	struct repeat r = {0};

	(void)state;
	assert_false(repeat_is_needed(&r, 0, 2));
	assert_int_equal(r.attempt, 0);
}

static void an_invalid_block_is_repeated_until_it_is_valid(void **state)
{
	struct repeat r = {0};

	(void)state;
	assert_true(repeat_is_needed(&r, HEAT, 2));
	assert_int_equal(r.attempt, 1);
	assert_false(repeat_is_needed(&r, 0, 2));
	assert_int_equal(r.attempt, 0);
	/* The next block has all its attempts again, and heat is still a reason. */
	assert_true(repeat_is_needed(&r, HEAT, 2));
	assert_true(repeat_is_needed(&r, AUDIT, 2));
	assert_false(repeat_is_needed(&r, HEAT, 2));
	assert_int_equal(r.tolerated, 0);
}

static void what_is_always_so_is_no_reason_any_more(void **state)
{
	struct repeat r = {0};

	(void)state;
	assert_true(repeat_is_needed(&r, AUDIT, 2));
	assert_true(repeat_is_needed(&r, AUDIT | HEAT, 2));
	assert_false(repeat_is_needed(&r, AUDIT, 2));
	assert_int_equal(r.tolerated, AUDIT);
	assert_false(repeat_is_needed(&r, AUDIT, 2));
	assert_true(repeat_is_needed(&r, AUDIT | HEAT, 2));
	assert_false(repeat_is_needed(&r, AUDIT, 2));
}

static void without_repeats_rules_are_only_noted(void **state)
{
	struct repeat r = {0};

	(void)state;
	assert_false(repeat_is_needed(&r, HEAT, 0));
	assert_false(repeat_is_needed(&r, HEAT, 0));
	assert_int_equal(r.tolerated, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_valid_block_is_not_repeated),
		cmocka_unit_test(an_invalid_block_is_repeated_until_it_is_valid),
		cmocka_unit_test(what_is_always_so_is_no_reason_any_more),
		cmocka_unit_test(without_repeats_rules_are_only_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
