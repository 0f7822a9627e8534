/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The audit for people: one line for each phase of each arm, and below them a sentence for
 * everything that is not in order; the same is said once of all phases together. */

#include <errno.h>
#include <string.h>

#include "core/wrap.h"
#include "report/format.h"
#include "report/report.h"
#include "report/text_table.h"
#include "result/evidence_json.h"

enum { PHASE, ARM, SYNCS, COMMITS, DATA_FLUSHES, JOURNAL_FLUSHES, AMPLIFICATION, CACHED,
	VERDICT, COLUMNS };

static const struct text_column columns[COLUMNS] = {
	[PHASE] = {"PHASE", TEXT_CUT},
	[ARM] = {"ARM", TEXT_LEFT},
	[SYNCS] = {"SYNCS", TEXT_RIGHT},
	[COMMITS] = {"COMMITS", TEXT_RIGHT},
	[DATA_FLUSHES] = {"DFLUSH", TEXT_RIGHT},
	[JOURNAL_FLUSHES] = {"JFLUSH", TEXT_RIGHT},
	[AMPLIFICATION] = {"AMPL", TEXT_RIGHT},
	[CACHED] = {"CACHED", TEXT_RIGHT},
	[VERDICT] = {"VERDICT", TEXT_LEFT},
};

/* The long word of "nothing to judge" would push the table over its width. */
static const char *short_verdict(const struct report_cell *row)
{
	const char *text = row[LEDGER_VERDICT].text;

	return strcmp(text, evidence_verdict_word(EVIDENCE_NOT_APPLICABLE)) ? text : "n/a";
}

static void add_row(struct text_table *t, const struct report_cell *row, struct strbuf *path)
{
	char numbers[COLUMNS][CELL_TEXT_MAX];
	const char *texts[COLUMNS] = {
		[ARM] = row[LEDGER_ARM].text,
		[SYNCS] = format_cell(&row[LEDGER_SYNCS], numbers[SYNCS]),
		[COMMITS] = format_cell(&row[LEDGER_COMMITS], numbers[COMMITS]),
		[DATA_FLUSHES] =
			format_cell(&row[LEDGER_DATA_FLUSHES], numbers[DATA_FLUSHES]),
		[JOURNAL_FLUSHES] = format_cell(
			&row[LEDGER_JOURNAL_FLUSHES], numbers[JOURNAL_FLUSHES]),
		[AMPLIFICATION] =
			format_cell(&row[LEDGER_AMPLIFICATION], numbers[AMPLIFICATION]),
		[CACHED] = format_cell(&row[LEDGER_CACHE_SHARE], numbers[CACHED]),
		[VERDICT] = short_verdict(row),
	};

	strbuf_deinit(path);
	strbuf_addf(path, "%s/%s", row[LEDGER_WORKLOAD].text, row[LEDGER_PHASE].text);
	texts[PHASE] = strbuf_text(path);
	text_table_add(t, texts);
}

static bool in_order(const char *verdict)
{
	return !strcmp(verdict, evidence_verdict_word(EVIDENCE_OK)) ||
		!strcmp(verdict, evidence_verdict_word(EVIDENCE_NOT_APPLICABLE));
}

static bool says_the_same(const struct report_cell *a, const struct report_cell *b)
{
	return !strcmp(a[LEDGER_VERDICT].text, b[LEDGER_VERDICT].text) &&
		!strcmp(a[LEDGER_REASON].text, b[LEDGER_REASON].text);
}

/* The arms and phases from row i on of which the same is to be said; how many. */
static size_t list_phases(const struct report_table *audit, size_t i, struct strbuf *out)
{
	const struct report_cell *first = audit->cells + i * audit->column_count;
	const char *arm = NULL;
	size_t n = 0;

	for (; i < audit->row_count; i++) {
		const struct report_cell *row = audit->cells + i * audit->column_count;

		if (!says_the_same(first, row))
			continue;
		if (arm && !strcmp(arm, row[LEDGER_ARM].text))
			strbuf_add(out, ", ");
		else
			strbuf_addf(out, "%sarm %s: ", arm ? "; " : "", row[LEDGER_ARM].text);
		strbuf_addf(out, "%s/%s", row[LEDGER_WORKLOAD].text, row[LEDGER_PHASE].text);
		arm = row[LEDGER_ARM].text;
		n++;
	}
	return n;
}

/* What is wrong with row i, together with all later rows that have the same. */
static void add_remark(const struct report_table *audit, size_t i, struct strbuf *out)
{
	const struct report_cell *row = audit->cells + i * audit->column_count;
	_cleanup_(strbuf_deinit) struct strbuf phases = {0}, text = {0};

	for (size_t k = 0; k < i; k++)
		if (says_the_same(audit->cells + k * audit->column_count, row))
			return;
	if (list_phases(audit, i, &phases) > 1) {
		strbuf_addf(&text, "%s: %s (%s)", row[LEDGER_VERDICT].text,
			row[LEDGER_REASON].text, strbuf_text(&phases));
		wrap_text(out, strbuf_text(&text), 0, 2);
	} else {
		strbuf_addf(out, "%s: %s/%s, arm %s: %s\n", row[LEDGER_VERDICT].text,
			row[LEDGER_WORKLOAD].text, row[LEDGER_PHASE].text,
			row[LEDGER_ARM].text, row[LEDGER_REASON].text);
	}
}

int render_audit(const struct report *r, bool all, struct strbuf *out, struct err *e)
{
	const struct report_table *audit = &r->tables[TABLE_AUDIT];
	struct text_table *t = text_table_new(columns, COLUMNS, TEXT_TABLE_WIDTH);
	_cleanup_(strbuf_deinit) struct strbuf path = {0};
	int status;

	for (size_t i = 0; i < audit->row_count; i++) {
		const struct report_cell *row = audit->cells + i * audit->column_count;

		if (all || row[LEDGER_SYNCS].count)
			add_row(t, row, &path);
	}
	status = text_table_finish(t, "No phase has a flush ledger.", out, e);
	if (status)
		return status;
	if (audit->row_count)
		strbuf_add(out,
			"DFLUSH, JFLUSH: cache flushes that the data and journal disks "
			"completed.\nAMPL: bytes written to both for each byte of the workload.\n"
			"CACHED: share of the bytes read that came from the page cache.\n");
	for (size_t i = 0; i < audit->row_count; i++) {
		const struct report_cell *row = audit->cells + i * audit->column_count;

		if (!in_order(row[LEDGER_VERDICT].text))
			add_remark(audit, i, out);
	}
	return strbuf_failed(out) ? err_set(e, ENOMEM, "print the audit") : 0;
}
