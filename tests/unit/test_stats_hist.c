/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The histogram against exact quantiles, and its arithmetic at the edges. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/macros.h"
#include "stats/hist.h"

enum { SAMPLES = 100000 };

static void buckets_are_contiguous_and_narrow(void **state _unused_)
{
	for (size_t i = 0; i + 1 < HIST_BUCKETS; i++) {
		uint64_t low = hist_bucket_low_ns(i), next = hist_bucket_low_ns(i + 1);

		assert_true(next > low);
		assert_int_equal(hist_bucket(low), i);
		assert_int_equal(hist_bucket(next - 1), i);
		if (next - low > 1)
			assert_true((double)(next - low) / (double)low <= 1.0 / 128);
	}
}

static void huge_values_fall_into_the_last_bucket(void **state _unused_)
{
	struct hist h;

	assert_int_equal(hist_bucket(UINT64_MAX), HIST_BUCKETS - 1);
	assert_int_equal(hist_bucket(UINT64_C(1) << 60), HIST_BUCKETS - 1);
	assert_true(hist_bucket(UINT64_C(1) << 42) < HIST_BUCKETS - 1);
	hist_init(&h);
	hist_record(&h, UINT64_C(1) << 60);
	assert_true(hist_quantile_ns(&h, .5) == UINT64_C(1) << 60);
}

static double draw(gsl_rng *r, int kind)
{
	switch (kind) {
	case 0: /* cached reads */
		return 400 + gsl_ran_exponential(r, 150);
	case 1: /* a disk: uniform seek and rotation */
		return 2e6 + gsl_ran_flat(r, 0, 14e6);
	case 2: /* long tail over six decades */
		return gsl_ran_lognormal(r, log(1e6), 2.5);
	case 3: /* two modes: cache hit or disk */
		return gsl_ran_flat(r, 0, 1) < .97 ? gsl_ran_flat(r, 800, 1200)
						   : gsl_ran_flat(r, 8e6, 9e6);
	case 4: /* a device with a constant service time */
		return 8333333;
	default: /* few distinct tiny values, the clock's grain */
		return floor(gsl_ran_flat(r, 0, 6)) * 41;
	}
}

static void quantiles_are_within_one_percent_of_exact(void **state _unused_)
{
	static const double quantiles[] = { 0, .01, .1, .25, .5, .75, .9, .95, .99, .999, 1 };
	static double exact[SAMPLES];
	gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
	struct hist h;

	for (int kind = 0; kind < 6; kind++) {
		hist_init(&h);
		for (size_t i = 0; i < SAMPLES; i++) {
			uint64_t ns = (uint64_t)draw(r, kind);

			exact[i] = (double)ns;
			hist_record(&h, ns);
		}
		gsl_sort(exact, 1, SAMPLES);
		for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++) {
			size_t rank = (size_t)ceil(quantiles[i] * SAMPLES);
			double want = exact[rank ? rank - 1 : 0];
			double got = (double)hist_quantile_ns(&h, quantiles[i]);

			if (fabs(got - want) > .01 * want)
				fail_msg("kind %d q %g: %g instead of %g", kind,
					quantiles[i], got, want);
		}
		assert_true(hist_quantile_ns(&h, 1) == (uint64_t)exact[SAMPLES - 1]);
		assert_true(hist_quantile_ns(&h, 0) == (uint64_t)exact[0]);
	}
	gsl_rng_free(r);
}

static void merging_equals_recording_everything_in_one(void **state _unused_)
{
	gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
	struct hist parts[3], merged, whole;

	hist_init(&merged);
	hist_init(&whole);
	for (size_t p = 0; p < ARRAY_SIZE(parts); p++)
		hist_init(&parts[p]);
	for (size_t i = 0; i < SAMPLES; i++) {
		uint64_t ns = (uint64_t)draw(r, 2);

		hist_record(&whole, ns);
		hist_record(&parts[i % 2], ns); /* the third one stays empty */
	}
	for (size_t p = 0; p < ARRAY_SIZE(parts); p++)
		hist_merge(&merged, &parts[p]);
	assert_memory_equal(&merged, &whole, sizeof(whole));
	gsl_rng_free(r);
}

static void sums_extremes_and_slow_counts_are_exact(void **state _unused_)
{
	struct hist h;

	hist_init(&h);
	assert_int_equal(hist_quantile_ns(&h, .5), 0);
	assert_true(hist_mean_ns(&h) == 0);
	hist_record(&h, 3);
	hist_record(&h, UINT64_C(2000000000));	/* exactly 2 s is not longer than 2 s */
	hist_record(&h, UINT64_C(2000000001));
	hist_record(&h, UINT64_C(10000000001));
	assert_int_equal(h.count, 4);
	assert_true(h.sum_ns == UINT64_C(14000000005));
	assert_int_equal(h.min_ns, 3);
	assert_true(h.max_ns == UINT64_C(10000000001));
	assert_int_equal(h.over_2s, 2);
	assert_int_equal(h.over_10s, 1);
	assert_true(hist_mean_ns(&h) == 14000000005. / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_are_contiguous_and_narrow),
		cmocka_unit_test(huge_values_fall_into_the_last_bucket),
		cmocka_unit_test(quantiles_are_within_one_percent_of_exact),
		cmocka_unit_test(merging_equals_recording_everything_in_one),
		cmocka_unit_test(sums_extremes_and_slow_counts_are_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
