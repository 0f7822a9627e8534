/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The environment fact by fact, as it was before the experiment and after it.  Nothing is
 * known here of what the facts mean; elements of lists are named by their role and name.
 * What never stands still (the time, readings) differs without being a difference. */

#include "report/tables.h"

#include <errno.h>
#include <string.h>

const struct report_column environment_columns[ENVIRONMENT_COLUMNS] = {
	[ENVIRONMENT_FACT] = { "fact", "Fact", "path of the fact", TYPE_TEXT },
	[ENVIRONMENT_BEFORE] = { "before", "Before", "before the experiment", TYPE_TEXT },
	[ENVIRONMENT_AFTER] = { "after", "After", "after it", TYPE_TEXT },
	[ENVIRONMENT_DIFFERS] = { "differs", "Differs",
		"it changed during the experiment", TYPE_YES_NO },
};

struct walk {
	struct report *r; /* NULL: only count */
	size_t rows;
	bool unsteady;	/* below what never stands still */
	bool has_after;
};

static void walk_value(struct walk *w, const char *path, const json_t *a, const json_t *b);

static struct report_cell cell_of(struct report *r, const json_t *value)
{
	_cleanup_free_ char *text = NULL;

	if (!value || json_is_null(value))
		return (struct report_cell){ .type = CELL_MISSING };
	if (json_is_string(value))
		return cell_text(json_string_value(value));
	if (json_is_boolean(value))
		return cell_text(json_is_true(value) ? "yes" : "no");
	text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
	return cell_text(report_textf(r, "%s", text ? text : ""));
}

static void walk_below(struct walk *w, const char *path, const char *key, const json_t *a,
	const json_t *b)
{
	_cleanup_(strbuf_deinit) struct strbuf below = { 0 };
	bool before = w->unsteady;

	w->unsteady = before || !strcmp(key, "time") || !strcmp(key, "readings");
	strbuf_addf(&below, "%s%s%s", path, *path ? "/" : "", key);
	walk_value(w, strbuf_text(&below), a, b);
	w->unsteady = before;
}

static void walk_object(struct walk *w, const char *path, const json_t *a, const json_t *b)
{
	const char *key;
	const json_t *value;

	json_object_foreach ((json_t *)a, key, value)
		walk_below(w, path, key, value, json_object_get(b, key));
	json_object_foreach ((json_t *)b, key, value)
		if (!json_object_get(a, key))
			walk_below(w, path, key, NULL, value);
}

static void walk_array(struct walk *w, const char *path, const json_t *a, const json_t *b)
{
	size_t count = MAX(json_array_size(a), json_array_size(b));

	for (size_t i = 0; i < count; i++) {
		const json_t *x = json_array_get(a, i), *y = json_array_get(b, i);
		const char *role = json_string_value(json_object_get(x ? x : y, "role"));
		const char *name = json_string_value(json_object_get(x ? x : y, "name"));
		_cleanup_(strbuf_deinit) struct strbuf key = { 0 };

		if (name)
			strbuf_addf(&key, "%s%s%s", role ? role : "", role ? " " : "", name);
		else
			strbuf_addf(&key, "%zu", i + 1);
		walk_below(w, path, strbuf_text(&key), x, y);
	}
}

static bool is_plain_list(const json_t *a)
{
	return json_is_array(a) && !json_is_object(json_array_get(a, 0)) &&
		!json_is_array(json_array_get(a, 0));
}

static void walk_value(struct walk *w, const char *path, const json_t *a, const json_t *b)
{
	struct report_cell *row;

	if (json_is_object(a ? a : b)) {
		walk_object(w, path, a, b);
		return;
	}
	if (json_is_array(a ? a : b) && !is_plain_list(a ? a : b)) {
		walk_array(w, path, a, b);
		return;
	}
	w->rows++;
	if (!w->r)
		return;
	row = table_next_row(&w->r->tables[TABLE_ENVIRONMENT]);
	row[ENVIRONMENT_FACT] = cell_text(report_textf(w->r, "%s", path));
	row[ENVIRONMENT_BEFORE] = cell_of(w->r, a);
	row[ENVIRONMENT_AFTER] = cell_of(w->r, b);
	row[ENVIRONMENT_DIFFERS] = cell_yes_no(w->has_after && !w->unsteady &&
		!json_equal((json_t *)(a ? a : json_null()),
			(json_t *)(b ? b : json_null())));
}

int environment_table_make(struct report *r, struct err *e)
{
	const json_t *before = json_object_get(r->bundle.environment, "before");
	const json_t *after = json_object_get(r->bundle.environment, "after");
	struct walk counting = { 0 }, walk = { .r = r, .has_after = after };
	int status;

	walk_value(&counting, "", before, after);
	status = table_make(r, TABLE_ENVIRONMENT, counting.rows, e);
	if (!status && before)
		walk_value(&walk, "", before, after);
	return status;
}
