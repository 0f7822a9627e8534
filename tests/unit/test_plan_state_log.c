/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The state log: what was added is read; its end may be torn, its middle may not. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/fileio.h"
#include "plan/state_log.h"

static char path[64];

static int make_path(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/jbdlab-unit-log.%d", (int)getpid());
	unlink(path);
	return 0;
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

static json_t *record(const char *what, const char *name, int n)
{
	return json_pack("{ss,ss,si}", "what", what, "name", name, "n", n);
}

static int number_of(const json_t *r)
{
	return (int)json_integer_value(json_object_get(r, "n"));
}

/* A log of four records. */
static void make_log(void)
{
	_cleanup_(state_log_freep) struct state_log *l = NULL;

	assert_int_equal(state_log_create(&l, path, record("begin", "x", 0), NULL), 0);
	assert_int_equal(state_log_add(l, record("place", "a", 1), NULL), 0);
	assert_int_equal(state_log_add(l, record("placed", "a", 2), NULL), 0);
	assert_int_equal(state_log_add(l, record("place", "b", 3), NULL), 0);
}

static size_t count_records(void)
{
	json_auto_t *records = NULL;

	assert_int_equal(state_log_read(path, &records, NULL), 0);
	return json_array_size(records);
}

static void write_text(const char *text, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void what_was_added_is_read_and_found(void **state)
{
	json_auto_t *records = NULL;

	(void)state;
	make_log();
	assert_int_equal(state_log_read(path, &records, NULL), 0);
	assert_int_equal(json_array_size(records), 4);
	assert_int_equal(number_of(state_log_last(records, "place placed", "a")), 2);
	assert_int_equal(number_of(state_log_last(records, "place placed", "b")), 3);
	assert_int_equal(number_of(state_log_last(records, "place", NULL)), 3);
	assert_int_equal(number_of(state_log_last(records, "place", "a")), 1);
	assert_null(state_log_last(records, "lace plac", NULL));
	assert_null(state_log_last(records, "place", "c"));
	assert_true(state_log_ends(records, "place placed", "a", "placed"));
	assert_false(state_log_ends(records, "place placed", "b", "placed"));
	assert_false(state_log_ends(records, "place placed", "c", "placed"));
}

static void wherever_its_end_is_torn_what_is_before_counts(void **state)
{
	_cleanup_free_ char *text = NULL;
	size_t n, lines = 0;

	(void)state;
	make_log();
	assert_int_equal(fileio_read(path, &text, &n, NULL), 0);
	for (size_t cut = 0; cut <= n; cut++) {
		_cleanup_(state_log_freep) struct state_log *l = NULL;
		json_auto_t *records = NULL;

		if (cut && text[cut - 1] == '\n')
			lines++;
		write_text(text, cut);
		assert_int_equal(count_records(), lines);
		/* It goes on as if the torn line had never been. */
		assert_int_equal(state_log_open(&l, path, &records, NULL), 0);
		assert_int_equal(json_array_size(records), lines);
		assert_int_equal(state_log_add(l, record("more", "z", 9), NULL), 0);
		assert_int_equal(count_records(), lines + 1);
	}
	assert_int_equal(lines, 4);
}

/* The length of a file may be on disk before its content. */
static void an_end_of_zeros_or_of_damaged_bytes_is_torn(void **state)
{
	_cleanup_free_ char *text = NULL;
	char *last;
	size_t n;

	(void)state;
	make_log();
	assert_int_equal(fileio_read(path, &text, &n, NULL), 0);
	text[n - 1] = '\0';
	last = strrchr(text, '\n') + 1;
	text[n - 1] = '\n';
	last[70] ^= 1;
	write_text(text, n);
	assert_int_equal(count_records(), 3);
	memset(last, 0, (size_t)(text + n - last));
	write_text(text, n);
	assert_int_equal(count_records(), 3);
}

static void any_changed_byte_before_the_end_is_refused(void **state)
{
	_cleanup_free_ char *text = NULL;
	char *last;
	size_t n;

	(void)state;
	make_log();
	assert_int_equal(fileio_read(path, &text, &n, NULL), 0);
	text[n - 1] = '\0';
	last = strrchr(text, '\n');
	text[n - 1] = '\n';
	/* Without the newline itself the line would be part of the end. */
	for (char *p = text; p < last; p++) {
		_cleanup_(err_clear) struct err e = {0};
		_cleanup_(state_log_freep) struct state_log *l = NULL;
		json_auto_t *records = NULL;
		char saved = *p;

		*p ^= 1;
		write_text(text, n);
		assert_int_equal(state_log_open(&l, path, &records, &e), -EBADMSG);
		assert_non_null(strstr(err_message(&e), "damaged"));
		assert_null(records);
		*p = saved;
	}
}

static void a_missing_line_is_refused(void **state)
{
	_cleanup_(err_clear) struct err e = {0};
	_cleanup_free_ char *text = NULL;
	json_auto_t *records = NULL;
	char *second, *third;
	size_t n;

	(void)state;
	make_log();
	assert_int_equal(fileio_read(path, &text, &n, NULL), 0);
	second = strchr(text, '\n') + 1;
	third = strchr(second, '\n') + 1;
	memmove(second, third, (size_t)(text + n - third));
	write_text(text, n - (size_t)(third - second));
	assert_int_equal(state_log_read(path, &records, &e), -EBADMSG);
	assert_non_null(strstr(err_message(&e), ":2: "));
}

static void a_log_that_exists_is_not_made_again(void **state)
{
	_cleanup_(err_clear) struct err e = {0};
	_cleanup_(state_log_freep) struct state_log *l = NULL;

	(void)state;
	make_log();
	assert_int_equal(
		state_log_create(&l, path, record("begin", "y", 0), &e), -EEXIST);
	assert_int_equal(count_records(), 4);
}

static void no_log_is_no_log(void **state)
{
	_cleanup_(err_clear) struct err e = {0};
	_cleanup_(state_log_freep) struct state_log *l = NULL;
	json_auto_t *records = NULL;

	(void)state;
	assert_int_equal(state_log_open(&l, path, &records, &e), -ENOENT);
	make_log(); /* for the teardown */
}

/* A lock is dropped with its process: that is waited for. */
static void one_that_another_process_works_on_waits_for_its_end(void **state)
{
	_cleanup_(state_log_freep) struct state_log *l = NULL;
	json_auto_t *records = NULL;
	int ready[2], status;
	char byte;
	pid_t pid;

	(void)state;
	make_log();
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		int r = state_log_open(&l, path, &records, NULL);

		if (write(ready[1], "", 1) != 1)
			_exit(2);
		usleep(300000);
		_exit(r != 0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(state_log_open(&l, path, &records, NULL), 0);
	/* It is only ours because the other is gone. */
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(ready[0]);
	close(ready[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_path, remove_path)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_added_is_read_and_found),
		TEST(wherever_its_end_is_torn_what_is_before_counts),
		TEST(an_end_of_zeros_or_of_damaged_bytes_is_torn),
		TEST(any_changed_byte_before_the_end_is_refused),
		TEST(a_missing_line_is_refused),
		TEST(a_log_that_exists_is_not_made_again),
		TEST(no_log_is_no_log),
		TEST(one_that_another_process_works_on_waits_for_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
