/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Readers of the kernel's accounts, on texts as kernels print them. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/clock.h"
#include "evidence/diskstats.h"
#include "evidence/jbd2.h"
#include "evidence/judge.h"
#include "evidence/procio.h"

static void a_stat_line_has_flushes_since_5_5(void **state)
{
	struct diskstats s;

	(void)state;
	assert_int_equal(diskstats_parse(&s, "  10 1 160 5 20 2 4096 7 3 12 30 1 0 8 3 40 55"),
		0);
	assert_int_equal(s.reads, 10);
	assert_int_equal(s.read_bytes, 160 * 512);
	assert_int_equal(s.writes, 20);
	assert_int_equal(s.write_bytes, 4096 * 512);
	assert_int_equal(s.in_flight, 3);
	assert_int_equal(s.busy_ns, 12000000);
	assert_int_equal(s.discards, 1);
	assert_true(s.has_flushes);
	assert_int_equal(s.flushes, 40);
	assert_int_equal(s.flush_ns, 55000000);
	assert_int_equal(diskstats_parse(&s, "10 1 160 5 20 2 4096 7 0 12 30"), 0);
	assert_false(s.has_flushes);
	assert_int_equal(diskstats_parse(&s, "10 1 160 5"), -EBADMSG);
	assert_int_equal(diskstats_parse(&s, ""), -EBADMSG);
}

static void counters_never_go_backwards(void **state)
{
	struct diskstats a = { .reads = 5, .flushes = 9 }, b = { .reads = 8, .flushes = 1 };
	struct diskstats d = diskstats_difference(&a, &b);

	(void)state;
	assert_int_equal(d.reads, 3);
	assert_int_equal(d.flushes, 0);
}

static void a_journal_tells_its_transactions(void **state)
{
	static const char text[] =
		"36214 transactions (36202 requested), each up to 5461 blocks\n"
		"average: \n  0ms waiting for transaction\n  0ms request delay\n"
		"  4ms running transaction\n  0ms transaction was being locked\n"
		"  0ms flushing data (in ordered mode)\n  8ms logging transaction\n"
		"  1413us average transaction commit time\n  6 handles per transaction\n"
		"  4 blocks per transaction\n  7 logged blocks per transaction\n";
	struct jbd2_info i;

	(void)state;
	assert_int_equal(jbd2_parse(&i, text), 0);
	assert_int_equal(i.transactions, 36214);
	assert_int_equal(i.requested, 36202);
	assert_int_equal(i.commit_us, 1413);
	assert_int_equal(i.handles, 6);
	assert_int_equal(i.blocks, 4);
	assert_int_equal(i.logged_blocks, 7);
	assert_int_equal(i.running_ms, 4);
	assert_int_equal(i.logging_ms, 8);
	assert_int_equal(jbd2_parse(&i, "nothing of the kind"), -EBADMSG);
}

static void our_own_account_is_read(void **state)
{
	struct procio p;

	(void)state;
	assert_int_equal(procio_parse(&p,
				 "rchar: 10\nwchar: 20\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\n"
				 "write_bytes: 8192\ncancelled_write_bytes: 512\n"),
		0);
	assert_int_equal(p.dirtied_bytes, 8192);
	assert_int_equal(p.cancelled_bytes, 512);
	assert_int_equal(p.write_bytes, 20);
	assert_int_equal(p.device_read_bytes, 4096);
	assert_int_equal(procio_parse(&p, "x"), -EBADMSG);
}

/* A phase of 100 syncs by one thread in 10 s. */
static enum evidence_verdict judge(enum arm_placement placement, bool barrier,
	uint64_t data_flushes, uint64_t journal_flushes, bool write_back, bool rotational,
	uint64_t wall_ns)
{
	struct result_counters c = { .syncs = 100, .threads = 1, .wall_ns = wall_ns };
	struct result_evidence v = { .disk_count = placement == ARM_EXTERNAL ? 2 : 1,
		.journal = { .name = "x", .transactions = 100, .requested = 100 } };
	struct evidence_arm arm = { .placement = placement, .barrier = barrier,
		.new_data = true };

	v.disks[0] = (struct evidence_disk){ .name = "sda", .roles = EVIDENCE_DATA,
		.flushes_counted = true, .write_back = write_back, .rotational = rotational,
		.flushes = data_flushes };
	v.disks[1] = (struct evidence_disk){ .name = "sdb", .roles = EVIDENCE_JOURNAL,
		.flushes_counted = true, .write_back = write_back,
		.flushes = journal_flushes };
	evidence_judge(&v, &c, &arm);
	assert_true(v.reason[0]);
	return v.verdict;
}

static void commits_that_nobody_counts_are_no_proof(void **state)
{
	struct result_counters c = { .syncs = 100, .threads = 2, .wall_ns = 10 * NS_PER_S };
	struct result_evidence v = { .disk_count = 1 };
	struct evidence_arm arm = { .placement = ARM_INLINE, .barrier = true, .new_data = true };

	(void)state;
	v.disks[0] = (struct evidence_disk){ .name = "sda", .roles = EVIDENCE_DATA,
		.flushes_counted = true, .write_back = true, .flushes = 3 };
	evidence_judge(&v, &c, &arm);
	assert_int_equal(v.verdict, EVIDENCE_UNKNOWN);
	assert_non_null(strstr(v.reason, "/proc/fs/jbd2"));
	arm.placement = ARM_NO_JOURNAL;
	evidence_judge(&v, &c, &arm);
	assert_int_equal(v.verdict, EVIDENCE_OK);
}

static void verdicts_follow_the_model(void **state)
{
	const uint64_t s10 = UINT64_C(10000000000);

	(void)state;
	assert_int_equal(judge(ARM_INLINE, true, 200, 0, true, true, s10), EVIDENCE_OK);
	assert_int_equal(judge(ARM_EXTERNAL, true, 100, 200, true, true, s10), EVIDENCE_OK);
	/* An old kernel that forgets the data disk. */
	assert_int_equal(judge(ARM_EXTERNAL, true, 40, 200, true, true, s10),
		EVIDENCE_SUSPECT);
	assert_int_equal(judge(ARM_EXTERNAL, true, 0, 200, true, true, s10),
		EVIDENCE_FAILED);
	assert_int_equal(judge(ARM_EXTERNAL, true, 100, 0, true, true, s10),
		EVIDENCE_FAILED);
	assert_int_equal(judge(ARM_INLINE, true, 0, 0, true, true, s10), EVIDENCE_FAILED);
	assert_int_equal(judge(ARM_INLINE, false, 0, 0, true, true, s10), EVIDENCE_FAILED);
	assert_int_equal(judge(ARM_INLINE, false, 0, 0, false, true, s10),
		EVIDENCE_NOT_APPLICABLE);
	/* 1000 synced writes a second by one thread on a rotating disk. */
	assert_int_equal(judge(ARM_INLINE, true, 200, 0, true, true, s10 / 100),
		EVIDENCE_IMPLAUSIBLE);
	assert_int_equal(judge(ARM_INLINE, true, 200, 0, true, false, s10 / 100),
		EVIDENCE_OK);
}

/* Create, fsync, rename, fsync of the directory: two syncs, new data once. */
static void a_sync_of_a_directory_needs_no_flush_of_the_data(void **state)
{
	struct result_counters c = { .syncs = 200, .operations = 100, .threads = 1,
		.wall_ns = UINT64_C(10000000000) };
	struct result_evidence v = { .disk_count = 2,
		.journal = { .name = "x", .transactions = 200, .requested = 200 } };
	struct evidence_arm arm = { .placement = ARM_EXTERNAL, .barrier = true,
		.new_data = true };

	(void)state;
	v.disks[0] = (struct evidence_disk){ .name = "sda", .roles = EVIDENCE_DATA,
		.flushes_counted = true, .write_back = true, .flushes = 100 };
	v.disks[1] = (struct evidence_disk){ .name = "sdb", .roles = EVIDENCE_JOURNAL,
		.flushes_counted = true, .write_back = true, .flushes = 400 };
	evidence_judge(&v, &c, &arm);
	assert_int_equal(v.verdict, EVIDENCE_OK);
	v.disks[0].flushes = 50;
	evidence_judge(&v, &c, &arm);
	assert_int_equal(v.verdict, EVIDENCE_SUSPECT);
}

/* Two partitions of sda, 100 syncs: 100 flushes of the data, 200 of the journal. */
static enum evidence_verdict judge_partitions(uint64_t flushes, uint64_t foreign_bytes)
{
	struct result_counters c = { .syncs = 100, .threads = 1, .wall_ns = UINT64_C(1) << 33 };
	struct result_evidence v = { .disk_count = 3,
		.journal = { .name = "sda2", .transactions = 100, .requested = 100 } };
	struct evidence_arm arm = { .placement = ARM_EXTERNAL, .barrier = true,
		.new_data = true };

	v.disks[0] = (struct evidence_disk){ .name = "sda1", .roles = EVIDENCE_DATA,
		.write_back = true, .counted_on = "sda", .write_bytes = 409600 };
	v.disks[1] = (struct evidence_disk){ .name = "sda", .below = true, .counts = true,
		.roles = EVIDENCE_DATA | EVIDENCE_JOURNAL, .write_back = true,
		.flushes_counted = true, .flushes = flushes, .read_bytes = 1 << 20,
		.write_bytes = 409600 + 2048000 + foreign_bytes };
	v.disks[2] = (struct evidence_disk){ .name = "sda2", .roles = EVIDENCE_JOURNAL,
		.write_back = true, .counted_on = "sda", .write_bytes = 2048000 };
	evidence_judge(&v, &c, &arm);
	assert_true(v.verdict != EVIDENCE_OK || strstr(v.reason, "counted on sda"));
	return v.verdict;
}

static void partitions_are_judged_by_the_counter_of_their_disk(void **state)
{
	(void)state;
	assert_int_equal(judge_partitions(300, 0), EVIDENCE_OK);
	assert_int_equal(judge_partitions(200, 0), EVIDENCE_SUSPECT);
	assert_int_equal(judge_partitions(0, 0), EVIDENCE_FAILED);
	/* It counts for others, too: what is missing is missing all the same. */
	assert_int_equal(judge_partitions(300, 512), EVIDENCE_UNKNOWN);
	assert_int_equal(judge_partitions(200, 512), EVIDENCE_SUSPECT);
}

/* A loop device counts by itself; the disk below it has flushes of its host, too. */
static void a_disk_further_below_does_not_count(void **state)
{
	struct result_counters c = { .syncs = 100, .threads = 1, .wall_ns = UINT64_C(1) << 33 };
	struct result_evidence v = { .disk_count = 2,
		.journal = { .name = "md0-8", .transactions = 100, .requested = 100 } };
	struct evidence_arm arm = { .placement = ARM_INLINE, .barrier = true,
		.new_data = true };

	(void)state;
	v.disks[0] = (struct evidence_disk){ .name = "md0", .roles = EVIDENCE_DATA,
		.write_back = true };
	v.disks[1] = (struct evidence_disk){ .name = "vda", .roles = EVIDENCE_DATA,
		.below = true, .write_back = true, .flushes_counted = true, .flushes = 900 };
	evidence_judge(&v, &c, &arm);
	assert_int_equal(v.verdict, EVIDENCE_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stat_line_has_flushes_since_5_5),
		cmocka_unit_test(counters_never_go_backwards),
		cmocka_unit_test(a_journal_tells_its_transactions),
		cmocka_unit_test(our_own_account_is_read),
		cmocka_unit_test(commits_that_nobody_counts_are_no_proof),
		cmocka_unit_test(verdicts_follow_the_model),
		cmocka_unit_test(partitions_are_judged_by_the_counter_of_their_disk),
		cmocka_unit_test(a_disk_further_below_does_not_count),
		cmocka_unit_test(a_sync_of_a_directory_needs_no_flush_of_the_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
