/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The JSON Schema of a report, made from the description of the columns, so that it says
 * what the program writes.  Readers ignore keys that they do not know, so it allows others;
 * a key that is described is always there, and null when its value is missing.
 */

#include <errno.h>
#include <jansson.h>

#include "report/columns.h"
#include "report/report_json.h"
#include "report/summary.h"

static json_t *column_schema(const struct report_column *c)
{
	const struct column_kind *kind = &column_kinds[c->type];
	_cleanup_(strbuf_deinit) struct strbuf text = {0};

	strbuf_add(&text, c->help);
	if (*kind->unit)
		strbuf_addf(&text, " (%s)", kind->unit);
	return json_pack("{s[ss]ss}", "type", kind->json, "null", "description",
		strbuf_text(&text));
}

static json_t *table_schema(const struct report_table *t)
{
	json_auto_t *properties = json_object(), *required = json_array();

	for (size_t i = 0; i < t->column_count; i++)
		if (json_object_set_new(properties, t->columns[i].key,
			    column_schema(&t->columns[i])) ||
			json_array_append_new(required, json_string(t->columns[i].key)))
			return NULL;
	return json_pack("{sssss{sssOsO}}", "type", "array", "description", t->title, "items",
		"type", "object", "properties", properties, "required", required);
}

static json_t *words(const char *(*word)(int i), int count)
{
	json_auto_t *list = json_array();

	for (int i = 0; i < count; i++)
		if (json_array_append_new(list, json_string(word(i))))
			return NULL;
	return json_pack("{sO}", "enum", list);
}

static const char *kind_word(int i)
{
	return summary_kind_word((enum summary_kind)i);
}

static const char *tone_word(int i)
{
	return summary_tone_word((enum summary_tone)i);
}

static json_t *summary_schema(void)
{
	json_auto_t *properties = json_pack("{sososo}", "kind",
		words(kind_word, SUMMARY_KINDS), "tone", words(tone_word, SUMMARY_TONES),
		"text", json_pack("{ss}", "type", "string"));

	return json_pack("{sssss{sssOs[sss]}}", "type", "array", "description",
		"what was found, sentence by sentence", "items", "type", "object",
		"properties", properties, "required", "kind", "tone", "text");
}

/* What the bundle says of itself, in the order of report_head_to_json(). */
static const struct {
	const char *key, *type, *description;
} head[] = {
	{"name", "string", "name of the experiment"},
	{"version", "string", "of the program that measured"},
	{"created", "string", "begin of the experiment, UTC"},
	{"state", "string", "running, complete, interrupted or failed"},
	{"seed", "integer", "of the order of arms, of data and of places"},
	{"blocks_planned", "integer", "blocks of the plan"},
	{"blocks_begun", "integer", "blocks of which there are runs"},
	{"blocks_complete", "integer", "blocks that have every arm"},
	{"primary", "string", "path of the primary metric, or empty"},
	{"plan_sha256", "string", "hash of the resolved plan"},
};

static json_t *head_schema(void)
{
	json_auto_t *json = json_pack("{s{ss}}", "schema", "const", REPORT_SCHEMA);

	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		if (json_object_set_new(json, head[i].key,
			    json_pack("{ssss}", "type", head[i].type, "description",
				    head[i].description)))
			return NULL;
	if (json_object_set_new(json, "remarks",
		    json_pack("{sss{ss}}", "type", "array", "items", "type", "string")) ||
		json_object_set_new(json, "summary", summary_schema()))
		return NULL;
	return take_ptr(json);
}

static json_t *report_schema(void)
{
	json_auto_t *properties = head_schema(), *required = json_array();
	const char *key;
	json_t *value;

	for (size_t i = 0; properties && i < TABLE_COUNT; i++)
		if (json_object_set_new(properties, report_table_kinds[i].key,
			    table_schema(&report_table_kinds[i])))
			return NULL;
	json_object_foreach (properties, key, value)
		if (json_array_append_new(required, json_string(key)))
			return NULL;
	return json_pack("{sssssssssOsO}", "$schema",
		"https://json-schema.org/draft/2020-12/schema", "title", REPORT_SCHEMA,
		"description", "What jbdlab report --json prints", "type", "object",
		"properties", properties, "required", required);
}

int render_json_schema(struct strbuf *out, struct err *e)
{
	json_auto_t *json = report_schema();
	_cleanup_free_ char *text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;

	if (!text)
		return err_set(e, ENOMEM, "write JSON");
	strbuf_addf(out, "%s\n", text);
	return strbuf_failed(out) ? err_set(e, ENOMEM, "write JSON") : 0;
}
