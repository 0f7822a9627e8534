/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The tables of what is to be held against an experiment, and of what its cells recorded. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/bundle_facts.h"
#include "report/tables.h"

const struct report_column confounds_columns[CONFOUNDS_COLUMNS] = {
	[CONFOUNDS_ID] = { "id", "Confound", "which check", TYPE_TEXT },
	[CONFOUNDS_SENTENCE] = { "sentence", "Sentence", "what a reviewer would write",
		TYPE_TEXT },
	[CONFOUNDS_DETAIL] = { "detail", "Detail", "what it is about", TYPE_TEXT },
};

const struct report_column places_columns[PLACES_COLUMNS] = {
	[PLACES_WORKLOAD] = { "workload", "Workload", "name of the workload", TYPE_TEXT },
	[PLACES_ARM] = { "arm", "Arm", "name of the arm", TYPE_TEXT },
	[PLACES_BLOCK] = { "block", "Block", "number of the block, from 1", TYPE_COUNT },
	[PLACES_FILES] = { "files", "Files", "how many files were looked at",
		TYPE_COUNT },
	[PLACES_EXTENTS] = { "extents", "Extents", "of these files", TYPE_COUNT },
	[PLACES_FIRST] = { "first", "First", "first byte, as a fraction of the volume",
		TYPE_FRACTION },
	[PLACES_LAST] = { "last", "Last", "last byte, as a fraction of the volume",
		TYPE_FRACTION },
	[PLACES_MEAN] = { "mean", "Mean", "mean place of a byte, as a fraction of the volume",
		TYPE_FRACTION },
	[PLACES_JOURNAL] = { "journal", "Journal",
		"first byte of an inline journal, as a fraction of the volume",
		TYPE_FRACTION },
};

const struct report_column foreign_columns[FOREIGN_COLUMNS] = {
	[FOREIGN_ARM] = { "arm", "Arm", "name of the arm", TYPE_TEXT },
	[FOREIGN_BLOCK] = { "block", "Block", "number of the block, from 1", TYPE_COUNT },
	[FOREIGN_DISK] = { "disk", "Disk", "kernel name of the device", TYPE_TEXT },
	[FOREIGN_ROLE] = { "role", "Role", "data, journal, or below these", TYPE_TEXT },
	[FOREIGN_READ] = { "read_bytes", "Read", "bytes read from it during the cell",
		TYPE_BYTES },
	[FOREIGN_WRITTEN] = { "write_bytes", "Written", "bytes written to it",
		TYPE_BYTES },
	[FOREIGN_READ_FOREIGN] = { "foreign_read_bytes", "Foreign reads",
		"of these, at least so many were read by others", TYPE_BYTES },
	[FOREIGN_WRITTEN_FOREIGN] = { "foreign_write_bytes", "Foreign writes",
		"of these, at least so many were written by others", TYPE_BYTES },
};

static void check(struct report *r, const struct confound_facts *f, const struct confound *c)
{
	_cleanup_(strbuf_deinit) struct strbuf detail = { 0 };
	struct report_cell *row;

	if (!c->found(f, &detail))
		return;
	row = table_next_row(&r->tables[TABLE_CONFOUNDS]);
	row[CONFOUNDS_ID] = cell_text(c->id);
	row[CONFOUNDS_SENTENCE] = cell_text(c->sentence);
	if (detail.length)
		row[CONFOUNDS_DETAIL] =
			cell_text(report_textf(r, "%s", strbuf_text(&detail)));
}

static int make_confounds(struct report *r, struct err *e)
{
	struct confound_facts f;
	size_t count = 0;
	int status;

	while (confounds[count].id)
		count++;
	status = table_make(r, TABLE_CONFOUNDS, count, e);
	if (!status)
		status = bundle_facts_read(&f, r, e);
	if (status)
		return status;
	for (size_t i = 0; i < count; i++)
		check(r, &f, &confounds[i]);
	bundle_facts_deinit(&f);
	return 0;
}

static struct report_cell text_of(const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	return text ? cell_text(text) : (struct report_cell){ .type = CELL_MISSING };
}

static struct report_cell block_of(const json_t *cell)
{
	return cell_count(
		(uint64_t)json_integer_value(json_object_get(cell, "block")) + 1);
}

static struct report_cell fraction_of(const json_t *json, const char *key, double size)
{
	const json_t *value = json_object_get(json, key);

	return cell_number(CELL_FRACTION,
		json_is_number(value) && size > 0 ? json_number_value(value) / size : NAN);
}

static struct report_cell count_of(const json_t *json, const char *key)
{
	return cell_count((uint64_t)json_integer_value(json_object_get(json, key)));
}

static struct report_cell bytes_of(const json_t *json, const char *key)
{
	const json_t *value = json_object_get(json, key);

	return cell_number(CELL_BYTES,
		json_is_number(value) ? json_number_value(value) : NAN);
}

static void add_places(struct report *r, const json_t *cell)
{
	const json_t *volume = json_array_get(json_object_get(cell, "volumes"), 0), *one;
	double size = json_number_value(
		json_object_get(json_object_get(volume, "superblock"), "size_bytes"));
	size_t i;

	json_array_foreach (json_object_get(cell, "files"), i, one) {
		const json_t *place = json_object_get(one, "place");
		struct report_cell *row = table_next_row(&r->tables[TABLE_PLACES]);

		row[PLACES_WORKLOAD] = text_of(one, "workload");
		row[PLACES_ARM] = text_of(cell, "arm");
		row[PLACES_BLOCK] = block_of(cell);
		row[PLACES_JOURNAL] = fraction_of(volume, "journal_first_byte", size);
		if (!json_is_object(place))
			continue;
		row[PLACES_FILES] = count_of(place, "files");
		row[PLACES_EXTENTS] = count_of(place, "extents");
		row[PLACES_FIRST] = fraction_of(place, "first_byte", size);
		row[PLACES_LAST] = fraction_of(place, "last_byte", size);
		row[PLACES_MEAN] = fraction_of(place, "mean_byte", size);
	}
}

static void add_devices(struct report *r, const json_t *cell)
{
	const json_t *d;
	size_t i;

	json_array_foreach (json_object_get(cell, "devices"), i, d) {
		struct report_cell *row = table_next_row(&r->tables[TABLE_FOREIGN]);

		row[FOREIGN_ARM] = text_of(cell, "arm");
		row[FOREIGN_BLOCK] = block_of(cell);
		row[FOREIGN_DISK] = text_of(d, "name");
		row[FOREIGN_ROLE] = text_of(d, "role");
		row[FOREIGN_READ] = bytes_of(d, "read_bytes");
		row[FOREIGN_WRITTEN] = bytes_of(d, "write_bytes");
		row[FOREIGN_READ_FOREIGN] = bytes_of(d, "foreign_read_bytes");
		row[FOREIGN_WRITTEN_FOREIGN] = bytes_of(d, "foreign_write_bytes");
	}
}

int surroundings_tables_make(struct report *r, struct err *e)
{
	size_t places = 0, devices = 0, i;
	const json_t *cell;
	int status;

	json_array_foreach (r->bundle.cells, i, cell) {
		places += json_array_size(json_object_get(cell, "files"));
		devices += json_array_size(json_object_get(cell, "devices"));
	}
	status = table_make(r, TABLE_PLACES, places, e);
	if (!status)
		status = table_make(r, TABLE_FOREIGN, devices, e);
	if (!status)
		status = make_confounds(r, e);
	if (status)
		return status;
	json_array_foreach (r->bundle.cells, i, cell) {
		add_places(r, cell);
		add_devices(r, cell);
	}
	return 0;
}
