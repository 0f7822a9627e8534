/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Records of cells; see cell_facts.h. */

#include "report/cell_facts.h"

#include <math.h>
#include <string.h>

#include "core/units.h"
#include "report/cells.h"

enum { SHOWN_MAX = 4, WARNING_LEVEL = 4 };

const json_t *cell_facts_volume(const struct report *r, const char *arm)
{
	const json_t *cell;
	size_t i;

	json_array_foreach (r->bundle.cells, i, cell) {
		const char *name = json_string_value(json_object_get(cell, "arm"));

		if (name && !strcmp(name, arm))
			return json_array_get(json_object_get(cell, "volumes"), 0);
	}
	return NULL;
}

static double place_in(const json_t *cell, const char *workload)
{
	const json_t *volume = json_array_get(json_object_get(cell, "volumes"), 0);
	double size = json_number_value(
		json_object_get(json_object_get(volume, "superblock"), "size_bytes"));
	const json_t *files = json_object_get(cell, "files"), *one;
	size_t i;

	json_array_foreach (files, i, one) {
		const char *name = json_string_value(json_object_get(one, "workload"));
		const json_t *mean =
			json_object_get(json_object_get(one, "place"), "mean_byte");

		if (name && !strcmp(name, workload) && json_is_number(mean) && size > 0)
			return json_number_value(mean) / size;
	}
	return NAN;
}

double cell_facts_place(const struct report *r, const char *arm, const char *workload)
{
	const json_t *cell;
	double sum = 0;
	size_t i, n = 0;

	json_array_foreach (r->bundle.cells, i, cell) {
		const char *name = json_string_value(json_object_get(cell, "arm"));
		double place = name && !strcmp(name, arm) ? place_in(cell, workload) : NAN;

		if (isfinite(place)) {
			sum += place;
			n++;
		}
	}
	return n ? sum / (double)n : NAN;
}

/* A list that is cut after a few, each element once. */
struct summary {
	struct strbuf text;
	size_t count;
};

static void summary_add(struct summary *s, const char *text)
{
	if (s->text.text && strstr(s->text.text, text))
		return;
	if (s->count++ < SHOWN_MAX)
		strbuf_addf(&s->text, "%s%s", s->text.length ? "; " : "", text);
}

static const char *summary_take(struct summary *s, struct report *r)
{
	const char *text = NULL;

	if (s->count > SHOWN_MAX)
		strbuf_addf(&s->text, "; and %zu more", s->count - SHOWN_MAX);
	if (s->count)
		text = report_textf(r, "%s", strbuf_text(&s->text));
	strbuf_deinit(&s->text);
	return text;
}

/* "0.5", "performance", "unknown". */
static void add_value(struct strbuf *b, const json_t *value)
{
	_cleanup_free_ char *dumped = NULL;

	if (json_is_string(value)) {
		strbuf_add(b, json_string_value(value));
		return;
	}
	dumped = value && !json_is_null(value) ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
	strbuf_add(b, dumped ? dumped : "unknown");
}

static void add_changes(struct summary *s, const json_t *changes)
{
	const json_t *change;
	size_t i;

	json_array_foreach (changes, i, change) {
		_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

		strbuf_addf(&b, "%s from ",
			json_string_value(json_object_get(change, "fact")) ?: "?");
		add_value(&b, json_object_get(change, "before"));
		strbuf_add(&b, " to ");
		add_value(&b, json_object_get(change, "after"));
		summary_add(s, strbuf_text(&b));
	}
}

const char *cell_facts_changes(struct report *r)
{
	struct summary s = { .count = 0 };
	const json_t *cell;
	size_t i;

	json_array_foreach (r->bundle.cells, i, cell) {
		add_changes(&s, json_object_get(cell, "different_from_start"));
		add_changes(&s, json_object_get(cell, "changed"));
	}
	return summary_take(&s, r);
}

const char *cell_facts_kernel(struct report *r)
{
	struct summary s = { .count = 0 };
	const json_t *cell, *line;
	size_t i, k;

	json_array_foreach (r->bundle.cells, i, cell)
		json_array_foreach (
			json_object_get(json_object_get(cell, "kernel"), "lines"), k, line) {
			const char *text = json_string_value(json_object_get(line, "text"));

			/* It says only that it said the same of other mounts before. */
			if (!text || strstr(text, "callbacks suppressed"))
				continue;
			if (json_integer_value(json_object_get(line, "level")) <= WARNING_LEVEL)
				summary_add(&s, text);
		}
	return summary_take(&s, r);
}

struct foreign_sum {
	const char *name;
	uint64_t reads, writes;
	size_t cells;
};

static void add_device(struct foreign_sum sums[], size_t *count, size_t max, const json_t *d)
{
	const char *name = json_string_value(json_object_get(d, "name"));
	uint64_t reads =
		(uint64_t)json_integer_value(json_object_get(d, "foreign_read_bytes"));
	uint64_t writes =
		(uint64_t)json_integer_value(json_object_get(d, "foreign_write_bytes"));
	size_t i = 0;

	while (name && i < *count && strcmp(sums[i].name, name))
		i++;
	if (!name || !(reads + writes) || i == max)
		return;
	if (i == *count)
		sums[(*count)++] = (struct foreign_sum){ .name = name };
	sums[i].reads += reads;
	sums[i].writes += writes;
	sums[i].cells++;
}

const char *cell_facts_foreign(struct report *r)
{
	struct foreign_sum sums[16];
	struct summary s = { .count = 0 };
	const json_t *cell, *device;
	size_t i, k, count = 0;

	json_array_foreach (r->bundle.cells, i, cell)
		json_array_foreach (json_object_get(cell, "devices"), k, device)
			add_device(sums, &count, ARRAY_SIZE(sums), device);
	for (i = 0; i < count; i++) {
		char reads[16], writes[16], text[160];

		units_format_bytes(sums[i].reads >> 20 << 20, reads);
		units_format_bytes(sums[i].writes >> 20 << 20, writes);
		snprintf(text, sizeof(text), "%s: %s read, %s written, in %zu of %zu cells",
			sums[i].name, reads, writes, sums[i].cells,
			json_array_size(r->bundle.cells));
		summary_add(&s, text);
	}
	return summary_take(&s, r);
}
