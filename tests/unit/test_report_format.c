/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Cells for people have three digits and a unit; cells for machines lose nothing. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/format.h"

static void expect(enum cell_type type, double number, const char *text)
{
	struct report_cell cell = { .type = type, .number = number };
	char buffer[CELL_TEXT_MAX];

	assert_string_equal(format_cell(&cell, buffer), text);
}

static void numbers_have_three_digits(void **state)
{
	(void)state;
	expect(CELL_RATIO, 1, "1.00");
	expect(CELL_RATIO, 0, "0");
	expect(CELL_RATIO, 9.994, "9.99");
	expect(CELL_RATIO, 9.996, "10.0");
	expect(CELL_RATIO, 99.94, "99.9");
	expect(CELL_RATIO, 99.96, "100");
	expect(CELL_RATIO, 12345, "12345");
	expect(CELL_RATIO, 0.12345, "0.123");
	expect(CELL_RATIO, 0.9996, "1.00");
	expect(CELL_RATIO, 0.0012345, "0.00123");
	expect(CELL_NUMBER, -4.2, "-4.20");
}

static void units_are_scaled(void **state)
{
	(void)state;
	expect(CELL_BYTES_PER_SECOND, 43.03 * 1048576, "43.0 MiB/s");
	expect(CELL_BYTES_PER_SECOND, 512, "512 B/s");
	expect(CELL_BYTES_PER_SECOND, 1023.9, "1.00 KiB/s");
	expect(CELL_BYTES_PER_SECOND, 5e12, "4657 GiB/s");
	expect(CELL_OPERATIONS_PER_SECOND, 25.04, "25.0 /s");
	expect(CELL_NANOSECONDS, 870e3, "870 us");
	expect(CELL_NANOSECONDS, 2692.94e6, "2.69 s");
	expect(CELL_NANOSECONDS, 999.9, "1.00 us");
	expect(CELL_FRACTION, 0.253, "25.3 %");
	expect(CELL_BYTES, 1 << 20, "1.00 MiB");
	expect(CELL_MISSING, 7, "-");
}

static void machines_get_everything(void **state)
{
	struct report_cell cell = { .type = CELL_NANOSECONDS, .number = 1.0 / 3 };
	char buffer[CELL_TEXT_MAX];

	(void)state;
	assert_true(strtod(format_cell_raw(&cell, buffer), NULL) == 1.0 / 3);
	cell.number = 0.1;
	assert_string_equal(format_cell_raw(&cell, buffer), "0.1");
	cell.number = 1e20;
	assert_string_equal(format_cell_raw(&cell, buffer), "1e+20");
	cell.type = CELL_MISSING;
	assert_string_equal(format_cell_raw(&cell, buffer), "");
	cell = (struct report_cell){ .type = CELL_COUNT, .count = UINT64_MAX };
	assert_string_equal(format_cell_raw(&cell, buffer), "18446744073709551615");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_three_digits),
		cmocka_unit_test(units_are_scaled),
		cmocka_unit_test(machines_get_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
