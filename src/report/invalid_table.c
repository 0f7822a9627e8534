/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Which cells broke which of the rules that were fixed beforehand, and what became of
 * their blocks; from the cells of a bundle. */

#include <errno.h>
#include <string.h>

#include "report/tables.h"

const struct report_column invalid_columns[INVALID_COLUMNS] = {
	[INVALID_BLOCK] = {"block", "Block", "number of the block, from 1", TYPE_COUNT},
	[INVALID_ATTEMPT] = {"attempt", "Attempt", "how often it had been begun, from 1",
		TYPE_COUNT},
	[INVALID_ARM] = {"arm", "Arm", "the arm of the cell", TYPE_TEXT},
	[INVALID_RULE] = {"rule", "Rule",
		"io_error, audit_failed, foreign_io, throttled, clock_step, "
		"settings_changed or swap", TYPE_TEXT},
	[INVALID_DETAIL] = {"detail", "Detail", "what was seen", TYPE_TEXT},
	[INVALID_REPEATED] = {"repeated", "Repeated",
		"the block was measured again, and does not count", TYPE_YES_NO},
};

static struct report_cell text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return cell_text(text ? text : "");
}

static void add_reason(struct report *r, const json_t *cell, const json_t *reason)
{
	json_int_t block = json_integer_value(json_object_get(cell, "block"));
	json_int_t attempt = json_integer_value(json_object_get(cell, "attempt"));
	const struct report_row *place =
		block < 0 ? NULL : rows_of(&r->rows, (uint64_t)block);
	struct report_cell *row = table_next_row(&r->tables[TABLE_INVALID]);

	row[INVALID_BLOCK] = cell_count((place ? place->slot : (uint64_t)block) + 1);
	row[INVALID_ATTEMPT] = cell_count((uint64_t)attempt + 1);
	row[INVALID_ARM] = text_of(cell, "arm");
	row[INVALID_RULE] = text_of(reason, "rule");
	row[INVALID_DETAIL] = text_of(reason, "detail");
	row[INVALID_REPEATED] = (struct report_cell){
		.type = CELL_YES_NO, .count = place && place->superseded};
}

int invalid_table_make(struct report *r, struct err *e)
{
	const json_t *cell, *reasons, *reason;
	size_t i, k, count = 0;
	int status;

	json_array_foreach(r->bundle.cells, i, cell)
		count += json_array_size(json_object_get(cell, "invalid"));
	status = table_make(r, TABLE_INVALID, count, e);
	if (status)
		return status;
	json_array_foreach(r->bundle.cells, i, cell) {
		reasons = json_object_get(cell, "invalid");
		json_array_foreach(reasons, k, reason)
			add_reason(r, cell, reason);
	}
	return 0;
}

/* The rules of the rows that were, or were not, repeated: "audit_failed, swap"; how many
 * blocks these were. */
static size_t list_rules(const struct report *r, bool repeated, struct strbuf *names)
{
	const struct report_table *t = &r->tables[TABLE_INVALID];
	size_t blocks = 0;

	for (size_t i = 0; i < t->row_count; i++) {
		const struct report_cell *row = t->cells + i * t->column_count;
		bool same_block = false, same_rule = false;

		if ((row[INVALID_REPEATED].count != 0) != repeated)
			continue;
		for (size_t k = 0; k < i; k++) {
			const struct report_cell *other = t->cells + k * t->column_count;

			if (other[INVALID_REPEATED].count != row[INVALID_REPEATED].count)
				continue;
			same_block |= other[INVALID_BLOCK].count == row[INVALID_BLOCK].count &&
				other[INVALID_ATTEMPT].count == row[INVALID_ATTEMPT].count;
			same_rule |= !strcmp(other[INVALID_RULE].text, row[INVALID_RULE].text);
		}
		blocks += !same_block;
		if (!same_rule)
			strbuf_addf(names, "%s%s", names->length ? ", " : "",
				row[INVALID_RULE].text);
	}
	return blocks;
}

int invalid_remarks(struct report *r, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf repeated = {0}, kept = {0};
	size_t again = list_rules(r, true, &repeated);
	size_t counted = list_rules(r, false, &kept);
	int status = 0;

	if (strbuf_failed(&repeated) || strbuf_failed(&kept))
		return err_set(e, ENOMEM, "report");
	if (again)
		status = report_add_remark(r, e,
			"Invalid by the rules and measured again: %zu block%s (%s).", again,
			PLURAL(again), strbuf_text(&repeated));
	if (!status && counted)
		status = report_add_remark(r, e,
			"NOT VALID by the rules, but counted since it would not be otherwise: "
			"%zu block%s (%s). Details: --format csv --table invalid.",
			counted, PLURAL(counted), strbuf_text(&kept));
	return status;
}
