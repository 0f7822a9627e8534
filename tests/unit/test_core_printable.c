/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Control characters are shown and never sent, names have none. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/printable.h"

static void expect(const char *text, const char *shown)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	printable_add(&b, text);
	assert_string_equal(strbuf_text(&b), shown);
	printable_make(&b); /* shows nothing twice */
	assert_string_equal(strbuf_text(&b), shown);
}

static void control_characters_are_shown(void **state)
{
	(void)state;
	expect("", "");
	expect("a\tb\n", "a\tb\n");
	expect("\x1b[31mred\x07", "\\x1b[31mred\\x07");
	expect("\r\x7f", "\\x0d\\x7f");
	expect("x\xc2\x9b" "2Jy", "x\\x9b2Jy");
	expect("\xc2\xa0\xc3\xa9\xe2\x82\xac", "\xc2\xa0\xc3\xa9\xe2\x82\xac");
	expect("ends in \xc2", "ends in \xc2");
}

static void names_have_no_control_characters(void **state)
{
	(void)state;
	assert_true(printable_is_name("ssd, \xc3\xa9 <b>"));
	assert_false(printable_is_name(""));
	assert_false(printable_is_name("a\nb"));
	assert_false(printable_is_name("a\tb"));
	assert_false(printable_is_name("a\xc2\x85"));
}

static void a_cut_leaves_no_half_character(void **state)
{
	const char *text = "a\xe2\x82\xac" "b"; /* a, euro sign, b */

	(void)state;
	assert_int_equal(printable_cut(text, 0), 0);
	assert_int_equal(printable_cut(text, 1), 1);
	assert_int_equal(printable_cut(text, 2), 1);
	assert_int_equal(printable_cut(text, 3), 1);
	assert_int_equal(printable_cut(text, 4), 4);
	assert_int_equal(printable_cut(text, 5), 5);
	assert_int_equal(printable_cut(text, 99), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_characters_are_shown),
		cmocka_unit_test(a_cut_leaves_no_half_character),
		cmocka_unit_test(names_have_no_control_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
