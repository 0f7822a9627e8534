/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Keys, defaults and the arithmetic of sizes, without running anything. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "core/macros.h"
#include "workload/workload.h"

static struct workload *workload_of(const char *type)
{
	_cleanup_(err_clear) struct err e = { 0 };
	struct workload *w = NULL;

	assert_int_equal(workload_new(&w, workload_type_find(type), "tio", &e), 0);
	return w;
}

static void set_ok(struct workload *w, const char *key, const char *value)
{
	_cleanup_(err_clear) struct err e = { 0 };

	assert_int_equal(workload_set(w, key, value, &e), 0);
}

static void set_fails(struct workload *w, const char *key, const char *value, int code,
	const char *text)
{
	_cleanup_(err_clear) struct err e = { 0 };

	assert_int_equal(workload_set(w, key, value, &e), -code);
	assert_int_equal(e.kind, ERR_USAGE);
	if (!strstr(err_message(&e), text))
		fail_msg("\"%s\" not in \"%s\"", text, err_message(&e));
}

static void every_type_can_be_found_and_describes_its_keys(void **state _unused_)
{
	assert_true(workload_type_count() >= 2);
	for (size_t i = 0; i < workload_type_count(); i++) {
		const struct workload_type *type = workload_type_at(i);

		assert_ptr_equal(workload_type_find(type->name), type);
		assert_true(type->key_count <= 64);
		for (size_t k = 0; k < type->key_count; k++) {
			assert_non_null(type->keys[k].value);
			assert_non_null(type->keys[k].help);
		}
	}
	assert_null(workload_type_find("tiobenc"));
}

static void unknown_keys_name_the_nearest(void **state _unused_)
{
	struct workload *w = workload_of("tiobench");

	set_fails(w, "treads", "4", ENOENT, "tiobench has no key \"treads\"; did you mean "
					    "\"threads\"?");
	set_fails(w, "journal", "4", ENOENT, "tiobench has no key \"journal\"");
	workload_free(w);
}

static void bad_values_say_key_and_value(void **state _unused_)
{
	struct workload *w = workload_of("tiobench");

	set_fails(w, "threads", "four", EINVAL, "threads: \"four\" is not a whole number");
	set_fails(w, "threads", "0", EINVAL, "threads: 0 is not between 1 and 1024");
	set_fails(w, "threads", " ", EINVAL, "threads: at least one value");
	set_fails(w, "size", "12q", EINVAL, "size: \"12q\" is not a size");
	set_fails(w, "block", "0", EINVAL, "block: a size must not be 0");
	set_fails(w, "sync", "fsnc", EINVAL,
		"sync: \"fsnc\" is not none, fsync, fdatasync, dsync or sync");
	set_ok(w, "sync", "osync");
	set_fails(w, "direct", "maybe", EINVAL, "direct: \"maybe\" is neither yes nor no");
	workload_free(w);
}

static void checks_find_what_does_not_go_together(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };
	struct workload *w = workload_of("tiobench");

	set_ok(w, "size", "1M");
	assert_int_equal(workload_check(w, &e), 0);
	set_ok(w, "direct", "yes");
	set_ok(w, "block", "4096 1000");
	assert_int_equal(workload_check(w, &e), -EINVAL);
	assert_non_null(strstr(err_message(&e), "1000 bytes is no multiple of 512"));
	workload_free(w);
}

static void every_type_takes_the_common_keys_and_checks_them(void **state _unused_)
{
	static const char *const types[] = { "tiobench", "dd", "commit", "throughput", "aio" };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		_cleanup_(err_clear) struct err e = { 0 };
		struct workload *w = workload_of(types[i]);

		set_ok(w, "rate", "100");
		set_ok(w, "runtime", "1s");
		set_ok(w, "direct", "no");
		set_ok(w, "sync", "fsync");
		set_ok(w, "sync_every", "3");
		assert_int_equal(workload_check(w, &e), 0);
		set_ok(w, "sync", "dsync");
		assert_int_equal(workload_check(w, &e), -EINVAL);
		assert_non_null(strstr(err_message(&e), "sync_every"));
		set_ok(w, "sync", "none");
		set_ok(w, "sync_every", strcmp(types[i], "commit") ? "0" : "1");
		set_ok(w, "think", "1ms");
		err_clear(&e);
		assert_int_equal(workload_check(w, &e), -EINVAL);
		assert_non_null(strstr(err_message(&e), "rate and think exclude"));
		workload_free(w);
	}
}

static void sizes_are_rounded_down_to_whole_blocks(void **state _unused_)
{
	struct workload *w = workload_of("tiobench");

	set_ok(w, "size", "10M");
	set_ok(w, "random", "1000");
	set_ok(w, "threads", "1");
	assert_int_equal(workload_space(w), 10 << 20);
	assert_int_equal(workload_bytes(w), 2 * (10 << 20) + 2 * 1000 * 4096);

	/* 2560 blocks for 3 threads: 853 each. */
	set_ok(w, "threads", "3");
	assert_int_equal(workload_space(w), 3 * 853 * 4096);

	/* At least one block for each thread. */
	set_ok(w, "threads", "8");
	set_ok(w, "size", "4k");
	assert_int_equal(workload_space(w), 8 * 4096);
	workload_free(w);
}

static void lists_run_every_combination(void **state _unused_)
{
	struct workload *w = workload_of("tiobench");

	set_ok(w, "size", "64M,128M");
	set_ok(w, "block", "4k 64k");
	set_ok(w, "threads", "1 2");
	set_ok(w, "random", "100");
	set_ok(w, "runs", "3");
	assert_int_equal(workload_space(w), 128 << 20);
	assert_true(workload_bytes(w) ==
		    3 * (2 * UINT64_C(4) * ((64 << 20) + (128 << 20)) +
				2 * 100 * UINT64_C(4) * (4096 + 65536)));
	workload_free(w);
}

static void dd_takes_bs_times_count(void **state _unused_)
{
	struct workload *w = workload_of("dd");

	assert_int_equal(workload_space(w), UINT64_C(2621440000));
	set_ok(w, "bs", "4k");
	set_ok(w, "count", "500");
	set_ok(w, "read", "yes");
	assert_int_equal(workload_space(w), 2048000);
	assert_int_equal(workload_bytes(w), 2 * 2048000);
	workload_free(w);
}

static void commit_sums_its_kinds_and_asks_for_the_largest(void **state _unused_)
{
	struct workload *w = workload_of("commit");

	set_ok(w, "kind", "append-fsync overwrite-fsync");
	set_ok(w, "count", "100");
	set_ok(w, "block", "8k");
	set_ok(w, "file", "64k");
	set_ok(w, "threads", "1 4");
	/* Four files of 64k and their directories; the appends are larger. */
	assert_int_equal(workload_space(w), 100 * 8192 + 4 * 4096);
	set_ok(w, "file", "1M");
	assert_int_equal(workload_space(w), 4 * ((1 << 20) + 4096));
	set_ok(w, "kind", "mkdir");
	assert_int_equal(workload_bytes(w), 0);
	set_fails(w, "kind", "apend-fsync", EINVAL,
		"kind: there is no kind \"apend-fsync\"; did you mean \"append-fsync\"?");
	set_fails(w, "rate", "fast", EINVAL, "rate: \"fast\" is not a whole number");
	workload_free(w);
}

static void throughput_takes_a_file_for_each_child_and_phase(void **state _unused_)
{
	struct workload *w = workload_of("throughput");

	set_ok(w, "threads", "1 10");
	set_ok(w, "size", "1M");
	assert_int_equal(workload_space(w), 10 << 20);
	assert_int_equal(workload_bytes(w), 4 * 11 << 20);
	set_ok(w, "random", "yes");
	assert_int_equal(workload_bytes(w), 6 * 11 << 20);
	workload_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_can_be_found_and_describes_its_keys),
		cmocka_unit_test(unknown_keys_name_the_nearest),
		cmocka_unit_test(bad_values_say_key_and_value),
		cmocka_unit_test(checks_find_what_does_not_go_together),
		cmocka_unit_test(every_type_takes_the_common_keys_and_checks_them),
		cmocka_unit_test(sizes_are_rounded_down_to_whole_blocks),
		cmocka_unit_test(lists_run_every_combination),
		cmocka_unit_test(dd_takes_bs_times_count),
		cmocka_unit_test(commit_sums_its_kinds_and_asks_for_the_largest),
		cmocka_unit_test(throughput_takes_a_file_for_each_child_and_phase),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
