/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Records of the kernel's log. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/kmsg.h"

static void a_record_gives_level_time_and_first_line(void **state)
{
	struct kmsg_record r;

	(void)state;
	assert_true(kmsg_parse(&r,
		"12,345,6789012,-;EXT4-fs error (device sdb1): oops; twice\n SUBSYSTEM=block\n"));
	assert_int_equal(r.level, 4); /* 12 is facility 1, warning */
	assert_int_equal(r.time_us, 6789012);
	assert_string_equal(r.text, "EXT4-fs error (device sdb1): oops; twice");
	assert_true(kmsg_parse(&r, "3,1,2,c,caller=T1;x"));
	assert_int_equal(r.level, 3);
	assert_string_equal(r.text, "x");
}

static void what_is_no_record_is_refused(void **state)
{
	struct kmsg_record r;

	(void)state;
	assert_false(kmsg_parse(&r, ""));
	assert_false(kmsg_parse(&r, "6,1,2,-"));
	assert_false(kmsg_parse(&r, "hello; world"));
}

static void a_long_line_is_cut(void **state)
{
	char text[4096] = "6,1,2,-;";
	struct kmsg_record r;

	(void)state;
	memset(text + 8, 'a', sizeof(text) - 9);
	assert_true(kmsg_parse(&r, text));
	assert_int_equal(strlen(r.text), sizeof(r.text) - 1);
}

static void no_descriptor_has_no_records(void **state)
{
	struct kmsg_record r;

	(void)state;
	assert_false(kmsg_next(-1, &r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_gives_level_time_and_first_line),
		cmocka_unit_test(what_is_no_record_is_refused),
		cmocka_unit_test(a_long_line_is_cut),
		cmocka_unit_test(no_descriptor_has_no_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
