/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The frame of the summary, see summary.h, and its sentences about audit and confounds. */

#include "report/summary.h"

#include <errno.h>
#include <string.h>

#include "report/confounds.h"
#include "result/evidence_json.h"

/* qemu's emulator calls its processors so, whatever model it imitates. */
bool summary_emulated(const struct report *r)
{
	const json_t *before = json_object_get(r->bundle.environment, "before");
	const json_t *host = json_object_get(before, "host");
	const char *model = json_string_value(json_object_get(host, "cpu_model"));

	return model && strstr(model, "TCG");
}

static int add_machine(struct summary *s, const struct report *r, struct err *e)
{
	if (!summary_emulated(r))
		return 0;
	return summary_add(s, SUMMARY_MACHINE, SUMMARY_WARNING, e,
		"Emulated machine: times, rates and latencies mean nothing here, nor do ratios "
		"of them. Moves, file system checks, counts of the flush ledger and this report "
		"are real.");
}

static enum evidence_verdict verdict_of(const struct report_cell *row)
{
	enum evidence_verdict v = EVIDENCE_UNKNOWN;

	while (v < EVIDENCE_FAILED &&
		strcmp(evidence_verdict_word(v), row[LEDGER_VERDICT].text))
		v++;
	return v;
}

/* The stamp: that of the worst phase. */
static int add_audit(struct summary *s, const struct report *r, struct err *e)
{
	const struct report_table *t = &r->tables[TABLE_AUDIT];
	const struct report_cell *worst = NULL;
	size_t synced = 0, bad = 0;

	for (size_t i = 0; i < t->row_count; i++) {
		const struct report_cell *row = t->cells + i * t->column_count;
		enum evidence_verdict v = verdict_of(row);

		synced += row[LEDGER_SYNCS].count > 0;
		if (v == EVIDENCE_OK || v == EVIDENCE_NOT_APPLICABLE)
			continue;
		bad++;
		if (!worst || v > verdict_of(worst))
			worst = row;
	}
	if (!t->row_count)
		return summary_add(s, SUMMARY_AUDIT, SUMMARY_WARNING, e,
			"Sync audit: none, no flush ledger was kept.");
	if (worst)
		return summary_add(s, SUMMARY_AUDIT, SUMMARY_WARNING, e,
			"Sync audit: %s: %s/%s with %s: %s (%zu of %zu phases not in "
			"order).",
			worst[LEDGER_VERDICT].text, worst[LEDGER_WORKLOAD].text,
			worst[LEDGER_PHASE].text, worst[LEDGER_ARM].text,
			worst[LEDGER_REASON].text, bad, t->row_count);
	if (!synced)
		return summary_add(s, SUMMARY_AUDIT, SUMMARY_NEUTRAL, e,
			"Sync audit: nothing to judge, no phase synced anything.");
	return summary_add(s, SUMMARY_AUDIT, SUMMARY_NEUTRAL, e,
		synced == 1 ? "Sync audit: ok in the one phase that synced."
			    : "Sync audit: ok in all %zu phases that synced.",
		synced);
}

static int add_confounds(struct summary *s, const struct report *r, struct err *e)
{
	const struct report_table *t = &r->tables[TABLE_CONFOUNDS];
	_cleanup_(strbuf_deinit) struct strbuf names = {0};
	size_t checks = 0;

	while (confounds[checks].id)
		checks++;
	for (size_t i = 0; i < t->row_count; i++)
		strbuf_addf(&names, "%s%s", i ? ", " : "",
			t->cells[i * t->column_count + CONFOUNDS_ID].text);
	if (strbuf_failed(&names))
		return err_set(e, ENOMEM, "sum up the report");
	if (!json_object_get(r->bundle.environment, "before"))
		return summary_add(s, SUMMARY_CONFOUNDS, SUMMARY_WARNING, e,
			"Confounds: nothing is known of the machine and its disks, so most of "
			"%zu checks could not look%s%s.", checks,
			t->row_count ? "; found: " : "", strbuf_text(&names));
	if (!t->row_count)
		return summary_add(s, SUMMARY_CONFOUNDS, SUMMARY_NEUTRAL, e,
			"Confounds: none of %zu checks found any.", checks);
	return summary_add(s, SUMMARY_CONFOUNDS, SUMMARY_WARNING, e,
		"Confounds: %zu of %zu checks found something: %s.", t->row_count, checks,
		strbuf_text(&names));
}

int report_summary(const struct report *r, struct summary *s, struct err *e)
{
	int status;

	*s = (struct summary){0};
	status = add_machine(s, r, e);
	if (!status)
		status = summary_add_findings(s, r, e);
	if (!status)
		status = summary_add_costs(s, r, e);
	if (!status)
		status = add_audit(s, r, e);
	if (!status)
		status = add_confounds(s, r, e);
	if (status)
		summary_deinit(s);
	return status;
}
