/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Cells as text; see format.h. */

#include "report/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Three significant digits, never an exponent, never fewer digits than the integer part
 * has. */
static void print_number(char *out, double value, const char *unit)
{
	double size = fabs(value);
	int decimals = 0;

	if (size > 0 && size < 99.95)
		decimals = size < 9.995 ? 2 : 1;
	for (double limit = 0.9995; size > 0 && size < limit && decimals < 9; limit /= 10)
		decimals++;
	snprintf(out, CELL_TEXT_MAX, "%.*f%s", decimals, value, unit);
}

/* The largest step that leaves a number of at least 1, and its unit. */
static double scale_of(double value, double step, const char *const units[], size_t count,
	const char **unit)
{
	double scale = 1;
	size_t i = 0;

	/* 999.5 would be printed as 1000. */
	while (i + 1 < count && fabs(value) / scale >= step * 0.9995) {
		scale *= step;
		i++;
	}
	*unit = units[i];
	return scale;
}

/* By what a number of that type is divided, so that value is easy to read. */
static double scale_for(enum cell_type type, double value, const char **unit)
{
	static const char *const rates[] = {" B/s", " KiB/s", " MiB/s", " GiB/s"};
	static const char *const sizes[] = {" B", " KiB", " MiB", " GiB", " TiB"};
	static const char *const times[] = {" ns", " us", " ms", " s"};

	switch (type) {
	case CELL_BYTES_PER_SECOND:
		return scale_of(value, 1024, rates, ARRAY_SIZE(rates), unit);
	case CELL_BYTES:
		return scale_of(value, 1024, sizes, ARRAY_SIZE(sizes), unit);
	case CELL_NANOSECONDS:
		return scale_of(value, 1000, times, ARRAY_SIZE(times), unit);
	case CELL_OPERATIONS_PER_SECOND:
		*unit = " /s";
		return 1;
	case CELL_FRACTION:
		*unit = " %";
		return 0.01;
	default:
		*unit = "";
		return 1;
	}
}

/* What is no number with decimals looks the same for people and for machines. */
static bool format_plain(const struct report_cell *cell, const char *missing,
	char buffer[static CELL_TEXT_MAX], const char **text)
{
	switch (cell->type) {
	case CELL_MISSING:
		*text = missing;
		return true;
	case CELL_TEXT:
		*text = cell->text;
		return true;
	case CELL_COUNT:
		snprintf(buffer, CELL_TEXT_MAX, "%" PRIu64, cell->count);
		*text = buffer;
		return true;
	case CELL_YES_NO:
		*text = cell->count ? "yes" : "no";
		return true;
	default:
		return false;
	}
}

const char *format_cell(const struct report_cell *cell, char buffer[static CELL_TEXT_MAX])
{
	const char *text, *unit;
	double scale;

	if (format_plain(cell, "-", buffer, &text))
		return text;
	scale = scale_for(cell->type, cell->number, &unit);
	print_number(buffer, cell->number / scale, unit);
	return buffer;
}

static void print_four_digits(char *out, double value)
{
	int decimals = value > 0 ? 3 - (int)floor(log10(value)) : 0;

	snprintf(out, CELL_TEXT_MAX, "%.*f", MIN(MAX(decimals, 0), 9), value);
}

const char *format_pair(const struct report_cell *a, const struct report_cell *b,
	char first[static CELL_TEXT_MAX], char second[static CELL_TEXT_MAX])
{
	const char *unit;
	double scale = scale_for(a->type, fmax(fabs(a->number), fabs(b->number)), &unit);

	print_four_digits(first, a->number / scale);
	print_four_digits(second, b->number / scale);
	return *unit ? unit + 1 : unit;
}

const char *format_cell_raw(
	const struct report_cell *cell, char buffer[static CELL_TEXT_MAX])
{
	const char *text;

	if (format_plain(cell, "", buffer, &text))
		return text;
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(buffer, CELL_TEXT_MAX, "%.*g", digits, cell->number);
		if (strtod(buffer, NULL) == cell->number)
			break;
	}
	return buffer;
}

const char *format_verdict(const char *verdict, const char *direction)
{
	bool more_is_better = !strcmp(direction, "higher_is_better");
	bool higher = verdict && !strcmp(verdict, "higher");

	if (!verdict || !strcmp(verdict, "unknown"))
		return "-";
	if (!strcmp(verdict, "no_difference"))
		return "~";
	if (!higher && strcmp(verdict, "lower"))
		return verdict;
	if (!strcmp(direction, "no_direction"))
		return verdict;
	return higher == more_is_better ? "faster" : "slower";
}
