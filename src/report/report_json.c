/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Parts of a report as JSON; see report_json.h.  Raw numbers in base units. */

#include "report/report_json.h"

#include "core/clock.h"
#include "report/summary.h"

static json_t *cell_to_json(const struct report_cell *cell)
{
	switch (cell->type) {
	case CELL_MISSING:
		return json_null();
	case CELL_TEXT:
		return json_string(cell->text);
	case CELL_COUNT:
		return json_integer((json_int_t)cell->count);
	case CELL_YES_NO:
		return json_boolean(cell->count);
	default:
		return json_real(cell->number);
	}
}

json_t *report_row_to_json(const struct report_table *t, size_t row)
{
	const struct report_cell *cells = t->cells + row * t->column_count;
	json_auto_t *json = json_object();

	for (size_t c = 0; c < t->column_count; c++)
		if (json_object_set_new(json, t->columns[c].key, cell_to_json(&cells[c])))
			return NULL;
	return take_ptr(json);
}

static json_t *remarks_to_json(const struct report *r)
{
	json_auto_t *remarks = json_array();

	for (size_t i = 0; i < r->remark_count; i++)
		if (json_array_append_new(remarks, json_string(r->remarks[i])))
			return NULL;
	return take_ptr(remarks);
}

static json_t *summary_to_json(const struct report *r)
{
	_cleanup_(summary_deinit) struct summary s = {0};
	json_auto_t *list = json_array();

	if (report_summary(r, &s, NULL))
		return NULL;
	for (size_t i = 0; i < s.count; i++) {
		const struct summary_sentence *sentence = &s.sentences[i];

		if (json_array_append_new(list,
			    json_pack("{ss,ss,ss}", "kind",
				    summary_kind_word(sentence->kind), "tone",
				    summary_tone_word(sentence->tone), "text",
				    sentence->text)))
			return NULL;
	}
	return take_ptr(list);
}

json_t *report_head_to_json(const struct report *r)
{
	const struct bundle_info *info = &r->bundle.info;
	char created[32];

	clock_format_utc(info->created_wall_ns, created);
	return json_pack("{ss,ss,ss,ss,ss,sI,sI,sI,sI,ss,ss,so,so}", "schema",
		REPORT_SCHEMA, "name", info->name, "version", info->version, "created",
		created, "state", bundle_state_word(info->state), "seed",
		(json_int_t)info->seed, "blocks_planned", (json_int_t)info->blocks,
		"blocks_begun", (json_int_t)r->blocks, "blocks_complete",
		(json_int_t)r->complete_blocks, "primary", info->primary, "plan_sha256",
		info->plan_sha256, "remarks", remarks_to_json(r), "summary",
		summary_to_json(r));
}
