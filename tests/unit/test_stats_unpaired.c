/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Two groups: figures of the exact distribution, worked out by hand or by R's wilcox.test. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/unpaired.h"

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) < 1e-9))
		fail_msg("%.12g is not %.12g", value, expected);
}

static void the_smallest_differences_left_out_are_those_of_the_tables(void **state)
{
	(void)state;
	/* P(U <= u) for 5 and 5: 1, 2, 4, 7 of 252. */
	assert_int_equal(unpaired_k(5, 5, 0.95), 3);
	assert_int_equal(unpaired_k(4, 4, 0.95), 1);
	assert_int_equal(unpaired_k(3, 3, 0.95), 0); /* 2/20 is more than 5 % */
	assert_int_equal(unpaired_k(3, 3, 0.90), 1);
	/* Critical values of U at 5 %, two-sided: 23 for 10 and 10, 13 for 7 and 9. */
	assert_int_equal(unpaired_k(10, 10, 0.95), 24);
	assert_int_equal(unpaired_k(7, 9, 0.95), 13);
	assert_int_equal(unpaired_k(9, 7, 0.95), 13);
	assert_int_equal(unpaired_k(0, 5, 0.95), 0);
	assert_int_equal(unpaired_k(1, 1, 0.95), 0);
}

static void groups_that_do_not_overlap_have_the_smallest_p(void **state)
{
	static const double a[] = {1, 2, 3, 4, 5}, b[] = {11, 12, 13, 14, 15};
	struct unpaired_summary s;

	(void)state;
	unpaired_summarize(&s, a, 5, b, 5, 0.95);
	assert_near(s.p, 2. / 252);
	assert_near(s.estimate, 10);
	assert_true(s.interval.exists);
	assert_near(s.interval.low, 7); /* third smallest of 6, 7, 7, 8, ... */
	assert_near(s.interval.high, 13);
	unpaired_summarize(&s, b, 5, a, 5, 0.95);
	assert_near(s.p, 2. / 252);
	assert_near(s.estimate, -10);
}

static void groups_in_between_give_the_p_of_their_rank_sum(void **state)
{
	/* U = 4 of 4 and 4: 1+1+2+3+5 = 12 of 70 ways are as extreme. */
	static const double a[] = {1, 2, 5, 6}, b[] = {3, 4, 7, 8};
	struct unpaired_summary s;

	(void)state;
	unpaired_summarize(&s, a, 4, b, 4, 0.95);
	assert_near(s.p, 2 * 12. / 70);
}

static void equal_groups_and_none_are_no_difference(void **state)
{
	static const double a[] = {3, 3, 3, 3};
	struct unpaired_summary s;
	struct contrast c;

	(void)state;
	unpaired_summarize(&s, a, 4, a, 4, 0.95);
	assert_near(s.p, 1);
	assert_near(s.estimate, 0);
	unpaired_summarize(&s, a, 0, a, 4, 0.95);
	assert_true(isnan(s.estimate));
	assert_false(s.interval.exists);
	unpaired_contrast(&c, a, 4, a, 4, 0.03, 0.95);
	assert_int_equal(c.verdict, VERDICT_EQUIVALENT);
	unpaired_contrast(&c, a, 1, a, 1, 0.03, 0.95);
	assert_int_equal(c.verdict, VERDICT_UNKNOWN);
	assert_true(isnan(c.ratio_low));
}

static void a_ratio_has_its_interval_and_verdict(void **state)
{
	static const double a[] = {100, 101, 99, 100, 102, 98};
	static const double b[] = {200, 202, 198, 200, 204, 196};
	struct contrast c;

	(void)state;
	unpaired_contrast(&c, a, 6, b, 6, 0.03, 0.95);
	assert_int_equal(c.verdict, VERDICT_HIGHER);
	assert_near(c.ratio, 2);
	assert_true(c.ratio_low > 1.95 && c.ratio_low < 2);
	assert_true(c.ratio_high < 2.05 && c.ratio_high > 2);
	assert_false(c.below_margin);
	unpaired_contrast(&c, b, 6, a, 6, 0.03, 0.95);
	assert_int_equal(c.verdict, VERDICT_LOWER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_smallest_differences_left_out_are_those_of_the_tables),
		cmocka_unit_test(groups_that_do_not_overlap_have_the_smallest_p),
		cmocka_unit_test(groups_in_between_give_the_p_of_their_rank_sum),
		cmocka_unit_test(equal_groups_and_none_are_no_difference),
		cmocka_unit_test(a_ratio_has_its_interval_and_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
