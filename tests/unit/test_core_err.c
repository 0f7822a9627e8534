/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Errors are negative, whatever they were made of: the promise of scripts/analyse.h. */

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/err.h"

static void an_errno_of_0_is_no_success(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };

	assert_int_equal(err_set(&e, 0, "read %s", "x"), -EIO);
	assert_int_equal(e.code, EIO);
	assert_string_equal(err_message(&e), "read x: Input/output error");
	assert_int_equal(err_say(&e, 0, "the peer said nothing"), -EIO);
	assert_string_equal(err_message(&e), "the peer said nothing");
	assert_int_equal(err_set(NULL, 0, "x"), -EIO);
}

static void every_kind_of_error_is_negative(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };

	assert_int_equal(err_set(&e, ENOENT, "open %s", "x"), -ENOENT);
	assert_int_equal(e.kind, ERR_FAILED);
	assert_int_equal(err_usage(&e, "no %s", "x"), -EINVAL);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_int_equal(err_refuse(&e, "in use"), -EPERM);
	assert_int_equal(e.kind, ERR_REFUSED);
	assert_int_equal(err_interrupted(&e, SIGTERM), -EINTR);
	assert_int_equal(e.kind, ERR_INTERRUPTED);
	assert_int_equal(e.code, SIGTERM);
	assert_string_equal(err_message(&e), "interrupted by SIGTERM");
}

static void context_is_put_before_and_nothing_else_changed(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };
	int r = err_set(&e, EACCES, "open %s", "/dev/x");

	assert_int_equal(err_wrap(&e, r, "move journal of %s", "/dev/y"), -EACCES);
	assert_string_equal(
		err_message(&e), "move journal of /dev/y: open /dev/x: Permission denied");
	assert_int_equal(err_wrap(NULL, -ENOMEM, "x"), -ENOMEM);
	err_clear(&e);
	assert_int_equal(e.code, 0);
	assert_string_equal(err_message(&e), "");
}

static void an_old_message_may_be_part_of_the_new_one(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };

	err_say(&e, ENOENT, "there is no %s, nor anything like it", "journal");
	assert_int_equal(err_refuse(&e, "refused: %s", err_message(&e)), -EPERM);
	assert_string_equal(
		err_message(&e), "refused: there is no journal, nor anything like it");
	assert_int_equal(err_set(&e, EIO, "%s", err_message(&e)), -EIO);
	assert_string_equal(err_message(&e),
		"refused: there is no journal, nor anything like it: Input/output error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_old_message_may_be_part_of_the_new_one),
		cmocka_unit_test(an_errno_of_0_is_no_success),
		cmocka_unit_test(every_kind_of_error_is_negative),
		cmocka_unit_test(context_is_put_before_and_nothing_else_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
