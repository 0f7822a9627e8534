/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The log of acknowledgements, as a console or a cut connection may leave it. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "witness/kinds.h"
#include "witness/witness.h"

static void the_last_number_of_each_writer_counts(void **state)
{
	uint64_t acked[WITNESS_WRITERS_MAX] = { 0 };

	(void)state;
	assert_int_equal(witness_read_log("ACK 0 1\nACK 1 1\r\nACK 0 2\n", 2, acked, NULL), 0);
	assert_int_equal(acked[0], 2);
	assert_int_equal(acked[1], 1);
}

static void cut_and_foreign_lines_are_passed_over(void **state)
{
	uint64_t acked[WITNESS_WRITERS_MAX] = { 0 };

	(void)state;
	assert_int_equal(witness_read_log("[ 1.0] hello\nACK 0 17\nACK 0 18x\nACK 0\nACK 0 1923",
				 1, acked, NULL),
		0);
	assert_int_equal(acked[0], 17);
	assert_int_equal(witness_read_log("", 1, acked, NULL), 0);
}

static void a_writer_too_many_is_refused(void **state)
{
	uint64_t acked[WITNESS_WRITERS_MAX] = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };

	(void)state;
	assert_int_equal(witness_read_log("ACK 2 1\n", 2, acked, &e), -EINVAL);
	assert_int_equal(e.kind, ERR_USAGE);
}

static void a_record_is_the_same_each_time_and_like_no_other(void **state)
{
	static struct writer w;
	static unsigned char a[RECORD_MAX], b[RECORD_MAX];
	size_t n;

	(void)state;
	w.kind = &witness_kinds[0];
	n = record_make(&w, 7, a);
	assert_int_equal(record_make(&w, 7, b), n);
	assert_memory_equal(a, b, n);
	assert_non_null(strstr((char *)a, "jbdlab witness 0 7 "));
	record_make(&w, 8, b);
	assert_memory_not_equal(a + 64, b + 64, 64);
	w.number = 1;
	record_make(&w, 7, b);
	assert_memory_not_equal(a + 64, b + 64, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_number_of_each_writer_counts),
		cmocka_unit_test(cut_and_foreign_lines_are_passed_over),
		cmocka_unit_test(a_writer_too_many_is_refused),
		cmocka_unit_test(a_record_is_the_same_each_time_and_like_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
