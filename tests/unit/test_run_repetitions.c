/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Several runs of a workload as one. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "run/repetitions.h"

/* A run that wrote so many MiB in a second, with a sync, and whose program says figure. */
static struct result_run run_of(uint64_t mib, uint64_t latency_ns, double figure)
{
	struct result_run run = {.workload = strdup("w"), .type = strdup("dd"),
		.arm = strdup("a"), .started_wall_ns = mib};
	struct result_phase *phase;
	struct err e = {0};

	assert_int_equal(result_run_add_phase(&run, "write", "Write", &phase, &e), 0);
	phase->counters = (struct result_counters){.requested_bytes = 1 << 20,
		.block_bytes = 4096, .threads = 2, .bytes = mib << 20, .operations = mib,
		.wall_ns = NS_PER_S, .syncs = 1};
	phase->latency = malloc(sizeof(*phase->latency));
	hist_init(phase->latency);
	for (uint64_t i = 0; i < mib; i++)
		hist_record(phase->latency, latency_ns);
	assert_int_equal(result_phase_derive_metrics(phase, &e), 0);
	assert_int_equal(result_phase_add_metric(phase, "figure", UNIT_COUNT,
				 HIGHER_IS_BETTER, figure, &e), 0);
	phase->evidence = calloc(1, sizeof(*phase->evidence));
	*phase->evidence = (struct result_evidence){
		.disks = {{.name = "sda", .flushes_counted = true, .writes = mib,
			.flushes = 1}},
		.disk_count = 1,
		.journal = {.transactions = mib, .blocks = (double)latency_ns},
		.process = {.known = true, .write_calls = mib},
		.begun_ns = 10 * mib, .ended_ns = 10 * mib + 5, .trace = (uint32_t)mib};
	return run;
}

static double metric(const struct result_run *run, const char *name)
{
	const struct result_metric *m = result_phase_metric(&run->phases[0], name);

	assert_non_null(m);
	return m->value;
}

static void times_are_summed_and_the_median_is_taken_of_the_rest(void **state)
{
	struct result_run runs[] = {run_of(10, 1000, 7), run_of(20, 2000, 1), run_of(60, 3000, 9)};
	struct result_run all = {0};
	const struct result_evidence *evidence;
	struct err e = {0};

	(void)state;
	assert_int_equal(repetitions_merge(&all, runs, 3, &e), 0);
	assert_string_equal(all.workload, "w");
	assert_string_equal(all.type, "dd");
	assert_int_equal(all.started_wall_ns, 10);
	assert_int_equal(all.phase_count, 1);
	assert_int_equal(all.phases[0].counters.bytes, 90 << 20);
	assert_int_equal(all.phases[0].counters.wall_ns, 3 * NS_PER_S);
	assert_int_equal(all.phases[0].counters.syncs, 3);
	assert_int_equal(all.phases[0].counters.threads, 2);
	/* All bytes over all time, not a mean of rates; percentiles of all operations. */
	assert_true(metric(&all, "rate") == 30 << 20);
	assert_int_equal(all.phases[0].latency->count, 90);
	assert_in_range((uint64_t)metric(&all, "latency_p50"), 2970, 3030);
	assert_true(metric(&all, "figure") == 7);
	evidence = all.phases[0].evidence;
	assert_non_null(evidence);
	assert_int_equal(evidence->disks[0].writes, 90);
	assert_int_equal(evidence->disks[0].flushes, 3);
	assert_true(evidence->disks[0].flushes_counted);
	assert_int_equal(evidence->journal.transactions, 90);
	/* (10 x 1000 + 20 x 2000 + 60 x 3000) / 90 */
	assert_int_equal((uint64_t)(evidence->journal.blocks + 0.5), 2556);
	assert_int_equal(evidence->process.write_calls, 90);
	assert_int_equal(evidence->begun_ns, 100);
	assert_int_equal(evidence->ended_ns, 605);
	assert_int_equal(evidence->trace, 60);
	result_run_deinit(&all);
	for (size_t i = 0; i < 3; i++)
		result_run_deinit(&runs[i]);
}

static void one_run_stays_what_it_is(void **state)
{
	struct result_run run = run_of(10, 1000, 7), all = {0};
	struct result_phase *phases = run.phases;
	struct err e = {0};

	(void)state;
	assert_int_equal(repetitions_merge(&all, &run, 1, &e), 0);
	assert_ptr_equal(all.phases, phases);
	assert_null(run.phases);
	result_run_deinit(&all);
}

static void without_times_there_is_no_sum(void **state)
{
	struct result_run runs[] = {run_of(10, 1000, 7), run_of(20, 2000, 1)};
	struct result_run all = {0};
	struct err e = {0};

	(void)state;
	runs[1].phases[0].counters.unknown = RESULT_WALL;
	assert_true(repetitions_merge(&all, runs, 2, &e) < 0);
	assert_non_null(strstr(err_message(&e), "workload w does not say how long write took"));
	err_clear(&e);
	result_run_deinit(&all);
	result_run_deinit(&runs[0]);
	result_run_deinit(&runs[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_summed_and_the_median_is_taken_of_the_rest),
		cmocka_unit_test(one_run_stays_what_it_is),
		cmocka_unit_test(without_times_there_is_no_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
