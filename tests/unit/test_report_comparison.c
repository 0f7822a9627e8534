/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The arithmetic of reports: which blocks count, medians, ratios, merged runs. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/comparison.h"
#include "report/merge.h"

static const struct bundle_design design = { .level = .95, .margin = .03 };

struct value {
	uint32_t block, arm;
	double value;
};

/* Adds a run with one phase and one metric. */
static int add(struct comparison *c, uint32_t block, uint32_t arm, const char *phase,
	const char *metric, enum result_unit unit, double value, uint64_t wall_ns,
	struct err *e)
{
	struct result_run run = { .workload = strdup("w"), .type = strdup("dd"),
		.block = block };
	struct result_phase *p;
	int r;

	assert_int_equal(result_run_add_phase(&run, phase, "Title", &p, NULL), 0);
	p->counters.wall_ns = wall_ns;
	assert_int_equal(
		result_phase_add_metric(p, metric, unit, HIGHER_IS_BETTER, value, NULL), 0);
	r = comparison_add_run(c, &run, arm, e);
	result_run_deinit(&run);
	return r;
}

static void add_all(struct comparison *c, const struct value *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(add(c, v[i].block, v[i].arm, "p", "rate",
					 UNIT_BYTES_PER_SECOND, v[i].value, 1000000000, NULL),
			0);
}

static struct comparison_result compare(struct comparison *c, uint32_t arm)
{
	struct comparison_result result = { 0 };

	assert_int_equal(c->count, 1);
	assert_int_equal(comparison_compare(c->series[0], arm, &design, &result, NULL), 0);
	return result;
}

static void medians_and_their_ratio(void **state)
{
	/* Out of order, as random blocks are. */
	static const struct value v[] = { { 0, 1, 30 }, { 0, 0, 10 }, { 1, 0, 12 },
		{ 1, 1, 31 }, { 2, 1, 90 }, { 2, 0, 20 } };
	struct comparison c = { 0 };
	struct comparison_result r;

	(void)state;
	add_all(&c, v, ARRAY_SIZE(v));
	r = compare(&c, 1);
	assert_int_equal(r.blocks, 3);
	assert_true(r.first_median == 12);
	assert_true(r.median == 31);
	assert_true(r.ratio == 31.0 / 12);
	r = compare(&c, 0);
	assert_int_equal(r.blocks, 3);
	assert_true(r.median == 12 && r.ratio == 1);
	comparison_deinit(&c);
}

static void only_blocks_with_both_arms_count(void **state)
{
	static const struct value v[] = { { 0, 0, 10 }, { 0, 1, 20 }, { 1, 0, 99 },
		{ 2, 1, 99 }, { 3, 0, 14 }, { 3, 1, 30 }, { 4, 0, NAN }, { 4, 1, 99 } };
	struct comparison c = { 0 };
	struct comparison_result r;

	(void)state;
	add_all(&c, v, ARRAY_SIZE(v));
	r = compare(&c, 1);
	assert_int_equal(r.blocks, 2);
	assert_true(r.first_median == 12);
	assert_true(r.median == 25);
	r = compare(&c, 2); /* an arm that was never measured */
	assert_int_equal(r.blocks, 0);
	assert_true(isnan(r.median) && isnan(r.ratio));
	comparison_deinit(&c);
}

static void a_ratio_to_nothing_is_missing(void **state)
{
	static const struct value v[] = { { 0, 0, 0 }, { 0, 1, 20 } };
	struct comparison c = { 0 };
	struct comparison_result r;

	(void)state;
	add_all(&c, v, ARRAY_SIZE(v));
	r = compare(&c, 1);
	assert_int_equal(r.blocks, 1);
	assert_true(isnan(r.ratio));
	comparison_deinit(&c);
}

static void impossible_data_is_refused(void **state)
{
	static const struct value v[] = { { 0, 0, 1 }, { 0, 0, 2 } };
	struct comparison c = { 0 };
	struct comparison_result r;
	struct err e = { 0 };

	(void)state;
	add_all(&c, v, ARRAY_SIZE(v));
	assert_int_equal(comparison_compare(c.series[0], 1, &design, &r, &e), -EBADMSG);
	assert_non_null(strstr(err_message(&e), "w/p/rate was measured twice"));
	err_clear(&e);
	assert_int_equal(add(&c, 1, 0, "p", "rate", UNIT_COUNT, 1, 1, &e), -EBADMSG);
	assert_non_null(strstr(err_message(&e), "changes its unit"));
	err_clear(&e);
	comparison_deinit(&c);
}

static void paths_keep_their_order_and_short_phases_are_known(void **state)
{
	struct comparison c = { 0 };

	(void)state;
	for (uint32_t block = 0; block < 2; block++) {
		assert_int_equal(add(&c, block, 0, "z", "rate", UNIT_COUNT, 1,
					 200000000 - block, NULL),
			0);
		assert_int_equal(add(&c, block, 0, "a", "rate", UNIT_COUNT, 1, 200000000, NULL),
			0);
		assert_int_equal(add(&c, block, 0, "a", "other", UNIT_COUNT, 1, 0, NULL), 0);
	}
	assert_int_equal(c.count, 3);
	assert_string_equal(c.series[0]->phase, "z");
	assert_string_equal(c.series[1]->metric, "rate");
	assert_string_equal(c.series[2]->metric, "other");
	assert_true(c.series[0]->too_short);
	assert_false(c.series[1]->too_short);
	assert_false(c.series[2]->too_short);
	comparison_deinit(&c);
}

static void add_phase(struct result_run *run, const char *name, uint64_t bytes,
	uint64_t latency_ns)
{
	struct result_phase *p;

	assert_int_equal(result_run_add_phase(run, name, "Title", &p, NULL), 0);
	p->counters = (struct result_counters){ .requested_bytes = 100, .block_bytes = 10,
		.threads = 4, .bytes = bytes, .operations = 2, .wall_ns = 3, .user_ns = 4,
		.system_ns = 5, .syncs = 6 };
	p->cache = RESULT_CACHE_DROPPED;
	p->latency = malloc(sizeof(*p->latency));
	hist_init(p->latency);
	hist_record(p->latency, latency_ns);
}

static void merged_runs_are_sums(void **state)
{
	struct result_run a = { .workload = strdup("w"), .type = strdup("dd"),
		.arm = strdup("x") };
	struct result_run b = { .workload = strdup("w"), .type = strdup("dd"),
		.arm = strdup("x") };
	struct result_run sum = { 0 };

	(void)state;
	add_phase(&a, "one", 10, 1000);
	add_phase(&b, "two", 5, 7);
	add_phase(&b, "one", 32, 3000);
	assert_int_equal(merge_run(&sum, &a, NULL), 0);
	assert_int_equal(merge_run(&sum, &b, NULL), 0);
	assert_string_equal(sum.arm, "x");
	assert_int_equal(sum.phase_count, 2);
	assert_string_equal(sum.phases[0].name, "one");
	assert_int_equal(sum.phases[0].cache, RESULT_CACHE_DROPPED);
	assert_int_equal(sum.phases[0].counters.bytes, 42);
	assert_int_equal(sum.phases[0].counters.operations, 4);
	assert_int_equal(sum.phases[0].counters.wall_ns, 6);
	assert_int_equal(sum.phases[0].counters.user_ns, 8);
	assert_int_equal(sum.phases[0].counters.system_ns, 10);
	assert_int_equal(sum.phases[0].counters.syncs, 12);
	assert_int_equal(sum.phases[0].counters.requested_bytes, 100);
	assert_int_equal(sum.phases[0].counters.threads, 4);
	assert_int_equal(sum.phases[0].latency->count, 2);
	assert_int_equal(sum.phases[0].latency->max_ns, 3000);
	assert_int_equal(sum.phases[1].counters.bytes, 5);
	result_run_deinit(&a);
	result_run_deinit(&b);
	result_run_deinit(&sum);
}

/* The spread of the six blocks of the pilot, the mean of all eight; block 2 of the pilot
 * has no ratio. */
static void steins_interval_is_of_the_pilots_spread(void **state)
{
	static const double ratios[] = { 1.1, 1.2, 0, 1.15, 1.05, 1.1, 5, 5 };
	const struct bundle_design stein = { .level = .95, .margin = .03, .target = .03,
		.pilot = 6 };
	struct comparison_result r = { 0 };
	struct comparison c = { 0 };
	double d[7], sum = 0, square = 0, half;
	size_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < ARRAY_SIZE(ratios); i++) {
		const struct value v[] = { { i, 0, 100 }, { i, 1, 100 * ratios[i] } };

		add_all(&c, v, 2);
		if (ratios[i] > 0)
			d[n++] = log(ratios[i]);
	}
	for (size_t i = 0; i < 5; i++)
		sum += d[i];
	for (size_t i = 0; i < 5; i++)
		square += (d[i] - sum / 5) * (d[i] - sum / 5);
	half = 2.7764451051977987 * sqrt(square / 4) / sqrt(7);
	sum += d[5] + d[6];
	assert_int_equal(comparison_compare(c.series[0], 1, &stein, &r, NULL), 0);
	assert_true(r.stein.exists);
	assert_true(fabs(r.stein.low - (sum / 7 - half)) < 1e-9);
	assert_true(fabs(r.stein.high - (sum / 7 + half)) < 1e-9);
	assert_int_equal(comparison_compare(c.series[0], 1, &design, &r, NULL), 0);
	assert_false(r.stein.exists);
	comparison_deinit(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(medians_and_their_ratio),
		cmocka_unit_test(only_blocks_with_both_arms_count),
		cmocka_unit_test(a_ratio_to_nothing_is_missing),
		cmocka_unit_test(impossible_data_is_refused),
		cmocka_unit_test(paths_keep_their_order_and_short_phases_are_known),
		cmocka_unit_test(merged_runs_are_sums),
		cmocka_unit_test(steins_interval_is_of_the_pilots_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
