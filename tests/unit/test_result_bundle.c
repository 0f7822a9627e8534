/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Bundles: what was written is read, what is broken is named, nothing is overwritten. */

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "result/bundle.h"

static char directory[] = "/tmp/jbdlab-unit.XXXXXX";
static char path[64];

static int make_directory(void **state)
{
	(void)state;
	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/bundle", directory);
	return 0;
}

static int remove_one(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(name);
}

static int remove_directory(void **state)
{
	(void)state;
	return nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void write_file(const char *name, const char *text)
{
	char file[128];
	FILE *f;

	snprintf(file, sizeof(file), "%s/%s", path, name);
	f = fopen(file, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static char *read_file(const char *name)
{
	static char text[8192];
	char file[128];
	FILE *f;
	size_t n;

	snprintf(file, sizeof(file), "%s/%s", path, name);
	f = fopen(file, "r");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static struct bundle_writer *create(void)
{
	struct bundle_info info = {.name = "demo",
		.version = "0.1",
		.seed = INT64_MAX,
		.blocks = 2,
		.created_wall_ns = 1796076180123456789u};
	struct bundle_writer *w = NULL;
	struct err e = {0};

	assert_int_equal(bundle_info_add_arm(&info, "inline", "inline", "", &e), 0);
	assert_int_equal(
		bundle_info_add_arm(&info, "ssd", "external=/dev/x", "commit=30", &e), 0);
	assert_int_equal(bundle_create(&w, path, &info, "[experiment]\n", &e), 0);
	info.name = info.version = NULL; /* not allocated */
	bundle_info_deinit(&info);
	return w;
}

static void add_run(struct bundle_writer *w, uint32_t block)
{
	struct result_run run = {
		.workload = "dd", .type = "dd", .arm = "ssd", .block = block};

	assert_int_equal(bundle_add_run(w, &run, NULL), 0);
}

static int count_runs(void *data, struct result_run *run, struct err *e)
{
	unsigned *count = data;

	(void)e;
	assert_int_equal(run->block, *count);
	++*count;
	return 0;
}

static void what_was_written_is_read(void **state)
{
	struct bundle_writer *w = create();
	struct bundle b;
	struct err e = {0};
	unsigned count = 0;
	json_t *cell = json_pack("{si}", "block", 7);

	(void)state;
	add_run(w, 0);
	add_run(w, 1);
	assert_int_equal(bundle_add_cell(w, cell, &e), 0);
	assert_int_equal(bundle_set_environment(w, cell, &e), 0);
	assert_int_equal(bundle_set_report(w, "a report\n", &e), 0);
	json_decref(cell);
	assert_int_equal(bundle_finish(w, BUNDLE_INTERRUPTED, "SIGINT", &e), 0);
	bundle_writer_free(w);

	assert_int_equal(bundle_load(&b, path, &e), 0);
	assert_string_equal(b.info.name, "demo");
	assert_int_equal(b.info.seed, INT64_MAX);
	assert_int_equal(b.info.created_wall_ns, 1796076180123456789u);
	assert_int_equal(b.info.state, BUNDLE_INTERRUPTED);
	assert_string_equal(b.info.reason, "SIGINT");
	assert_int_equal(b.info.arm_count, 2);
	assert_string_equal(b.info.arms[1].placement, "external=/dev/x");
	assert_string_equal(b.info.arms[1].mount, "commit=30");
	assert_string_equal(b.plan, "[experiment]\n");
	assert_int_equal(json_array_size(b.cells), 1);
	assert_non_null(b.environment);
	assert_int_equal(bundle_each_run(&b, count_runs, &count, &e), 0);
	assert_int_equal(count, 2);
	assert_null(b.notes);
	bundle_deinit(&b);
}

static void a_bundle_is_never_overwritten(void **state)
{
	struct bundle_writer *w = create(), *second = NULL;
	struct bundle_info info = {.name = "other", .version = "0.1"};
	struct err e = {0};

	(void)state;
	assert_int_equal(bundle_create(&second, path, &info, "x", &e), -EPERM);
	assert_int_equal(e.kind, ERR_REFUSED);
	assert_null(second);
	err_clear(&e);
	assert_string_equal(read_file("plan.ini"), "[experiment]\n");
	bundle_writer_free(w);
}

static void a_running_bundle_can_be_read(void **state)
{
	struct bundle_writer *w = create();
	struct bundle b;
	struct err e = {0};
	unsigned count = 0;

	(void)state;
	assert_int_equal(bundle_load(&b, path, &e), 0);
	assert_int_equal(b.info.state, BUNDLE_RUNNING);
	assert_int_equal(bundle_each_run(&b, count_runs, &count, &e), 0);
	assert_int_equal(count, 0);
	bundle_deinit(&b);
	bundle_writer_free(w);
}

static void an_incomplete_last_line_is_a_note(void **state)
{
	struct bundle_writer *w = create();
	struct bundle b;
	struct err e = {0};
	unsigned count = 0;
	char *text;

	(void)state;
	add_run(w, 0);
	add_run(w, 1);
	text = strdup(read_file("runs.jsonl"));
	text[strlen(text) - 5] = '\0';
	write_file("runs.jsonl", text);
	assert_int_equal(bundle_load(&b, path, &e), 0);
	assert_int_equal(bundle_each_run(&b, count_runs, &count, &e), 0);
	assert_int_equal(count, 1);
	assert_non_null(strstr(b.notes, "runs.jsonl"));
	bundle_deinit(&b);
	bundle_writer_free(w);
	free(text);
}

static void expect_damage(const char *message)
{
	struct bundle b;
	struct err e = {0};
	unsigned count = 0;
	int r = bundle_load(&b, path, &e);

	if (!r) {
		r = bundle_each_run(&b, count_runs, &count, &e);
		bundle_deinit(&b);
	}
	assert_true(r < 0);
	assert_int_equal(e.kind, ERR_USAGE);
	if (!strstr(err_message(&e), message))
		fail_msg("\"%s\" does not say \"%s\"", err_message(&e), message);
	err_clear(&e);
}

static void what_is_broken_is_named(void **state)
{
	struct bundle_writer *w = create();
	char *info = strdup(read_file("bundle.json"));

	(void)state;
	add_run(w, 0);
	bundle_writer_free(w);
	write_file("runs.jsonl", "{}\n");
	expect_damage("runs.jsonl:1: \"schema\"");
	write_file("runs.jsonl", "\n");
	expect_damage("runs.jsonl:1: this is not JSON");
	write_file("runs.jsonl", "{\"schema\":\n{}\n");
	expect_damage("runs.jsonl:1: this is not JSON");
	write_file("runs.jsonl", "");
	write_file("cells.jsonl", "[]\n");
	expect_damage("cells.jsonl:1: a cell is not an object");
	write_file("cells.jsonl", "");
	write_file("environment.json", "{");
	expect_damage("environment.json:");
	write_file("environment.json", "{}");

	write_file("bundle.json", "{}");
	expect_damage("bundle.json: \"schema\"");
	write_file("bundle.json", "garbage");
	expect_damage("bundle.json:1: this is not JSON");
	memcpy(strstr(info, "running"), "walking", 7);
	write_file("bundle.json", info);
	expect_damage("bundle.json: \"state\"");
	memcpy(strstr(info, "walking"), "running", 7);
	memcpy(strstr(info, "\"mount\""), "\"mound\"", 7);
	write_file("bundle.json", info);
	expect_damage("bundle.json: arms[0]: \"mount\"");
	free(info);
}

static void what_is_no_bundle_is_refused(void **state)
{
	(void)state;
	expect_damage("bundle: No such file");
	assert_int_equal(mkdir(path, 0755), 0);
	expect_damage("there is no bundle.json in it");
	write_file("file", "x");
	strcat(path, "/file");
	expect_damage("not a directory");
}

static void a_changed_plan_is_noticed(void **state)
{
	struct bundle_writer *w = create();
	struct bundle b;
	struct err e = {0};

	(void)state;
	bundle_writer_free(w);
	write_file("plan.ini", "[experiment]\n# faster\n");
	assert_int_equal(bundle_load(&b, path, &e), 0);
	assert_non_null(strstr(b.notes, "plan.ini"));
	bundle_deinit(&b);
}

static bool is_first(const void *data, uint32_t block, uint32_t position)
{
	(void)data;
	return block == 0 && position == 0;
}

static void rows_of_other_cells_and_torn_ones_are_removed(void **state)
{
	struct bundle_writer *w = create();
	struct err e = {0};
	char *text, *again;
	struct bundle b;

	(void)state;
	add_run(w, 0);
	text = strdup(read_file("runs.jsonl"));
	add_run(w, 1);
	bundle_writer_free(w);

	/* Another writer goes on with it: the last line was being written. */
	assert_int_equal(bundle_open(&w, path, &e), 0);
	write_file("cells.jsonl", "{\"block\":0,\"position\":0}\n{\"block\":1,\"posi");
	assert_int_equal(bundle_keep_cells(w, is_first, NULL, &e), 0);
	assert_string_equal(read_file("runs.jsonl"), text);
	assert_string_equal(read_file("cells.jsonl"), "{\"block\":0,\"position\":0}\n");
	assert_int_equal(bundle_keep_cells(w, is_first, NULL, &e), 0);
	add_run(w, 1);
	again = strdup(read_file("runs.jsonl"));
	assert_memory_equal(again, text, strlen(text));
	assert_true(strlen(again) > strlen(text));
	assert_int_equal(bundle_finish(w, BUNDLE_COMPLETE, "", &e), 0);
	bundle_writer_free(w);
	assert_int_equal(bundle_load(&b, path, &e), 0);
	assert_int_equal(b.info.state, BUNDLE_COMPLETE);
	assert_int_equal(b.info.seed, INT64_MAX);
	assert_int_equal(b.info.arm_count, 2);
	assert_null(b.notes);
	bundle_deinit(&b);
	free(text);
	free(again);
}

static void a_discarded_bundle_is_gone_unless_it_holds_more(void **state)
{
	struct bundle_writer *w = create();
	struct err e = {0};

	(void)state;
	add_run(w, 0);
	write_file("mine", "x");
	assert_int_equal(bundle_discard(w, &e), -ENOTEMPTY);
	err_clear(&e);
	assert_string_equal(read_file("mine"), "x");
	bundle_writer_free(w);
	assert_int_equal(remove_directory(NULL), 0);

	assert_int_equal(mkdir(directory, 0755), 0);
	w = create();
	add_run(w, 0);
	assert_int_equal(bundle_discard(w, &e), 0);
	assert_int_equal(access(path, F_OK), -1);
	bundle_writer_free(w);
	/* Nothing is left beside it, either. */
	assert_int_equal(rmdir(directory), 0);
	assert_int_equal(mkdir(directory, 0755), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_written_is_read),
		TEST(a_bundle_is_never_overwritten),
		TEST(a_running_bundle_can_be_read),
		TEST(an_incomplete_last_line_is_a_note),
		TEST(what_is_broken_is_named),
		TEST(what_is_no_bundle_is_refused),
		TEST(a_changed_plan_is_noticed),
		TEST(rows_of_other_cells_and_torn_ones_are_removed),
		TEST(a_discarded_bundle_is_gone_unless_it_holds_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
