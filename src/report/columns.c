/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Columns by key; see columns.h. */

#include "report/columns.h"

#include <errno.h>
#include <string.h>

#include "core/nearest.h"
#include "core/wrap.h"
#include "report/tables.h"

const struct column_kind column_kinds[COLUMN_TYPES] = {
	[TYPE_TEXT] = {"text", "", "string", false},
	[TYPE_COUNT] = {"count", "", "integer", true},
	[TYPE_YES_NO] = {"yes or no", "", "boolean", false},
	[TYPE_RATIO] = {"ratio", "", "number", true},
	[TYPE_NUMBER] = {"number", "", "number", true},
	[TYPE_FRACTION] = {"fraction", "of 1", "number", true},
	[TYPE_BYTES] = {"size", "bytes", "number", true},
	[TYPE_NANOSECONDS] = {"time", "nanoseconds", "number", true},
	[TYPE_VALUE] = {"value", "as \"unit\" says", "number", true},
};

void columns_help(const struct report_table *t, struct strbuf *out)
{
	enum { KEY = 20 };

	for (size_t i = 0; i < t->column_count; i++) {
		const struct report_column *c = &t->columns[i];
		const struct column_kind *kind = &column_kinds[c->type];
		_cleanup_(strbuf_deinit) struct strbuf line = {0};

		strbuf_addf(&line, "%s (%s%s%s)", c->help, kind->word,
			*kind->unit ? ", " : "", kind->unit);
		strbuf_addf(out, "%-*s ", KEY, c->key);
		wrap_text(out, strbuf_text(&line), KEY + 1, KEY + 1);
	}
}

static int find_column(
	const struct report_table *t, const char *key, size_t *column, struct err *e)
{
	struct nearest near = {.word = key};

	for (*column = 0; *column < t->column_count; ++*column) {
		if (!strcmp(key, t->columns[*column].key))
			return 0;
		nearest_offer(&near, t->columns[*column].key);
	}
	if (near.best)
		return err_usage(e,
			"there is no column \"%s\" in %s; did you mean \"%s\"?", key, t->key,
			near.best);
	return err_usage(e,
		"there is no column \"%s\" in %s; --columns help lists them", key, t->key);
}

static int copy_column(
	struct column_selection *s, const struct report_table *t, size_t column, struct err *e)
{
	size_t at = s->table.column_count++;

	/* More columns than there are: somebody wants one of them twice. */
	if (at >= t->column_count)
		return err_usage(e, "too many columns of %s", t->key);
	s->columns[at] = t->columns[column];
	return 0;
}

static void copy_cells(struct column_selection *s, const struct report_table *t)
{
	size_t n = s->table.column_count;

	for (size_t c = 0; c < n; c++) {
		size_t from = 0;

		while (strcmp(t->columns[from].key, s->columns[c].key))
			from++;
		for (size_t i = 0; i < t->row_count; i++)
			s->table.cells[i * n + c] = t->cells[i * t->column_count + from];
	}
}

static int choose(const struct report_table *t, const char *keys,
	struct column_selection *s, struct err *e)
{
	_cleanup_free_ char *list = strdup(keys);
	char *next = list, *key;
	size_t column;
	int status = 0;

	if (!list)
		return err_set(e, ENOMEM, "choose columns");
	while (!status && (key = strsep(&next, ","))) {
		status = find_column(t, key, &column, e);
		if (!status)
			status = copy_column(s, t, column, e);
	}
	return status;
}

int columns_select(const struct report_table *t, const char *keys,
	struct column_selection *s, struct err *e)
{
	size_t cells = t->row_count * t->column_count;
	int status = 0;

	*s = (struct column_selection){.table = *t};
	s->columns = calloc(t->column_count, sizeof(*s->columns));
	s->table.columns = s->columns;
	s->table.cells = calloc(cells + 1, sizeof(*s->table.cells));
	s->table.column_count = 0;
	if (!s->columns || !s->table.cells)
		status = err_set(e, ENOMEM, "choose columns");
	if (!status && keys)
		status = choose(t, keys, s, e);
	for (size_t i = 0; !status && !keys && i < t->column_count; i++)
		status = copy_column(s, t, i, e);
	if (status)
		column_selection_deinit(s);
	else
		copy_cells(s, t);
	return status;
}

void column_selection_deinit(struct column_selection *s)
{
	free(s->columns);
	free(s->table.cells);
	*s = (struct column_selection){0};
}

int columns_find_table(const char *key, const struct report_table **out, struct err *e)
{
	struct nearest near = {.word = key};

	for (size_t i = 0; i < TABLE_COUNT; i++) {
		*out = &report_table_kinds[i];
		if (!strcmp(key, (*out)->key))
			return 0;
		nearest_offer(&near, (*out)->key);
	}
	if (near.best)
		return err_usage(e, "there is no table \"%s\"; did you mean \"%s\"?", key,
			near.best);
	return err_usage(e, "there is no table \"%s\"; --columns help lists them", key);
}
