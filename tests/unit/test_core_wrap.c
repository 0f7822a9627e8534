/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Breaking lines at blanks, with an indent, and words that are too long for any line. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/wrap.h"

static void expect(const char *text, size_t column, size_t indent, const char *wrapped)
{
	struct strbuf b = {0};

	wrap_text(&b, text, column, indent);
	assert_string_equal(strbuf_text(&b), wrapped);
	strbuf_deinit(&b);
}

static void lines_end_where_the_next_word_does_not_fit(void **state)
{
	(void)state;
	expect("", 0, 0, "\n");
	expect("a b", 0, 0, "a b\n");
	expect("aaaa bbbb", 71, 4, "aaaa bbbb\n");
	expect("aaaa bbbb", 72, 4, "aaaa\n    bbbb\n");
	expect("one\ntwo", 77, 2, "one\n  two\n");
}

static void a_long_word_stands_alone(void **state)
{
	char text[100], wrapped[120];

	(void)state;
	memset(text, 'x', 90);
	memcpy(text + 90, " y", 3);
	strcpy(wrapped, text);
	wrapped[90] = '\n';
	strcat(wrapped, "\n");
	expect(text, 0, 0, wrapped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_end_where_the_next_word_does_not_fit),
		cmocka_unit_test(a_long_word_stands_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
