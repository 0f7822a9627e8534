/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Tables by libsmartcols; see text_table.h. */

#include "report/text_table.h"

#include <errno.h>
#include <libsmartcols.h>
#include <stdbool.h>
#include <stdlib.h>

struct text_table {
	struct libscols_table *scols;
	bool failed;
	size_t count;
	bool left_out[];
};

static struct text_table *table_free(struct text_table *t)
{
	if (t)
		scols_unref_table(t->scols);
	free(t);
	return NULL;
}
DEFINE_CLEANUP(struct text_table *, table_free)

struct text_table *text_table_new(
	const struct text_column *columns, size_t count, size_t width)
{
	static const int flags[] = {
		[TEXT_LEFT] = 0,
		[TEXT_RIGHT] = SCOLS_FL_RIGHT,
		[TEXT_CUT] = SCOLS_FL_TRUNC,
		[TEXT_WRAP] = SCOLS_FL_WRAP,
	};
	_cleanup_(table_freep) struct text_table *t =
		calloc(1, sizeof(*t) + count * sizeof(t->left_out[0]));

	if (!t)
		return NULL;
	t->count = count;
	t->scols = scols_new_table();
	if (!t->scols)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		t->left_out[i] = !columns[i].title;
		if (columns[i].title && !scols_table_new_column(t->scols,
						columns[i].title, 0,
						flags[columns[i].align]))
			return NULL;
	}
	scols_table_set_termforce(
		t->scols, width ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
	if (width)
		scols_table_set_termwidth(t->scols, width);
	return take_ptr(t);
}

void text_table_add(struct text_table *t, const char *const *texts)
{
	struct libscols_line *line = t ? scols_table_new_line(t->scols, NULL) : NULL;
	size_t at = 0;

	if (!t)
		return;
	t->failed = t->failed || !line;
	for (size_t i = 0; !t->failed && i < t->count; i++)
		if (!t->left_out[i])
			t->failed = scols_line_set_data(line, at++, texts[i]) != 0;
}

int text_table_finish(
	struct text_table *table, const char *empty, struct strbuf *out, struct err *e)
{
	_cleanup_(table_freep) struct text_table *t = table;
	_cleanup_free_ char *text = NULL;

	if (!t || t->failed || scols_print_table_to_string(t->scols, &text))
		return err_set(e, ENOMEM, "print a table");
	strbuf_addf(out, "%s\n", text && *text ? text : empty);
	return 0;
}
