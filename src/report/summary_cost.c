/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * What an arm costs beside the first one, in sentences: the longest latency of the primary
 * metric's phase and that of the phase in which it grew most, and the cache flushes that
 * each sync of a workload takes.
 */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/format.h"
#include "report/summary.h"

/* More arms than that are for the tables. */
enum { ARMS_MAX = 4 };

/* With an interval what lies in it, as everywhere; else the ratio of the medians. */
static const struct report_cell *ratio_cell(const struct report_cell *row)
{
	return &row[row[COMPARISON_LOW].type == CELL_MISSING ? COMPARISON_RATIO
							     : COMPARISON_ESTIMATE];
}

static double ratio_of(const struct report_cell *row)
{
	const struct report_cell *ratio = ratio_cell(row);

	return ratio->type == CELL_MISSING ? NAN : ratio->number;
}

/* Is this phase that of the primary metric? */
static bool is_primary_phase(const struct report *r, const struct report_cell *row)
{
	const char *primary = r->bundle.info.primary;
	const char *workload = row[COMPARISON_WORKLOAD].text;
	const char *phase = row[COMPARISON_PHASE].text;
	size_t w = strlen(workload), p = strlen(phase);

	return !strncmp(primary, workload, w) && primary[w] == '/' &&
		!strncmp(primary + w + 1, phase, p) && primary[w + 1 + p] == '/' &&
		!strchr(primary + w + 1 + p + 1, '/');
}

static bool is_longest_latency(const struct report_cell *row, const char *arm)
{
	return !strcmp(row[COMPARISON_ARM].text, arm) &&
		!strcmp(row[COMPARISON_METRIC].text, "latency_max") &&
		!row[COMPARISON_TOO_SHORT].count && isfinite(ratio_of(row));
}

static bool is_beyond_chance(const struct report_cell *row)
{
	const char *verdict = row[COMPARISON_VERDICT].text;

	return row[COMPARISON_LOW].type != CELL_MISSING &&
		(!strcmp(verdict, "higher") || !strcmp(verdict, "lower"));
}

static const char *certainty(const struct report_cell *row)
{
	if (row[COMPARISON_LOW].type == CELL_MISSING)
		return "";
	return is_beyond_chance(row) ? ", beyond chance" : ", not beyond chance";
}

static int add_latency(struct summary *s, const struct report_cell *row, const char *what,
	struct err *e)
{
	char first[CELL_TEXT_MAX], other[CELL_TEXT_MAX], ratio[CELL_TEXT_MAX];
	enum summary_tone tone = SUMMARY_NEUTRAL;

	if (is_beyond_chance(row))
		tone = ratio_of(row) > 1 ? SUMMARY_WORSE : SUMMARY_BETTER;
	return summary_add(s, SUMMARY_COST, tone, e,
		"Longest latency%s, %s/%s: median %s with %s, %s with %s; %s times%s.",
		what, row[COMPARISON_WORKLOAD].text, row[COMPARISON_PHASE].text,
		format_cell(&row[COMPARISON_MEDIAN], other), row[COMPARISON_ARM].text,
		format_cell(&row[COMPARISON_FIRST_MEDIAN], first),
		row[COMPARISON_FIRST_ARM].text, format_cell(ratio_cell(row), ratio),
		certainty(row));
}

static int add_latencies(struct summary *s, const struct report *r, const char *arm,
	struct err *e)
{
	const struct report_table *t = &r->tables[TABLE_COMPARISON];
	const struct report_cell *primary = NULL, *worst = NULL;
	int status = 0;

	for (size_t i = 0; i < t->row_count; i++) {
		const struct report_cell *row = t->cells + i * t->column_count;

		if (!is_longest_latency(row, arm))
			continue;
		if (is_primary_phase(r, row))
			primary = row;
		else if (!worst || ratio_of(row) > ratio_of(worst))
			worst = row;
	}
	if (primary)
		status = add_latency(s, primary, "", e);
	if (!status && worst && ratio_of(worst) > 1 + r->bundle.info.design.margin)
		status = add_latency(s, worst, ", where it grew most", e);
	return status;
}

struct flushes {
	double syncs, data, journal;
};

/* Over the phases that synced. */
static struct flushes flushes_of(const struct report *r, const char *arm)
{
	const struct report_table *t = &r->tables[TABLE_AUDIT];
	struct flushes f = {0};

	for (size_t i = 0; i < t->row_count; i++) {
		const struct report_cell *row = t->cells + i * t->column_count;

		if (strcmp(row[LEDGER_ARM].text, arm) || !row[LEDGER_SYNCS].count)
			continue;
		f.syncs += (double)row[LEDGER_SYNCS].count;
		f.data += (double)row[LEDGER_DATA_FLUSHES].count;
		f.journal += (double)row[LEDGER_JOURNAL_FLUSHES].count;
	}
	return f;
}

static int add_flushes(struct summary *s, const struct report *r, const char *arm,
	struct err *e)
{
	const char *base = r->bundle.info.arms[0].name;
	struct flushes a = flushes_of(r, base), b = flushes_of(r, arm);
	double before, after;

	if (a.syncs <= 0 || b.syncs <= 0)
		return 0;
	before = (a.data + a.journal) / a.syncs;
	after = (b.data + b.journal) / b.syncs;
	return summary_add(s, SUMMARY_COST,
		after > before ? SUMMARY_WORSE : SUMMARY_NEUTRAL, e,
		"Flushes for each sync: %.2f with %s (%.2f of the data disk, %.2f of the "
		"journal's), %.2f with %s: %+.2f.",
		after, arm, b.data / b.syncs, b.journal / b.syncs, before, base,
		after - before);
}

int summary_add_costs(struct summary *s, const struct report *r, struct err *e)
{
	const struct bundle_info *info = &r->bundle.info;
	int status = 0;

	for (size_t i = 1; !status && i < MIN(info->arm_count, (size_t)ARMS_MAX + 1); i++) {
		status = add_latencies(s, r, info->arms[i].name, e);
		if (!status)
			status = add_flushes(s, r, info->arms[i].name, e);
	}
	if (!status && info->arm_count > ARMS_MAX + 1)
		status = summary_add(s, SUMMARY_COST, SUMMARY_NEUTRAL, e,
			"The costs of %zu more arms are in the tables.",
			info->arm_count - ARMS_MAX - 1);
	return status;
}
