/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The rules by which a measurement is invalid: what breaks them and what does not. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/clock.h"
#include "evidence/conditions.h"
#include "mount/kernel_log.h"

static char settings[] = "sdb {\"scheduler\":\"none\"}\ngovernor performance\n";
static char other_settings[] = "sdb {\"scheduler\":\"bfq\"}\ngovernor performance\n";

static const struct conditions calm = {.wall_offset_ns = 1000,
	.asleep_ns = 5,
	.throttles = 7,
	.swap_ins = 9,
	.at_ns = 100 * NS_PER_S,
	.settings = settings};

static unsigned judge(const struct conditions *after, const char *detail)
{
	json_t *reasons = json_array();
	unsigned broken = validity_of_conditions(reasons, &calm, after);
	const char *text = json_string_value(
		json_object_get(json_array_get(reasons, 0), "detail"));

	if (detail) {
		assert_non_null(text);
		if (!strstr(text, detail))
			fail_msg("\"%s\" does not say \"%s\"", text, detail);
	} else {
		assert_int_equal(json_array_size(reasons), 0);
	}
	json_decref(reasons);
	return broken;
}

static void calm_conditions_are_valid(void **state)
{
	struct conditions after = calm;

	(void)state;
	after.at_ns += 1000 * NS_PER_S;
	assert_int_equal(judge(&after, NULL), 0);
	/* Slewed by 500 ppm for 1000 s. */
	after.wall_offset_ns -= (int64_t)NS_PER_S / 2;
	assert_int_equal(judge(&after, NULL), 0);
}

static void what_changes_breaks_its_rule(void **state)
{
	struct conditions after = calm;

	(void)state;
	after.wall_offset_ns -= 2 * (int64_t)NS_PER_S;
	assert_int_equal(judge(&after, "the clock was set by -2.0 s"), RULE_CLOCK);
	after = calm;
	after.asleep_ns += 3600 * (int64_t)NS_PER_S;
	assert_int_equal(judge(&after, "the machine slept for 3600.0 s"), RULE_CLOCK);
	after = calm;
	after.throttles++;
	assert_int_equal(judge(&after, "throttled 1 times"), RULE_THROTTLED);
	after = calm;
	after.alarms = 1;
	assert_int_equal(judge(&after, "temperature alarm"), RULE_THROTTLED);
	after = calm;
	after.swap_ins += 3;
	assert_int_equal(judge(&after, "3 pages"), RULE_SWAP);
	after = calm;
	after.settings = other_settings;
	assert_int_equal(judge(&after, "settings changed to sdb {\"scheduler\":\"bfq\"}"),
		RULE_SETTINGS);
}

static struct result_evidence evidence_of(uint64_t disk, uint64_t partition, uint64_t own)
{
	struct result_evidence v = {.disk_count = 3,
		.process = {.known = true, .device_read_bytes = own}};

	v.disks[0] = (struct evidence_disk){
		.name = "sdb1", .roles = EVIDENCE_DATA, .write_bytes = partition / 2,
		.read_bytes = partition / 2};
	v.disks[1] = (struct evidence_disk){
		.name = "sdb", .roles = EVIDENCE_DATA, .below = true, .write_bytes = disk};
	v.disks[2] = (struct evidence_disk){
		.name = "sdbc", .roles = EVIDENCE_DATA, .below = true, .write_bytes = 1 << 30};
	return v;
}

static unsigned foreign(uint64_t disk, uint64_t partition, uint64_t own, bool own_reads)
{
	json_t *reasons = json_array();
	struct result_evidence v = evidence_of(disk, partition, own);
	unsigned broken = validity_of_evidence(reasons, &v, "dd/write", own_reads);

	assert_int_equal(json_array_size(reasons) > 0, broken != 0);
	json_decref(reasons);
	return broken;
}

static void io_of_others_is_told_from_ours(void **state)
{
	(void)state;
	/* 1 % more on the disk than on our partition; 3 % more. */
	assert_int_equal(foreign(1010 << 20, 1000 << 20, 500 << 20, true), 0);
	assert_int_equal(foreign(1030 << 20, 1000 << 20, 500 << 20, true), RULE_FOREIGN_IO);
	/* Four megabytes are not much, whatever the share. */
	assert_int_equal(foreign(5 << 20, 1 << 20, 1 << 20, true), 0);
	/* Our devices were read for somebody else. */
	assert_int_equal(foreign(1000 << 20, 1000 << 20, 400 << 20, true), RULE_FOREIGN_IO);
	assert_int_equal(foreign(1000 << 20, 1000 << 20, 400 << 20, false), 0);
}

static void words_and_rules_fit(void **state)
{
	(void)state;
	for (unsigned rule = 1; rule <= RULE_SWAP; rule <<= 1)
		assert_int_equal(validity_rule_of(validity_word(rule)), rule);
	assert_int_equal(validity_rule_of("looks odd"), 0);
	assert_string_equal(validity_text(RULE_AUDIT | RULE_SWAP), "audit_failed, swap");
}

static void errors_of_our_disks_are_known_in_the_log(void **state)
{
	(void)state;
	assert_true(kernel_log_is_error(
		"blk_update_request: I/O error, dev sdb, sector 8 op 0x1", "sdb"));
	assert_true(kernel_log_is_error(
		"Buffer I/O error on dev sdb1, logical block 3", "sdb1"));
	assert_true(kernel_log_is_error(
		"nvme nvme0: I/O 5 QID 2 timeout, reset controller", "nvme0n1"));
	assert_true(kernel_log_is_error(
		"EXT4-fs error (device loop3): ext4_lookup:1: inode #2", "loop3"));
	assert_true(kernel_log_is_error(
		"sd 0:0:0:0: [sdb] tag#1 FAILED Result: hostbyte=DID_OK", "sdb"));
	assert_false(kernel_log_is_error("I/O error, dev sdbc, sector 8", "sdb"));
	assert_false(kernel_log_is_error("I/O error, dev loop31, sector 8", "loop3"));
	assert_false(kernel_log_is_error(
		"EXT4-fs (sdb): mounted filesystem with ordered data mode", "sdb"));
	assert_false(kernel_log_is_error("nvme nvme1: timeout", "nvme0n1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calm_conditions_are_valid),
		cmocka_unit_test(what_changes_breaks_its_rule),
		cmocka_unit_test(io_of_others_is_told_from_ours),
		cmocka_unit_test(words_and_rules_fit),
		cmocka_unit_test(errors_of_our_disks_are_known_in_the_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
