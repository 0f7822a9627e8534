/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A comparison of two sets of runs as text in 80 columns and as JSON; see match.h. */

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/format.h"
#include "report/match.h"
#include "report/text_table.h"
#include "result/result_json.h"

#define MATCH_SCHEMA "jbdlab-compare/1"

enum { TEXT = 160 };

enum { COLUMN_PATH, COLUMN_A, COLUMN_B, COLUMN_RATIO, COLUMN_INTERVAL, COLUMN_WORD,
	COLUMN_MARKS, COLUMNS };

/* Which marks say something about a metric. */
static unsigned marks_of(const struct match_row *row)
{
	unsigned latency = RESULT_PAGE_CACHE | RESULT_LATENCY_SUM | RESULT_IMPOSSIBLE;

	if (row->unit == UNIT_BYTES_PER_SECOND && strncmp(row->metric, "cpu", 3))
		return row->marks & ~(unsigned)(RESULT_LATENCY_SUM | RESULT_CPU_SUM);
	if (row->unit == UNIT_NANOSECONDS || !strncmp(row->metric, "latency", 7))
		return row->marks & latency;
	return row->marks & RESULT_CPU_SUM;
}

/* Rates are told as they are published, in MiB/s and never in GiB/s; "~" stands before
 * what was recovered. */
static void format_value(
	const struct match_row *row, double value, char out[CELL_TEXT_MAX])
{
	static const enum cell_type types[] = {
		[UNIT_OPERATIONS_PER_SECOND] = CELL_OPERATIONS_PER_SECOND,
		[UNIT_NANOSECONDS] = CELL_NANOSECONDS,
		[UNIT_FRACTION] = CELL_FRACTION,
		[UNIT_BYTES] = CELL_BYTES,
		[UNIT_COUNT] = CELL_NUMBER,
	};
	double mib = value / (1 << 20);

	if (isnan(value)) {
		snprintf(out, CELL_TEXT_MAX, "-");
	} else if (row->unit == UNIT_BYTES_PER_SECOND) {
		snprintf(out, CELL_TEXT_MAX, "%s%.*f MiB/s",
			marks_of(row) & RESULT_RECOVERED ? "~" : "",
			mib < 999.995 ? 2 : 0, mib);
	} else {
		struct report_cell cell = {.type = types[row->unit], .number = value};

		format_cell(&cell, out);
	}
}

static const char *word_of(const struct match_row *row)
{
	bool higher = row->ratio > 1;

	switch (row->contrast.verdict) {
	case VERDICT_EQUIVALENT:
		return "equivalent";
	case VERDICT_NO_DIFFERENCE:
		return "~";
	case VERDICT_HIGHER:
	case VERDICT_LOWER:
		higher = row->contrast.verdict == VERDICT_HIGHER;
		break;
	case VERDICT_UNKNOWN: /* the ratio alone, and a note says so */
		if (isnan(row->ratio) || row->ratio == 1)
			return "";
	}
	if (row->direction == NO_DIRECTION)
		return "";
	return higher == (row->direction == HIGHER_IS_BETTER) ? "better" : "worse";
}

static double ratio_of(const struct match_row *row)
{
	return row->contrast.verdict == VERDICT_UNKNOWN ? row->ratio : row->contrast.ratio;
}

static void marks_text(const struct match_row *row, char out[TEXT])
{
	unsigned marks = marks_of(row) & ~(unsigned)RESULT_RECOVERED; /* "~" says it */
	size_t at = 0;

	out[0] = '\0';
	for (unsigned i = 0; match_mark_word(i) && at < TEXT - 24; i++)
		if (marks & (1u << i))
			at += (size_t)snprintf(out + at, TEXT - at, "%s%s", at ? ", " : "",
				match_mark_word(i));
}

static bool has_interval(const struct match *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (!isnan(m->rows[i].contrast.ratio_low))
			return true;
	return false;
}

static void add_line(struct text_table *t, const struct match_row *row)
{
	char path[TEXT], a[CELL_TEXT_MAX], b[CELL_TEXT_MAX], marks[TEXT];
	char ratio[CELL_TEXT_MAX] = "-", interval[CELL_TEXT_MAX] = "-";
	const char *texts[COLUMNS] = {path, a, b, ratio, interval, word_of(row), marks};

	snprintf(path, sizeof(path), "%.100s %.50s", row->path,
		strcmp(row->metric, "latency_max") ? row->metric : "max");
	format_value(row, row->median[0], a);
	format_value(row, row->median[1], b);
	if (!isnan(row->ratio))
		snprintf(ratio, sizeof(ratio), "%.2f", ratio_of(row));
	if (!isnan(row->contrast.ratio_low))
		snprintf(interval, sizeof(interval), "%.2f-%.2f",
			row->contrast.ratio_low, row->contrast.ratio_high);
	marks_text(row, marks);
	text_table_add(t, texts);
}

static struct text_table *new_table(const struct match *m)
{
	const struct text_column columns[COLUMNS] = {
		[COLUMN_PATH] = {"METRIC", TEXT_CUT},
		[COLUMN_A] = {"A", TEXT_RIGHT},
		[COLUMN_B] = {"B", TEXT_RIGHT},
		[COLUMN_RATIO] = {"B/A", TEXT_RIGHT},
		[COLUMN_INTERVAL] = {has_interval(m) ? "95%" : NULL, TEXT_RIGHT},
		[COLUMN_WORD] = {"B IS", TEXT_LEFT},
		[COLUMN_MARKS] = {"NOTE", TEXT_WRAP},
	};

	return text_table_new(columns, COLUMNS, TEXT_TABLE_WIDTH);
}

static void add_side(
	const struct match *m, size_t side, const char *letter, struct strbuf *out)
{
	const struct match_side *s = &m->sides[side];

	strbuf_addf(out, "%s: %s", letter, *s->arm ? s->arm : s->file);
	if (*s->placement && strcmp(s->placement, "unknown"))
		strbuf_addf(out, ", journal %s", s->placement);
	if (*s->arm)
		strbuf_addf(out, " (%s)", s->file);
	strbuf_add(out, "\n");
}

static void add_only(
	const struct match *m, size_t side, const char *letter, struct strbuf *out)
{
	size_t column = 0;

	if (!m->only_count[side])
		return;
	strbuf_addf(out, "Only in %s:", letter);
	for (size_t i = 0; i < m->only_count[side]; i++) {
		size_t n = strlen(m->only[side][i]) + 2;

		if (column + n > TEXT_TABLE_WIDTH - 12) {
			strbuf_add(out, "\n ");
			column = 0;
		}
		strbuf_addf(out, " %s%s", m->only[side][i],
			i + 1 < m->only_count[side] ? "," : "\n");
		column += n;
	}
}

int render_match(const struct match *m, bool all, struct strbuf *out, struct err *e)
{
	struct text_table *t = new_table(m);
	int r;

	for (size_t i = 0; i < m->count; i++)
		if (all || m->rows[i].shown)
			add_line(t, &m->rows[i]);
	add_side(m, 0, "A", out);
	add_side(m, 1, "B", out);
	strbuf_add(out, "\n");
	r = text_table_finish(t, "Nothing can be compared.", out, e);
	if (r)
		return r;
	strbuf_add(out, "\n");
	add_only(m, 0, "A", out);
	add_only(m, 1, "B", out);
	for (size_t i = 0; i < m->note_count; i++)
		strbuf_addf(out, "- %s\n", m->notes[i]);
	return strbuf_failed(out) ? err_set(e, ENOMEM, "write the comparison") : 0;
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *texts(char *const *list, size_t count)
{
	json_auto_t *json = json_array();

	for (size_t i = 0; json && i < count; i++)
		if (json_array_append_new(json, json_string(list[i])))
			return NULL;
	return take_ptr(json);
}

static json_t *marks_to_json(const struct match_row *row)
{
	json_auto_t *json = json_array();

	for (unsigned i = 0; json && match_mark_word(i); i++)
		if (marks_of(row) & (1u << i) &&
			json_array_append_new(json, json_string(match_mark_word(i))))
			return NULL;
	return take_ptr(json);
}

static json_t *row_to_json(const struct match_row *row)
{
	static const char *const verdicts[] = {
		[VERDICT_HIGHER] = "higher",
		[VERDICT_LOWER] = "lower",
		[VERDICT_EQUIVALENT] = "equivalent",
		[VERDICT_NO_DIFFERENCE] = "no_difference",
		[VERDICT_UNKNOWN] = "unknown",
	};
	bool judged = row->contrast.verdict != VERDICT_UNKNOWN;

	return json_pack("{ss,ss,ss,ss,so,so,sI,sI,so,so,so,so,so,so,ss,so,sb,sb}", "path",
		row->path, "metric", row->metric, "unit", result_unit_word(row->unit),
		"direction", result_direction_word(row->direction), "a",
		number(row->median[0]), "b", number(row->median[1]), "runs_a",
		(json_int_t)row->runs[0], "runs_b", (json_int_t)row->runs[1], "ratio",
		number(row->ratio), "estimate", number(row->contrast.ratio), "low",
		number(row->contrast.ratio_low), "high", number(row->contrast.ratio_high),
		"p", number(judged ? row->contrast.summary.p : NAN), "p_holm",
		number(judged ? row->p_holm : NAN), "verdict",
		verdicts[row->contrast.verdict], "marks", marks_to_json(row), "too_short",
		row->too_short, "shown", row->shown);
}

static json_t *side_to_json(const struct match_side *side)
{
	return json_pack("{ss,ss,ss}", "file", side->file, "arm", side->arm, "placement",
		side->placement);
}

int render_match_json(const struct match *m, struct strbuf *out, struct err *e)
{
	json_auto_t *rows = json_array(), *json = NULL;
	_cleanup_free_ char *text = NULL;

	for (size_t i = 0; rows && i < m->count; i++)
		if (json_array_append_new(rows, row_to_json(&m->rows[i])))
			return err_set(e, ENOMEM, "write JSON");
	json = json_pack("{ss,so,so,sO,so,so,so}", "schema", MATCH_SCHEMA, "a",
		side_to_json(&m->sides[0]), "b", side_to_json(&m->sides[1]), "rows", rows,
		"only_a", texts(m->only[0], m->only_count[0]), "only_b",
		texts(m->only[1], m->only_count[1]), "notes",
		texts(m->notes, m->note_count));
	if (json)
		text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
	if (!text)
		return err_set(e, ENOMEM, "write JSON");
	strbuf_add(out, text);
	strbuf_add(out, "\n");
	return strbuf_failed(out) ? err_set(e, ENOMEM, "write JSON") : 0;
}
