/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Rows and cells of a report, and the texts that they point to. */

#include "report/report.h"

/* Room for that many rows in the table, which has none; -ENOMEM. */
int table_make(struct report *r, enum report_table_id id, size_t rows, struct err *e);
void table_deinit(struct report_table *t);

/* One more row, whose cells all are missing; there must be room. */
struct report_cell *table_next_row(struct report_table *t);

struct report_cell cell_text(const char *text); /* which is not copied */
struct report_cell cell_count(uint64_t count);
struct report_cell cell_yes_no(bool yes);
struct report_cell cell_number(enum cell_type type, double number); /* NAN: missing */

/* The type of a cell that holds a metric of that unit. */
enum cell_type report_unit_cell(enum result_unit unit);

/* A text that lives as long as the report; "" without memory. */
const char *report_textf(struct report *r, const char *fmt, ...) _printf_(2, 3);

/* Appends a sentence below the results.  -ENOMEM. */
int report_add_remark(struct report *r, struct err *e, const char *fmt, ...)
	_printf_(3, 4);
