/* SPDX-License-Identifier: GPL-3.0-or-later */

/* For people: what a reviewer would hold against the experiment, in what environment it was
 * made, and where files and journals lay.  What is not known is said to be unknown. */

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "core/wrap.h"
#include "report/cell_facts.h"
#include "report/format.h"
#include "report/report.h"

enum { INDENT = 2 };

static void heading(struct strbuf *out, const char *text)
{
	strbuf_addf(out, "%s\n", text);
	for (size_t i = 0; text[i]; i++)
		strbuf_add(out, "-");
	strbuf_add(out, "\n");
}

static const char *text_of(const json_t *json, const char *key)
{
	return json_string_value(json_object_get(json, key)) ?: "unknown";
}

/* Numbers and truths as words, too. */
static void add_fact(struct strbuf *b, const char *name, const json_t *json, const char *key)
{
	const json_t *value = json_object_get(json, key);

	strbuf_addf(b, "%s%s ", b->length ? ", " : "", name);
	if (json_is_string(value))
		strbuf_add(b, *json_string_value(value) ? json_string_value(value) : "none");
	else if (json_is_integer(value))
		strbuf_addf(b, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		strbuf_addf(b, "%.1f", json_real_value(value));
	else if (json_is_boolean(value))
		strbuf_add(b, json_is_true(value) ? "yes" : "no");
	else
		strbuf_add(b, "unknown");
}

static void render_host(const json_t *host, struct strbuf *out)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	char memory[16];

	units_format_bytes(
		(uint64_t)json_integer_value(json_object_get(host, "memory_bytes")) >> 20
			<< 20,
		memory);
	strbuf_addf(&b, "Linux %s", text_of(host, "kernel"));
	add_fact(&b, "taint", host, "taint");
	add_fact(&b, "e2fsprogs", host, "e2fsprogs");
	add_fact(&b, "jbdlab", host, "jbdlab");
	add_fact(&b, "processors", host, "cpus");
	add_fact(&b, "model", host, "cpu_model");
	add_fact(&b, "governor", host, "cpu_governor");
	strbuf_addf(&b, ", memory %s", memory);
	add_fact(&b, "dirty_ratio", host, "dirty_ratio");
	add_fact(&b, "dirty_background_ratio", host, "dirty_background_ratio");
	wrap_text(out, strbuf_text(&b), 0, INDENT);
}

static void render_device(const json_t *device, struct strbuf *out)
{
	const json_t *queue = json_object_get(device, "queue"), *disk;
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	size_t i;

	strbuf_addf(&b, "%s %s: %s", text_of(device, "role"), text_of(device, "name"),
		text_of(device, "path"));
	add_fact(&b, "model", device, "model");
	add_fact(&b, "serial", device, "serial");
	add_fact(&b, "by-id name", device, "stable_name");
	add_fact(&b, "rotational", queue, "rotational");
	add_fact(&b, "write cache", queue, "write_cache");
	add_fact(&b, "FUA", queue, "fua");
	add_fact(&b, "scheduler", queue, "scheduler");
	add_fact(&b, "requests", queue, "requests");
	wrap_text(out, strbuf_text(&b), 0, INDENT);
	json_array_foreach (json_object_get(device, "disk_health"), i, disk) {
		const json_t *readings = json_object_get(disk, "readings");
		_cleanup_(strbuf_deinit) struct strbuf d = { 0 };

		strbuf_addf(&d, "on disk %s", text_of(disk, "name"));
		add_fact(&d, "firmware", disk, "firmware");
		add_fact(&d, "temperature", readings, "temperature_celsius");
		add_fact(&d, "wear %", readings, "wear_percent");
		if (json_is_string(json_object_get(readings, "unknown_because")))
			strbuf_addf(&d, " (%s)", text_of(readings, "unknown_because"));
		strbuf_add(out, "  ");
		wrap_text(out, strbuf_text(&d), INDENT, INDENT + INDENT);
	}
}

static void render_environment(const struct report *r, struct strbuf *out)
{
	const json_t *before = json_object_get(r->bundle.environment, "before"), *device;
	size_t i;

	if (!before)
		return;
	strbuf_add(out, "\n");
	heading(out, "Environment");
	render_host(json_object_get(before, "host"), out);
	json_array_foreach (json_object_get(before, "devices"), i, device)
		render_device(device, out);
}

/* "append: inline at 53 %, ssd at 51 % of the volume" */
static void render_places(const struct report *r, struct strbuf *out)
{
	const struct bundle_info *info = &r->bundle.info;

	if (!r->tables[TABLE_PLACES].row_count)
		return;
	strbuf_add(out, "\n");
	heading(out, "Where the files lay, on average, from the start of the volume");
	for (size_t w = 0; w < r->arms[0].workload_count; w++) {
		const char *name = r->arms[0].workloads[w].name;
		_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

		strbuf_addf(&b, "%s:", name);
		for (size_t a = 0; a < info->arm_count; a++) {
			double place = cell_facts_place(r, info->arms[a].name, name);

			if (place == place)
				strbuf_addf(&b, "%s %s at %.0f %%", a ? "," : "",
					info->arms[a].name, place * 100);
			else
				strbuf_addf(&b, "%s %s unknown", a ? "," : "",
					info->arms[a].name);
		}
		wrap_text(out, strbuf_text(&b), 0, INDENT);
	}
}

static void render_confound(const struct report_cell *row, struct strbuf *out)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	strbuf_addf(&b, "%s: %s", row[CONFOUNDS_ID].text, row[CONFOUNDS_SENTENCE].text);
	if (row[CONFOUNDS_DETAIL].type == CELL_TEXT)
		strbuf_addf(&b, " (%s)", row[CONFOUNDS_DETAIL].text);
	strbuf_add(&b, ".");
	wrap_text(out, strbuf_text(&b), 0, INDENT);
}

/* The report has a sentence of its own about blocks. */
static bool is_said_elsewhere(const struct report_cell *row)
{
	return !strcmp(row[CONFOUNDS_ID].text, "few_blocks");
}

int render_surroundings(const struct report *r, bool all, struct strbuf *out, struct err *e)
{
	const struct report_table *t = &r->tables[TABLE_CONFOUNDS];
	bool any = false;

	for (size_t i = 0; i < t->row_count; i++) {
		const struct report_cell *row = t->cells + i * t->column_count;

		if (!all && is_said_elsewhere(row))
			continue;
		if (!any) {
			if (all)
				strbuf_add(out, "\n");
			heading(out, "What a reviewer would hold against this");
		}
		any = true;
		render_confound(row, out);
	}
	if (any && !all)
		strbuf_add(out, "\n");
	if (all) {
		render_environment(r, out);
		render_places(r, out);
	}
	return strbuf_failed(out) ? err_set(e, ENOMEM, "print the surroundings") : 0;
}
