/* SPDX-License-Identifier: GPL-3.0-or-later */

/* From lines of a trace, as kernels print them, to the parts of an fsync. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "evidence/timeline_make.h"

/* Disk 8:0 carries the volume, 8:16 its journal, whose superblock is at sector 8. */
static const struct trace_range outside_ranges[] = {
	{ .devno = 0x810, .sectors = 65536, .journal = true, .superblock_sector = 8 },
	{ .devno = 0x800, .sectors = 131072 },
};

static struct trace_map outside_map(void)
{
	struct trace_map map = { .disk_count = 2,
		.ranges = (struct trace_range *)outside_ranges, .range_count = 2 };

	map.disks[0] = (struct trace_disk){ .devno = makedev(8, 0), .name = "sda",
		.roles = EVIDENCE_DATA };
	map.disks[1] = (struct trace_disk){ .devno = makedev(8, 16), .name = "sdb",
		.roles = EVIDENCE_JOURNAL };
	return map;
}

static size_t parse_all(struct trace_event *events, const char *const *lines, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += !trace_parse(&events[n], lines[i]);
	return n;
}

static struct timeline *make(const struct trace_map *map, const char *const *lines,
	size_t count)
{
	struct trace_event events[64];
	struct timeline *t = NULL;

	assert_true(count <= 64);
	assert_int_equal(timeline_make(&t, map, events, parse_all(events, lines, count), NULL),
		0);
	return t;
}

static void lines_of_a_trace_are_understood(void **state)
{
	struct trace_event v;

	(void)state;
	assert_int_equal(trace_parse(&v,
				 "      jbd2/sdb-5994    [000] .....   639.220237: "
				 "block_bio_queue: 8,16 FWFSM 72 + 8 [jbd2/sdb]"),
		0);
	assert_int_equal(v.kind, TRACE_QUEUE);
	assert_string_equal(v.command, "jbd2/sdb");
	assert_int_equal(v.thread, 5994);
	assert_int_equal(v.ns, UINT64_C(639220237000));
	assert_int_equal(v.devno, makedev(8, 16));
	assert_int_equal(v.sector, 72);
	assert_int_equal(v.sectors, 8);
	assert_true(trace_flush_first(&v));
	assert_true(trace_fua(&v));
	assert_true(trace_write(&v));
	assert_true(trace_metadata(&v));
	assert_false(trace_flush_only(&v));
	/* A name with everything in it, and no flags. */
	assert_int_equal(trace_parse(&v,
				 " a [001] b: c-d-17 [012]   1.000001: "
				 "ext4_sync_file_enter: dev 8,1 ino 12 parent 2 datasync 1 "),
		0);
	assert_int_equal(v.thread, 17);
	assert_int_equal(v.inode, 12);
	assert_true(v.data_only);
}

static void requests_are_read_in_the_form_of_every_kernel(void **state)
{
	struct trace_event v;

	(void)state;
	assert_int_equal(trace_parse(&v,
				 " kworker/0:1H-44 [000] ..... 639.210788: block_rq_issue: "
				 "7,1 WSM 28672 () 16 + 56 be,0,3 [kworker/0:1H]"),
		0);
	assert_int_equal(v.kind, TRACE_ISSUE);
	assert_int_equal(v.sector, 16);
	assert_int_equal(v.sectors, 56);
	assert_int_equal(trace_parse(&v,
				 " <idle>-0 [000] d.s1. 639.220098: block_rq_complete: "
				 "7,0 FF () 18446744073709551615 + 0 [0]"),
		0);
	assert_true(trace_flush_only(&v));
	assert_false(trace_fua(&v));
	assert_false(trace_write(&v));
	assert_int_equal(v.sectors, 0);
}

static void what_is_no_line_of_these_is_refused(void **state)
{
	static const char *const lines[] = {
		"",
		"# tracer: nop",
		"CPU:1 [LOST 12 EVENTS]",
		" dd-1 [000] ..... 1.000001: sched_switch: prev_comm=a",
		" dd-1 [000] ..... 1.000001: block_rq_issue: 8,0 WS 4096 () 16",
		" dd-1 [000] ..... 1.000001: block_rq_issue: ",
		" dd-1 [000] ..... block_rq_issue: 8,0 WS 4096 () 16 + 8 [dd]",
		" dd [000] ..... 1.000001: block_rq_issue: 8,0 WS 4096 () 16 + 8 [dd]",
		"[000] 1.000001: block_rq_issue: 8,0 WS 4096 () 16 + 8 [dd]",
		" dd-1 [000] ..... 1.000001: jbd2_run_stats: dev 8,0 tid 2 wait 0",
	};
	struct trace_event v;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_int_equal(trace_parse(&v, lines[i]), -EBADMSG);
}

/* The order of Linux 6.18 with an external journal, data=ordered. */
static const char *const append_outside[] = {
	" dd-6002 [000] ..... 1.000000: ext4_sync_file_enter: "
		"dev 8,0 ino 12 parent 2 datasync 0 ",
	" dd-6002 [000] ..... 1.000010: block_bio_queue: 8,0 WS 8528 + 8 [dd]",
	" dd-6002 [000] ..... 1.000100: block_rq_issue: 8,0 WS 4096 () 8528 + 8 be,0,4 [dd]",
	" x-22 [001] ..s.. 1.000200: block_rq_complete: 8,0 WS () 8528 + 8 be,0,4 [0]",
	" jbd2/sdb-5 [000] ..... 1.000210: jbd2_commit_locking: dev 8,0 transaction 7 sync 0",
	" jbd2/sdb-5 [000] ..... 1.000215: jbd2_commit_flushing: dev 8,0 transaction 7 sync 0",
	" jbd2/sdb-5 [000] ..... 1.000225: jbd2_commit_logging: dev 8,0 transaction 7 sync 0",
	" jbd2/sdb-5 [000] ..... 1.000240: block_bio_queue: 8,16 WSM 16 + 8 [jbd2/sdb]",
	" jbd2/sdb-5 [000] ..... 1.000250: block_bio_queue: 8,0 FWS 0 + 0 [jbd2/sdb]",
	" k-44 [000] ..... 1.000300: block_rq_issue: 8,0 FF 0 () 0 + 0 none,0,0 [k]",
	" k-44 [000] ..... 1.000310: block_rq_issue: 8,16 WSM 4096 () 16 + 8 be,0,3 [k]",
	" k-44 [000] ..... 1.000320: block_rq_issue: 8,16 WSM 4096 () 24 + 8 be,0,3 [k]",
	" x-22 [001] ..s.. 1.000350: block_rq_complete: 8,16 WSM () 16 + 8 be,0,3 [0]",
	" x-22 [001] ..s.. 1.000360: block_rq_complete: 8,16 WSM () 24 + 8 be,0,3 [0]",
	" x-22 [001] ..s.. 1.004300: block_rq_complete: 8,0 FF () 18446744073709551615 + 0 [0]",
	" x-22 [001] ..s.. 1.004301: block_rq_complete: 8,0 WS () 0 + 0 be,0,3 [0]",
	" jbd2/sdb-5 [000] ..... 1.004350: block_bio_queue: 8,16 FWFSM 32 + 8 [jbd2/sdb]",
	" k-44 [000] ..... 1.004400: block_rq_issue: 8,16 FF 0 () 0 + 0 none,0,0 [k]",
	" x-22 [001] ..s.. 1.004500: block_rq_complete: 8,16 FF () 18446744073709551615 + 0 [0]",
	" k-44 [000] ..... 1.004500: block_rq_issue: 8,16 WSM 4096 () 32 + 8 be,0,3 [k]",
	" x-22 [001] ..s.. 1.004600: block_rq_complete: 8,16 WSM () 32 + 8 be,0,3 [0]",
	" k-44 [000] ..... 1.004600: block_rq_issue: 8,16 FF 0 () 0 + 0 none,0,0 [k]",
	" x-22 [001] ..s.. 1.004700: block_rq_complete: 8,16 FF () 18446744073709551615 + 0 [0]",
	" x-22 [001] d.s1. 1.004701: block_rq_complete: 8,16 WSM () 32 + 0 be,0,3 [0]",
	" jbd2/sdb-5 [000] ..... 1.004725: jbd2_run_stats: dev 8,0 tid 7 wait 4 request_delay "
	"0 running 8 locked 0 flushing 0 logging 4 handle_count 3 blocks 5 blocks_logged 6",
	" dd-6002 [000] ..... 1.004750: ext4_sync_file_exit: dev 8,0 ino 12 ret 0",
};

static void check_step(const struct timeline *t, size_t i, enum timeline_what what,
	const char *disk, uint64_t start_us, uint64_t took_us, uint64_t bytes)
{
	const struct timeline_step *s = &t->steps[i];

	assert_true(i < t->step_count);
	assert_int_equal(s->what, what);
	assert_string_equal(s->disk, disk);
	assert_int_equal(s->start_ns, start_us * 1000);
	assert_int_equal(s->duration_ns, took_us * 1000);
	assert_int_equal(s->bytes, bytes);
}

static void an_fsync_is_taken_apart(void **state)
{
	const struct trace_map map = outside_map();
	struct timeline *t = make(&map, append_outside, ARRAY_SIZE(append_outside));

	(void)state;
	assert_int_equal(t->fsync_count, 1);
	assert_int_equal(t->median_ns, 4750000);
	assert_int_equal(t->duration_ns, 4750000);
	assert_false(t->data_only);
	assert_int_equal(t->step_count, 6);
	check_step(t, 0, TIMELINE_DATA, "sda", 100, 100, 4096);
	check_step(t, 1, TIMELINE_FLUSH, "sda", 300, 4000, 0);
	check_step(t, 2, TIMELINE_JOURNAL, "sdb", 310, 50, 8192);
	assert_int_equal(t->steps[2].requests, 2);
	check_step(t, 3, TIMELINE_FLUSH, "sdb", 4400, 100, 0);
	check_step(t, 4, TIMELINE_COMMIT, "sdb", 4500, 100, 4096);
	check_step(t, 5, TIMELINE_FLUSH, "sdb", 4600, 100, 0);
	assert_string_equal(timeline_step_text(&t->steps[1]), "flush data disk");
	assert_string_equal(timeline_step_text(&t->steps[5]), "flush journal disk");
	/* 0-100, 200-300, 4300-4400, 4700-4750 */
	assert_int_equal(t->idle_ns, 350000);
	timeline_free(t);
}

static void a_transaction_has_its_parts(void **state)
{
	const struct trace_map map = outside_map();
	struct timeline *t = make(&map, append_outside, ARRAY_SIZE(append_outside));
	const struct timeline_transaction *x = &t->transactions[0];

	(void)state;
	assert_int_equal(t->transaction_count, 1);
	assert_int_equal(t->kept_count, 1);
	assert_int_equal(x->tid, 7);
	assert_int_equal(x->wait_ns, 4000000);
	assert_int_equal(x->running_ns, 8000000);
	assert_int_equal(x->locked_ns, 5000);
	assert_int_equal(x->flushing_ns, 10000);
	assert_int_equal(x->logging_ns, 4500000);
	assert_int_equal(x->handles, 3);
	assert_int_equal(x->blocks, 5);
	assert_int_equal(x->logged_blocks, 6);
	timeline_free(t);
}

/* Its beginning was overwritten: the kernel's own times, in ticks, stand in. */
static void a_transaction_seen_late_has_the_times_of_the_kernel(void **state)
{
	static const char *const lines[] = {
		" jbd2/sdb-5 [000] ..... 1.004725: jbd2_run_stats: dev 8,0 tid 7 wait 0 "
		"request_delay 0 running 8 locked 1 flushing 2 logging 4 handle_count 3 "
		"blocks 5 blocks_logged 6",
	};
	const struct trace_map map = outside_map();
	struct timeline *t = make(&map, lines, ARRAY_SIZE(lines));

	(void)state;
	assert_int_equal(t->transactions[0].locked_ns, 1000000);
	assert_int_equal(t->transactions[0].flushing_ns, 2000000);
	assert_int_equal(t->transactions[0].logging_ns, 4000000);
	assert_int_equal(t->fsync_count, 0);
	assert_int_equal(t->step_count, 0);
	timeline_free(t);
}

/* Three threads; the call of one and the return of another are missing. */
static void the_fsync_of_median_length_is_shown(void **state)
{
	static const char *const lines[] = {
		" t-9 [000] ..... 0.500000: ext4_sync_file_exit: dev 8,0 ino 9 ret 0",
		(" t-1 [000] ..... 1.000000: ext4_sync_file_enter: "
		 "dev 8,0 ino 1 parent 2 datasync 0"),
		" t-2 [000] ..... 1.000000: ext4_sync_file_enter: "
		"dev 8,0 ino 2 parent 2 datasync 1",
		" k-4 [000] ..... 1.000100: block_rq_issue: 8,0 WS 4096 () 8 + 8 [k]",
		" t-3 [000] ..... 1.000200: ext4_sync_file_enter: "
		"dev 8,0 ino 3 parent 2 datasync 0",
		" t-1 [000] ..... 1.000300: ext4_sync_file_exit: dev 8,0 ino 1 ret 0",
		" t-3 [000] ..... 1.000350: ext4_sync_file_exit: dev 8,0 ino 3 ret 0",
		" t-2 [000] ..... 1.005000: ext4_sync_file_exit: dev 8,0 ino 2 ret 0",
		" t-4 [000] ..... 1.006000: ext4_sync_file_enter: "
		"dev 8,0 ino 4 parent 2 datasync 0",
	};
	const struct trace_map map = outside_map();
	struct timeline *t = make(&map, lines, ARRAY_SIZE(lines));

	(void)state;
	assert_int_equal(t->fsync_count, 3);
	assert_int_equal(t->median_ns, 300000);
	assert_int_equal(t->step_count, 1);
	/* Not done when the fsync was: it ends with it. */
	check_step(t, 0, TIMELINE_DATA, "sda", 100, 200, 4096);
	assert_int_equal(t->idle_ns, 100000);
	timeline_free(t);
}

static void what_was_under_way_before_begins_at_zero(void **state)
{
	static const char *const lines[] = {
		" k-4 [000] ..... 0.900000: block_rq_issue: 8,0 WS 8192 () 8 + 16 [k]",
		(" t-1 [000] ..... 1.000000: ext4_sync_file_enter: "
		 "dev 8,0 ino 1 parent 2 datasync 0"),
		/* In two parts. */
		" k-4 [000] ..... 1.000100: block_rq_complete: 8,0 WS () 8 + 8 [0]",
		" k-4 [000] ..... 1.000200: block_rq_complete: 8,0 WS () 16 + 8 [0]",
		" t-1 [000] ..... 1.000300: ext4_sync_file_exit: dev 8,0 ino 1 ret 0",
	};
	const struct trace_map map = outside_map();
	struct timeline *t = make(&map, lines, ARRAY_SIZE(lines));

	(void)state;
	assert_int_equal(t->step_count, 1);
	check_step(t, 0, TIMELINE_DATA, "sda", 0, 200, 8192);
	assert_int_equal(t->idle_ns, 100000);
	timeline_free(t);
}

/* dm and md have no queue: their bios are looked at.  Inline journal at sector 1000. */
static void a_disk_without_a_queue_is_seen_by_its_bios(void **state)
{
	static const struct trace_range ranges[] = {
		{ .devno = 0xfd00, .first_sector = 1000, .sectors = 800, .journal = true,
			.superblock_sector = 1000 },
		{ .devno = 0xfd00, .sectors = 131072 },
	};
	static const char *const lines[] = {
		(" t-1 [000] ..... 1.000000: ext4_sync_file_enter: "
		 "dev 253,0 ino 1 parent 2 datasync 0"),
		" t-1 [000] ..... 1.000100: block_bio_queue: 253,0 WSM 1000 + 8 [t]",
		" t-1 [000] ..... 1.000150: block_bio_complete: 253,0 WSM 1000 + 8 [0]",
		" t-1 [000] ..... 1.000200: block_bio_queue: 253,0 FWFSM 1040 + 8 [t]",
		" t-1 [000] ..... 1.000300: block_bio_complete: 253,0 FWFSM 1040 + 8 [0]",
		" t-1 [000] ..... 1.000300: block_bio_queue: 253,0 WM 64 + 8 [t]",
		" t-1 [000] ..... 1.000350: block_bio_complete: 253,0 WM 64 + 8 [0]",
		" t-1 [000] ..... 1.000400: block_bio_queue: 253,0 FWS 0 + 0 [t]",
		" t-1 [000] ..... 1.000500: block_bio_complete: 253,0 FWS 0 + 0 [0]",
		" t-1 [000] ..... 1.000600: ext4_sync_file_exit: dev 253,0 ino 1 ret 0",
	};
	struct trace_map map = { .disk_count = 1, .ranges = (struct trace_range *)ranges,
		.range_count = 2 };
	struct timeline *t;

	(void)state;
	map.disks[0] = (struct trace_disk){ .devno = makedev(253, 0), .name = "dm-0",
		.roles = EVIDENCE_DATA | EVIDENCE_JOURNAL, .bio_based = true };
	t = make(&map, lines, ARRAY_SIZE(lines));
	assert_int_equal(t->step_count, 4);
	check_step(t, 0, TIMELINE_JOURNAL_SUPERBLOCK, "dm-0", 100, 50, 4096);
	check_step(t, 1, TIMELINE_COMMIT, "dm-0", 200, 100, 4096);
	check_step(t, 2, TIMELINE_METADATA, "dm-0", 300, 50, 4096);
	check_step(t, 3, TIMELINE_FLUSH, "dm-0", 400, 100, 0);
	assert_string_equal(timeline_step_text(&t->steps[3]), "flush disk");
	timeline_free(t);
}

static void a_timeline_is_written_and_read_again(void **state)
{
	const struct trace_map map = outside_map();
	struct timeline *t = make(&map, append_outside, ARRAY_SIZE(append_outside));
	struct timeline *again = NULL;
	json_t *json, *json_again;

	(void)state;
	assert_int_equal(timeline_label(t, "c", "append-fsync/t1", "ssd", 3, NULL), 0);
	json = timeline_to_json(t);
	assert_int_equal(timeline_from_json(&again, json, NULL), 0);
	assert_string_equal(again->arm, "ssd");
	assert_int_equal(again->block, 3);
	assert_int_equal(again->step_count, 6);
	json_again = timeline_to_json(again);
	assert_true(json_equal(json, json_again));
	json_decref(json_again);
	timeline_free(again);
	timeline_free(t);
	/* Damaged: each key that is missing is an error. */
	for (void *i = json_object_iter(json); i; i = json_object_iter(json)) {
		assert_int_equal(json_object_del(json, json_object_iter_key(i)), 0);
		assert_int_equal(timeline_from_json(&again, json, NULL), -EBADMSG);
	}
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_a_trace_are_understood),
		cmocka_unit_test(requests_are_read_in_the_form_of_every_kernel),
		cmocka_unit_test(what_is_no_line_of_these_is_refused),
		cmocka_unit_test(an_fsync_is_taken_apart),
		cmocka_unit_test(a_transaction_has_its_parts),
		cmocka_unit_test(a_transaction_seen_late_has_the_times_of_the_kernel),
		cmocka_unit_test(the_fsync_of_median_length_is_shown),
		cmocka_unit_test(what_was_under_way_before_begins_at_zero),
		cmocka_unit_test(a_disk_without_a_queue_is_seen_by_its_bios),
		cmocka_unit_test(a_timeline_is_written_and_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
