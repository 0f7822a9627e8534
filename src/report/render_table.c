/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Any table for people, under the titles of its columns and as wide as it must be: who
 * wants it narrower chooses columns. */

#include <errno.h>

#include "report/columns.h"
#include "report/format.h"
#include "report/text_table.h"

static int add_rows(struct text_table *text, const struct report_table *t, struct err *e)
{
	_cleanup_free_ const char **texts = calloc(t->column_count + 1, sizeof(*texts));
	_cleanup_free_ char(*buffers)[CELL_TEXT_MAX] =
		calloc(t->column_count + 1, sizeof(*buffers));

	if (!texts || !buffers)
		return err_set(e, ENOMEM, "print the table %s", t->key);
	for (size_t i = 0; i < t->row_count; i++) {
		const struct report_cell *row = t->cells + i * t->column_count;

		for (size_t c = 0; c < t->column_count; c++)
			texts[c] = format_cell(&row[c], buffers[c]);
		text_table_add(text, texts);
	}
	return 0;
}

int render_table(const struct report_table *t, struct strbuf *out, struct err *e)
{
	_cleanup_free_ struct text_column *columns =
		calloc(t->column_count + 1, sizeof(*columns));
	struct text_table *text;
	int status, printed;

	if (!columns)
		return err_set(e, ENOMEM, "print the table %s", t->key);
	for (size_t c = 0; c < t->column_count; c++)
		columns[c] = (struct text_column){t->columns[c].title,
			column_kinds[t->columns[c].type].is_right ? TEXT_RIGHT
								  : TEXT_LEFT};
	text = text_table_new(columns, t->column_count, 0);
	status = add_rows(text, t, e);
	printed = text_table_finish(text, "The table is empty.", out, status ? NULL : e);
	return status ? status : printed;
}
