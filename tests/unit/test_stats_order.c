/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Order statistics of a few doubles. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <math.h>

#include "core/macros.h"
#include "stats/order.h"

static void median_of_odd_even_and_nothing(void **state _unused_)
{
	const double odd[] = { 5, 1, 3 }, even[] = { 4, 1, 3, 2 };

	assert_true(order_median(odd, 3) == 3);
	assert_true(order_median(even, 4) == 2.5);
	assert_true(order_median(odd, 1) == 5);
	assert_true(isnan(order_median(odd, 0)));
	assert_true(odd[0] == 5 && even[0] == 4);
}

static void quantiles_are_linear_between_neighbours(void **state _unused_)
{
	double v[] = { 40, 10, 30, 20 };

	order_sort(v, ARRAY_SIZE(v));
	assert_true(order_quantile_sorted(v, 4, 0) == 10);
	assert_true(order_quantile_sorted(v, 4, 1) == 40);
	assert_true(order_quantile_sorted(v, 4, .5) == 25);
	assert_true(fabs(order_quantile_sorted(v, 4, .25) - 17.5) < 1e-12);
	assert_true(isnan(order_quantile_sorted(v, 0, .5)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(median_of_odd_even_and_nothing),
		cmocka_unit_test(quantiles_are_linear_between_neighbours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
