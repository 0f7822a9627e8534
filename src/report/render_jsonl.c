/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A report as lines of JSON, for programs that read one record after the other: first what
 * the bundle says of itself, then a line for each row of each table. */

#include <errno.h>
#include <jansson.h>

#include "report/formats.h"
#include "report/report_json.h"

/* Appends the members behind the name of the table that they are of; takes json. */
static int add_line(
	const char *table, json_t *json, struct strbuf *out, struct err *e)
{
	json_auto_t *members = json;
	json_auto_t *line = json_pack("{ss}", "table", table);
	_cleanup_free_ char *text = NULL;

	if (members && line && !json_object_update(line, members))
		text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17));
	if (!text)
		return err_set(e, ENOMEM, "write JSON");
	strbuf_addf(out, "%s\n", text);
	return 0;
}

static int render_jsonl_table(const struct report_table *t, struct strbuf *out, struct err *e)
{
	int status = 0;

	for (size_t i = 0; !status && i < t->row_count; i++)
		status = add_line(t->key, report_row_to_json(t, i), out, e);
	if (!status && strbuf_failed(out))
		status = err_set(e, ENOMEM, "write JSON");
	return status;
}

static int render_jsonl(const struct report *r, struct strbuf *out, struct err *e)
{
	int status = add_line("report", report_head_to_json(r), out, e);

	for (size_t i = 0; !status && i < TABLE_COUNT; i++)
		status = render_jsonl_table(&r->tables[i], out, e);
	return status;
}

const struct report_format report_format_jsonl = {
	.name = "jsonl",
	.whole = render_jsonl,
	.table = render_jsonl_table,
};
