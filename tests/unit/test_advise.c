/* SPDX-License-Identifier: GPL-3.0-or-later */

/* From lines of a trace and jbd2's rounded means to what may be said of a journal. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "advise/advice.h"
#include "advise/watch.h"
#include "core/clock.h"
#include "core/macros.h"

static void a_mean_that_is_rounded_gives_a_bound(void **state)
{
	struct watch_bound b = watch_between(0, 0, 100, 4, 10);

	(void)state;
	assert_true(b.low == 400 && b.high == 1400);
	/* 1000 of mean 7 were at most 8000, 1100 of mean 7 at least 7700 and at most 8800. */
	b = watch_between(1000, 7, 1100, 7, 1);
	assert_true(b.low == 0 && b.high == 1800);
	b = watch_between(1000, 7, 1000, 7, 1);
	assert_true(b.low == 0 && b.high == 0);
}

static void read_all(struct commits_reader *rd, const char *const *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		commits_read_line(rd, lines[i]);
}

static void the_phases_of_commits_are_added_up(void **state)
{
	static const char *const lines[] = {
		"  jbd2/sdb1-8-594 [000] ..... 9.000000: jbd2_commit_locking: dev 8,17 "
		"transaction 1 sync 0",
		"  jbd2/sdb1-8-594 [000] ..... 9.001000: jbd2_commit_flushing: dev 8,17 "
		"transaction 1 sync 0",
		"  jbd2/sdb1-8-594 [000] ..... 9.003000: jbd2_commit_logging: dev 8,17 "
		"transaction 1 sync 0",
		"  jbd2/sdb1-8-594 [000] ..... 9.010000: jbd2_run_stats: dev 8,17 tid 1 wait 0 "
		"request_delay 0 running 4 locked 0 flushing 0 logging 8 handle_count 5 blocks "
		"6 blocks_logged 7",
		"  dd-700 [001] ..... 9.011000: jbd2_checkpoint: dev 8,17 result 0",
		/* The next stretch of five seconds, with a commit of which only the end is
		 * there. */
		"  jbd2/sdb1-8-594 [000] ..... 14.500000: jbd2_commit_logging: dev 8,17 "
		"transaction 2 sync 0",
		"  jbd2/sdb1-8-594 [000] ..... 14.501000: jbd2_run_stats: dev 8,17 tid 2 wait "
		"0 request_delay 0 running 4 locked 0 flushing 0 logging 0 handle_count 5 "
		"blocks 6 blocks_logged 19",
		"  jbd2/sdb1-8-594 [000] ..... 14.600000: jbd2_commit_logging: dev 8,17 "
		"transaction 3 sync 0",
	};
	struct commits_reader rd = { .from_ns = 9 * NS_PER_S };

	(void)state;
	read_all(&rd, lines, ARRAY_SIZE(lines));
	assert_int_equal(rd.sum.count, 2);
	assert_int_equal(rd.sum.locked_ns, 1000000);
	assert_int_equal(rd.sum.flushing_ns, 2000000);
	assert_int_equal(rd.sum.logging_ns, 8000000);
	assert_int_equal(rd.sum.longest_ns, 10000000);
	assert_int_equal(rd.sum.full, 1);
	assert_int_equal(rd.sum.logged_blocks, 26);
	assert_int_equal(rd.sum.most_blocks, 19);
	assert_int_equal(rd.sum.stretch_blocks, 7); /* the second is not over */
	assert_int_equal(rd.stretch_blocks, 19);
	assert_int_equal(rd.logging_ns, 14600000000);
}

static void what_began_before_the_recording_counts_from_there(void **state)
{
	static const char *const lines[] = {
		"  x-1 [000] ..... 8.900000: jbd2_commit_logging: dev 8,17 transaction 2 sync 0",
		"  x-1 [000] ..... 9.001000: jbd2_run_stats: dev 8,17 tid 2 wait 0 "
		"request_delay 0 running 4 locked 0 flushing 0 logging 0 handle_count 5 blocks "
		"6 blocks_logged 19",
	};
	struct commits_reader rd = { .from_ns = 9 * NS_PER_S };

	(void)state;
	read_all(&rd, lines, ARRAY_SIZE(lines));
	assert_int_equal(rd.sum.count, 1);
	assert_int_equal(rd.sum.logging_ns, 1000000);
	assert_int_equal(rd.sum.locked_ns + rd.sum.flushing_ns, 0);
}

static struct inventory_item volume = { .volume = { .block_bytes = 4096 } };

static void a_bound_follows_from_the_time_of_the_log(void **state)
{
	struct advice a = { .volume = &volume, .journal_bytes = 4 << 20,
		.watch = { .elapsed_ns = 10 * NS_PER_S, .commits = 100, .traced = true,
			.volume_counts = true,
			.volume = { .busy_ns = 5 * NS_PER_S, .write_bytes = 8192000 },
			.trace = { .covered_ns = 10 * NS_PER_S, .count = 100,
				.locked_ns = NS_PER_S, .logging_ns = 4 * NS_PER_S,
				.logged_blocks = 1000, .stretch_blocks = 600,
				.most_blocks = 30 } } };

	(void)state;
	advice_reckon(&a);
	assert_true(fabs(a.volume_busy - 0.5) < 1e-9);
	assert_true(isnan(a.journal_busy));
	assert_true(fabs(a.logging.high - 0.4) < 1e-9 && a.logging.low == a.logging.high);
	assert_true(fabs(a.speed_limit - 1 / 0.6) < 1e-9);
	assert_true(fabs(a.commit_left - 0.2) < 1e-9);
	assert_true(fabs(a.log_bytes_share - 0.5) < 1e-9);
	/* 600 blocks in 5 s; 35 s by default, and half as much again: 24.6 MiB. */
	if (a.home_ns == 35 * NS_PER_S)
		assert_int_equal(a.size_bytes, 32 << 20);
}

static void counters_alone_may_give_no_bound(void **state)
{
	struct advice a = { .volume = &volume,
		.watch = { .elapsed_ns = NS_PER_S, .commits = 1000,
			.logging_ns = { 0, 10.0 * NS_PER_S } } };

	(void)state;
	advice_reckon(&a);
	assert_true(isinf(a.speed_limit));
	assert_true(isnan(a.commit_left));
	assert_true(a.logging.high == 1);
	assert_true(a.size_is_bound);
}

static void an_idle_volume_gets_no_size(void **state)
{
	struct advice a = { .volume = &volume,
		.watch = { .elapsed_ns = NS_PER_S, .traced = true,
			.trace = { .covered_ns = NS_PER_S } } };

	(void)state;
	advice_reckon(&a);
	assert_true(a.logging.high == 0 && a.speed_limit == 1);
	assert_int_equal(a.size_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mean_that_is_rounded_gives_a_bound),
		cmocka_unit_test(the_phases_of_commits_are_added_up),
		cmocka_unit_test(what_began_before_the_recording_counts_from_there),
		cmocka_unit_test(a_bound_follows_from_the_time_of_the_log),
		cmocka_unit_test(counters_alone_may_give_no_bound),
		cmocka_unit_test(an_idle_volume_gets_no_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
