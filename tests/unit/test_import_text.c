/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What mail and terminals did to a text is taken back, and nothing else is touched. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "import/fields.h"
#include "import/text.h"

static void expect(const char *text, const char *line, unsigned number, size_t count)
{
	struct text_lines lines = {0};

	assert_int_equal(text_split(&lines, text, strlen(text)), 0);
	assert_int_equal(lines.count, count);
	assert_string_equal(lines.lines[count - 1].text, line);
	assert_int_equal(lines.lines[count - 1].number, number);
	text_lines_deinit(&lines);
}

static void lines_are_as_they_were_printed(void **state)
{
	(void)state;
	expect("a\nb\n", "b", 2, 2);
	expect("a\r\nb  \r\n", "b", 2, 2);
	expect("no newline", "no newline", 1, 1);
	expect("Run #1\r      \rSequential", "Sequential", 1, 1);
	expect("12 %\b\b34\n", "1234", 1, 1);
	expect("a\tb\x01\n", "a b?", 1, 1);
}

static void marks_of_quotation_are_cut_off(void **state)
{
	(void)state;
	expect("> > 2.6.18 2000\n", "2.6.18 2000", 1, 1);
	expect(">>   x\n", "  x", 1, 1);
	expect("  indented\n", "  indented", 1, 1);
	expect("a > b\n", "a > b", 1, 1);
	expect("> Lat% >2s\n", "Lat% >2s", 1, 1);
}

static void quoted_printable_is_known_by_the_whole_text(void **state)
{
	(void)state;
	expect("a=3Db\nSequential =\nReads\n", "Sequential Reads", 2, 2);
	expect("x=20=\r\ny\n", "x y", 1, 1);
	/* Underlines are no encoding. */
	expect("a=3Db\n=====\n", "=====", 2, 2);
	expect("Reads\n=\n", "=", 2, 2);
}

static void what_is_no_utf8_becomes_a_question_mark(void **state)
{
	(void)state;
	expect("caf\xe9 \xc2\xb5\n", "caf? \xc2\xb5", 1, 1);
	expect("a\xc2\x9b" "b\xc2\xa0", "a??b\xc2\xa0", 1, 1);
	expect("\xed\xa0\x80\xf4\x90\x80\x80\xc0\x80", "?????????", 1, 1);
}

static void a_number_is_a_number_and_nothing_else(void **state)
{
	static const char *const wrong[] = {
		"", "-", "inf", "nan", "0x10", "1e999", "1.5x", "######", ".", "+1", " 1"};
	double value = 7;
	uint64_t whole;

	(void)state;
	assert_true(fields_number("-1.50", &value) && value == -1.5);
	assert_true(fields_number("1e-05", &value) && value == 1e-05);
	assert_true(fields_number("1234.", &value) && value == 1234);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (fields_number(wrong[i], &value))
			fail_msg("\"%s\" is taken for a number", wrong[i]);
	assert_true(fields_whole("4096", &whole) && whole == 4096);
	assert_false(fields_whole("4096.0", &whole));
	assert_false(fields_whole("1234567890123456789", &whole));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_as_they_were_printed),
		cmocka_unit_test(marks_of_quotation_are_cut_off),
		cmocka_unit_test(quoted_printable_is_known_by_the_whole_text),
		cmocka_unit_test(what_is_no_utf8_becomes_a_question_mark),
		cmocka_unit_test(a_number_is_a_number_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
