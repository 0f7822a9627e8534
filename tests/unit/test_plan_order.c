/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The order of arms: balanced, random, and the same for ever. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/order.h"

static void two_arms_are_balanced_over_each_stage(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++)
		for (uint32_t count = 1; count < 20; count++) {
			int difference = 0;

			for (uint32_t block = 6; block < 6 + count; block++) {
				size_t order[2];

				order_block(seed, (struct order_stage){ 6, count }, block, 2,
					order);
				assert_int_equal(order[0] + order[1], 1);
				difference += order[0] ? -1 : 1;
			}
			assert_int_equal(abs(difference), count % 2);
		}
}

static void the_first_arm_of_two_is_a_fair_coin(void **state)
{
	unsigned first = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 4000; seed++) {
		size_t order[2];

		order_block(seed, (struct order_stage){ 0, 12 }, 6, 2, order);
		first += order[0] == 0;
	}
	/* 2000 is expected, the standard deviation is 32. */
	assert_in_range(first, 1850, 2150);
}

static void more_arms_are_permuted_with_equal_chances(void **state)
{
	unsigned seen[24] = {0};

	(void)state;
	for (uint32_t block = 0; block < 24000; block++) {
		size_t order[4];
		unsigned code = 0, used = 0;

		order_block(2010, (struct order_stage){ 0, 24000 }, block, 4, order);
		for (size_t i = 0; i < 4; i++) {
			unsigned smaller = 0;

			assert_in_range(order[i], 0, 3);
			assert_false(used & 1u << order[i]);
			used |= 1u << order[i];
			for (size_t j = i + 1; j < 4; j++)
				smaller += order[j] < order[i];
			code = code * (unsigned)(4 - i) + smaller;
		}
		seen[code]++;
	}
	/* 1000 are expected of each, the standard deviation is 31. */
	for (unsigned i = 0; i < 24; i++)
		assert_in_range(seen[i], 850, 1150);
}

static void one_arm_is_itself(void **state)
{
	size_t order[1] = {9};

	(void)state;
	order_block(1, (struct order_stage){ 0, 1 }, 0, 1, order);
	assert_int_equal(order[0], 0);
}

/* Published plans must stay repeatable: these figures may never change. */
static void seeds_keep_their_meaning(void **state)
{
	static const char expected_two[] = "BBBAABABAAAB";
	static const char expected_three[] = "BACCABBCAABCBCACBA";
	char two[13] = "", three[19] = "";

	(void)state;
	for (uint32_t block = 0; block < 12; block++) {
		size_t order[2];

		order_block(2010, (struct order_stage){ 0, 12 }, block, 2, order);
		two[block] = order[0] ? 'B' : 'A';
	}
	for (uint32_t block = 0; block < 6; block++) {
		size_t order[3];

		order_block(2010, (struct order_stage){ 0, 6 }, block, 3, order);
		for (size_t i = 0; i < 3; i++)
			three[3 * block + i] = (char)('A' + order[i]);
	}
	assert_string_equal(two, expected_two);
	assert_string_equal(three, expected_three);
	assert_int_equal(order_workload_seed(2010, 3, 1), UINT64_C(0xf0baf605cb8e6001));
}

static void workload_seeds_differ(void **state)
{
	uint64_t a = order_workload_seed(1, 0, 0);

	(void)state;
	assert_int_not_equal(a, order_workload_seed(1, 0, 1));
	assert_int_not_equal(a, order_workload_seed(1, 1, 0));
	assert_int_not_equal(a, order_workload_seed(2, 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_arms_are_balanced_over_each_stage),
		cmocka_unit_test(the_first_arm_of_two_is_a_fair_coin),
		cmocka_unit_test(more_arms_are_permuted_with_equal_chances),
		cmocka_unit_test(one_arm_is_itself),
		cmocka_unit_test(seeds_keep_their_meaning),
		cmocka_unit_test(workload_seeds_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
