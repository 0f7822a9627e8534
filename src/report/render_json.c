/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A report as JSON: what the bundle says of itself, then every table as an array of
 * objects. */

#include <errno.h>
#include <jansson.h>

#include "report/formats.h"
#include "report/report_json.h"

static json_t *table_to_json(const struct report_table *t)
{
	json_auto_t *rows = json_array();

	for (size_t i = 0; i < t->row_count; i++)
		if (json_array_append_new(rows, report_row_to_json(t, i)))
			return NULL;
	return take_ptr(rows);
}

static json_t *report_to_json(const struct report *r)
{
	json_auto_t *json = report_head_to_json(r);

	for (size_t i = 0; json && i < TABLE_COUNT; i++)
		if (json_object_set_new(
			    json, r->tables[i].key, table_to_json(&r->tables[i])))
			return NULL;
	return take_ptr(json);
}

int render_json(const struct report *r, struct strbuf *out, struct err *e)
{
	json_auto_t *json = report_to_json(r);
	_cleanup_free_ char *text = NULL;

	if (json)
		text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
	if (!text)
		return err_set(e, ENOMEM, "write JSON");
	strbuf_add(out, text);
	strbuf_add(out, "\n");
	return strbuf_failed(out) ? err_set(e, ENOMEM, "write JSON") : 0;
}

const struct report_format report_format_json = {
	.name = "json",
	.whole = render_json,
};
