/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Rows and cells of a report, and the texts that they point to; see cells.h. */

#include "report/cells.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const enum cell_type unit_cells[] = {
	[UNIT_BYTES_PER_SECOND] = CELL_BYTES_PER_SECOND,
	[UNIT_OPERATIONS_PER_SECOND] = CELL_OPERATIONS_PER_SECOND,
	[UNIT_NANOSECONDS] = CELL_NANOSECONDS,
	[UNIT_FRACTION] = CELL_FRACTION,
	[UNIT_BYTES] = CELL_BYTES,
	[UNIT_COUNT] = CELL_NUMBER,
};

enum cell_type report_unit_cell(enum result_unit unit)
{
	return unit_cells[unit];
}

struct report_cell cell_text(const char *text)
{
	return (struct report_cell){.type = CELL_TEXT, .text = text};
}

struct report_cell cell_count(uint64_t count)
{
	return (struct report_cell){.type = CELL_COUNT, .count = count};
}

struct report_cell cell_yes_no(bool yes)
{
	return (struct report_cell){.type = CELL_YES_NO, .count = yes};
}

struct report_cell cell_number(enum cell_type type, double number)
{
	return (struct report_cell){
		.type = isfinite(number) ? type : CELL_MISSING, .number = number};
}

int table_make(struct report *r, enum report_table_id id, size_t rows, struct err *e)
{
	struct report_table *t = &r->tables[id];

	t->cells = calloc(rows * t->column_count + 1, sizeof(*t->cells));
	return t->cells ? 0 : err_set(e, ENOMEM, "make the table %s", t->key);
}

struct report_cell *table_next_row(struct report_table *t)
{
	return t->cells + t->row_count++ * t->column_count;
}

void table_deinit(struct report_table *t)
{
	free(t->cells);
	*t = (struct report_table){0};
}

const char *report_textf(struct report *r, const char *fmt, ...)
{
	char **texts = reallocarray(r->texts, r->text_count + 1, sizeof(*texts));
	va_list ap;
	int n;

	if (!texts)
		return "";
	r->texts = texts;
	va_start(ap, fmt);
	n = vasprintf(&texts[r->text_count], fmt, ap);
	va_end(ap);
	return n < 0 ? "" : texts[r->text_count++];
}

int report_add_remark(struct report *r, struct err *e, const char *fmt, ...)
{
	char **remarks = reallocarray(r->remarks, r->remark_count + 1, sizeof(*remarks));
	char *text;
	va_list ap;
	int n;

	if (!remarks)
		return err_set(e, ENOMEM, "report");
	r->remarks = remarks;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return err_set(e, ENOMEM, "report");
	remarks[r->remark_count++] = text;
	return 0;
}
