/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Cells as text, for people and for machines. */

#include "report/report.h"

enum { CELL_TEXT_MAX = 64 };

/* For people: scaled, three significant digits, with unit ("43.0 MiB/s", "4.21 ms",
 * "1.85"); "-" when missing.  Texts are returned as they are, others in buffer. */
const char *format_cell(
	const struct report_cell *cell, char buffer[static CELL_TEXT_MAX]);

/* Two numbers of one type, scaled alike, with four significant digits, so that their ratio
 * can be checked; without their unit, which is returned ("MiB/s", "" for none). */
const char *format_pair(const struct report_cell *a, const struct report_cell *b,
	char first[static CELL_TEXT_MAX], char second[static CELL_TEXT_MAX]);

/* For machines: raw numbers in base units, the shortest form that reads back equal; ""
 * when missing. */
const char *format_cell_raw(
	const struct report_cell *cell, char buffer[static CELL_TEXT_MAX]);

/* Of the texts of a verdict (NULL: none) and a direction: "faster", "slower", "equivalent",
 * "~" (no detectable difference), "-". */
const char *format_verdict(const char *verdict, const char *direction);
