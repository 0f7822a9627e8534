/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Files mapped into memory: data, and pages that cannot be had. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/macros.h"
#include "workload/mapping.h"

enum { PAGE = 4096 };

static int temporary(void)
{
	char path[] = "/tmp/jbdlab-mapping.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

static void what_is_written_is_in_the_file(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };
	_cleanup_close_ int fd = temporary();
	struct mapping m = { 0 };
	char back[6];

	assert_int_equal(ftruncate(fd, 3 * PAGE), 0);
	assert_int_equal(mapping_open(&m, fd, 3 * PAGE, true, "file", &e), 0);
	assert_true(mapping_write(&m, 5000, "hello", 6));
	assert_int_equal(mapping_sync(&m, 5000, 6), 0);
	assert_int_equal(pread(fd, back, 6, 5000), 6);
	assert_string_equal(back, "hello");
	memset(back, 0, sizeof(back));
	assert_true(mapping_read(&m, 5000, back, 6));
	assert_string_equal(back, "hello");
	mapping_close(&m);
	mapping_close(&m);
}

/* As a thread of the engine: with all signals blocked. */
static void a_page_that_cannot_be_had_is_no_death(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };
	_cleanup_close_ int fd = temporary();
	struct mapping m = { 0 };
	sigset_t all, before;
	char byte = 0;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	assert_int_equal(ftruncate(fd, 2 * PAGE), 0);
	assert_int_equal(mapping_open(&m, fd, 2 * PAGE, true, "file", &e), 0);
	assert_int_equal(ftruncate(fd, PAGE), 0);
	for (int i = 0; i < 3; i++) {
		assert_false(mapping_read(&m, PAGE, &byte, 1));
		assert_false(mapping_write(&m, PAGE, &byte, 1));
		assert_true(mapping_write(&m, 0, &byte, 1));
	}
	mapping_close(&m);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_in_the_file),
		cmocka_unit_test(a_page_that_cannot_be_had_is_no_death),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
