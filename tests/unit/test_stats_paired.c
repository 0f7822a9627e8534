/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Paired analysis and drift against R: 200 data sets in tests/reference/rank.txt, which
 * rank.R beside it has made. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats/drift.h"
#include "stats/paired.h"
#include "stats/plan_n.h"
#include "stats/verdict.h"

#define REFERENCE "tests/reference/rank.txt"

static void assert_near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance * fmax(1, fabs(b))))
		fail_msg("%.12g is not %.12g", a, b);
}

/* Numbers up to the next "|" or the end; NA is NAN. */
static size_t numbers(char **at, double *out, size_t room)
{
	size_t n = 0;
	char *word;

	while ((word = strsep(at, " \n"))) {
		if (!strcmp(word, "|"))
			break;
		if (*word && n < room)
			out[n++] = !strcmp(word, "NA") ? NAN : strtod(word, NULL);
	}
	return n;
}

static void check_set(char *at, size_t n)
{
	double x[40], p[1], est[3], t[3], kendall[1];
	struct paired_summary s;

	assert_int_equal(numbers(&at, x, 40), n);
	assert_int_equal(numbers(&at, p, 1), 1);
	assert_int_equal(numbers(&at, est, 3), 3);
	assert_int_equal(numbers(&at, t, 3), 3);
	assert_int_equal(numbers(&at, kendall, 1), 1);
	paired_summarize(&s, x, n, 0.95);
	assert_near(s.p, p[0], 1e-9);
	assert_near(s.t_p, t[0], 1e-9);
	assert_near(s.t_interval.low, t[1], 1e-9);
	assert_near(s.t_interval.high, t[2], 1e-9);
	if (!isnan(est[0])) {
		assert_near(s.estimate, est[0], 1e-9);
		assert_true(s.interval.exists);
		assert_near(s.interval.low, est[1], 1e-9);
		assert_near(s.interval.high, est[2], 1e-9);
	}
	if (!isnan(kendall[0]))
		assert_near(drift_p(x, n), kendall[0], 1e-9);
}

static void check_holm(char *at, size_t n)
{
	double p[40], wanted[40];

	assert_int_equal(numbers(&at, p, 40), n);
	assert_int_equal(numbers(&at, wanted, 40), n);
	holm_adjust(p, n);
	for (size_t i = 0; i < n; i++)
		assert_near(p[i], wanted[i], 1e-12);
}

static void agrees_with_r(void **state)
{
	FILE *f = fopen(REFERENCE, "r");
	char line[4096];
	int sets = 0, holms = 0;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *at = line, *kind = strsep(&at, " "), *count = strsep(&at, " ");

		if (!strcmp(kind, "set")) {
			check_set(at, strtoul(count, NULL, 10));
			sets++;
		} else if (!strcmp(kind, "holm")) {
			check_holm(at, strtoul(count, NULL, 10));
			holms++;
		}
	}
	fclose(f);
	assert_int_equal(sets, 200);
	assert_int_equal(holms, 20);
}

static void knows_the_published_ranks(void **state)
{
	static const struct {
		size_t n, k;
	} rows[] = { { 5, 0 }, { 6, 1 }, { 8, 4 }, { 10, 9 }, { 12, 14 }, { 15, 26 },
		{ 20, 53 }, { 30, 138 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(paired_signed_rank_k(rows[i].n, 0.95), rows[i].k);
}

static void stays_sane_beyond_the_exact_range(void **state)
{
	double d[260];
	struct paired_summary exact, normal;

	(void)state;
	for (size_t i = 0; i < 260; i++)
		d[i] = sin((double)i * 12.9898) + 0.05;
	paired_summarize(&exact, d, 200, 0.95);
	paired_summarize(&normal, d, 201, 0.95);
	assert_near(normal.p, exact.p, 0.05);
	assert_near(normal.interval.low, exact.interval.low, 0.02);
	assert_near(normal.interval.high, exact.interval.high, 0.02);
}

static void tells_nothing_of_too_little(void **state)
{
	double one = 1, same[8] = { 0 };
	struct paired_summary s;

	(void)state;
	paired_summarize(&s, &one, 0, 0.95);
	assert_true(isnan(s.estimate) && !s.interval.exists && s.p == 1);
	paired_summarize(&s, &one, 1, 0.95);
	assert_true(s.estimate == 1 && !s.interval.exists && !s.t_interval.exists);
	paired_summarize(&s, same, 8, 0.95);
	assert_true(s.estimate == 0 && s.p == 1 && s.interval.low == 0);
	assert_true(s.t_p == 1);
}

static void plans_the_published_numbers(void **state)
{
	/* Rows of the table in the method: CV, target, blocks by the normal limit are larger
	 * for a pilot of six; Stein uses t with 5 degrees of freedom. */
	(void)state;
	assert_int_equal(plan_n_stein(0.05, 6, log(1.02), 0.95), 43);
	assert_int_equal(plan_n_stein(0.001, 6, log(1.03), 0.95), 6);
	assert_near(plan_n_detectable(0.05, 6, 0.95, 0.8), 0.07125, 1e-3);
	assert_true(isnan(plan_n_detectable(0.05, 1, 0.95, 0.8)));
}

static void judges(void **state)
{
	static const double base[] = { 100, 101, 99, 100, 102, 98, 100, 100 };
	double faster[8], same[8], noisy[8] = { 150, 60, 120, 90, 140, 70, 100, 80 };
	struct contrast c;

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		faster[i] = base[i] * (2 + 0.01 * (double)i);
		same[i] = base[i] * (1 + 0.001 * ((double)i - 3.5));
	}
	contrast_make(&c, base, faster, 8, 0.03, 0.95);
	assert_int_equal(c.verdict, VERDICT_HIGHER);
	assert_near(c.ratio, 2.035, 0.01);
	assert_false(c.below_margin);
	contrast_make(&c, faster, base, 8, 0.03, 0.95);
	assert_int_equal(c.verdict, VERDICT_LOWER);
	contrast_make(&c, base, same, 8, 0.03, 0.95);
	assert_int_equal(c.verdict, VERDICT_EQUIVALENT);
	contrast_make(&c, base, noisy, 8, 0.03, 0.95);
	assert_int_equal(c.verdict, VERDICT_NO_DIFFERENCE);
	assert_true(c.detectable > 1.2);
	contrast_make(&c, base, faster, 5, 0.03, 0.95);
	assert_int_equal(c.verdict, VERDICT_UNKNOWN);
}

/* An arm against itself: 0.2 % more in each of six blocks is a difference of no concern,
 * 8 % is one; 1 % to 6 % may be. */
static void alarms_at_what_matters(void **state)
{
	static const double none[] = { .002, -.001, .001, -.002, .0005, -.001 };
	static const double small[] = { .001, .002, .003, .002, .0025, .0015 };
	static const double large[] = { .08, .081, .079, .082, .078, .08 };
	static const double wide[] = { .01, .02, .03, .04, .05, .06 };
	struct contrast c;

	(void)state;
	contrast_of(&c, none, 6, 0.03, 0.95);
	assert_false(contrast_is_alarm(&c));
	assert_string_equal(contrast_of_itself(&c), "no difference");
	contrast_of(&c, small, 6, 0.03, 0.95);
	assert_int_equal(c.verdict, VERDICT_HIGHER);
	assert_false(contrast_is_alarm(&c));
	assert_string_equal(contrast_of_itself(&c), "a difference too small to matter");
	contrast_of(&c, large, 6, 0.03, 0.95);
	assert_true(contrast_is_alarm(&c));
	contrast_of(&c, wide, 6, 0.03, 0.95);
	assert_true(contrast_is_alarm(&c));
}

static void finds_drift_and_outliers(void **state)
{
	double up[12], flat[12] = { 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 50 };
	bool flags[12];

	(void)state;
	for (size_t i = 0; i < 12; i++)
		up[i] = 3 * (double)i + (i % 2 ? 0.5 : 0);
	assert_near(drift_slope(up, 12), 3, 0.05);
	assert_true(drift_p(up, 12) < 0.001);
	assert_true(drift_p(flat, 12) > 0.1);
	assert_int_equal(drift_outliers(flat, 12, flags), 1);
	assert_true(flags[11]);
	assert_true(isnan(drift_slope(up, 1)));
}

static double random_double(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(*seed >> 11) / (double)(UINT64_C(1) << 53);
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What is counted without being made is what is made and sorted. */
static void walsh_averages_and_slopes_of_many_are_those_of_all(void **state)
{
	enum { MANY = 301, COUNT = MANY * (MANY + 1) / 2 };
	double *all = malloc(COUNT * sizeof(*all)), y[MANY];
	uint64_t seed = 2010;
	size_t k = paired_signed_rank_k(MANY, 0.95), n = 0;
	struct interval i;

	(void)state;
	for (size_t a = 0; a < MANY; a++)
		y[a] = floor(200 * random_double(&seed)) / 100 - 1 + 0.001 * (double)a;
	for (size_t a = 0; a < MANY; a++)
		for (size_t b = a; b < MANY; b++)
			all[n++] = (y[a] + y[b]) / 2;
	assert_int_equal(n, COUNT);
	qsort(all, n, sizeof(*all), by_number);
	i = paired_signed_rank_interval(y, MANY, 0.95);
	assert_true(i.exists && i.low == all[k - 1] && i.high == all[n - k]);
	assert_true(paired_hodges_lehmann(y, MANY) == all[n / 2]);

	n = 0;
	for (size_t a = 0; a < MANY; a++)
		for (size_t b = a + 1; b < MANY; b++)
			all[n++] = (y[b] - y[a]) / (double)(b - a);
	qsort(all, n, sizeof(*all), by_number);
	assert_near(drift_slope(y, MANY), (all[n / 2 - 1] + all[n / 2]) / 2, 1e-6);
	free(all);
}

static void equal_values_have_no_drift(void **state)
{
	double y[400];

	(void)state;
	for (size_t i = 0; i < 400; i++)
		y[i] = -0.25;
	assert_true(drift_slope(y, 400) == 0);
	assert_true(drift_p(y, 400) == 1);
	assert_true(paired_hodges_lehmann(y, 400) == -0.25);
	for (size_t i = 0; i < 400; i++)
		y[i] = i % 2 ? 1 : 0;
	assert_true(drift_p(y, 400) > 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_r),
		cmocka_unit_test(knows_the_published_ranks),
		cmocka_unit_test(stays_sane_beyond_the_exact_range),
		cmocka_unit_test(tells_nothing_of_too_little),
		cmocka_unit_test(plans_the_published_numbers),
		cmocka_unit_test(judges),
		cmocka_unit_test(alarms_at_what_matters),
		cmocka_unit_test(finds_drift_and_outliers),
		cmocka_unit_test(walsh_averages_and_slopes_of_many_are_those_of_all),
		cmocka_unit_test(equal_values_have_no_drift),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
