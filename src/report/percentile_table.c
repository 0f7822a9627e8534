/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The distributions of latencies, from the histograms of all runs of a workload in an arm
 * together.  A percentile of which there is no value is left out: of 50 operations none is
 * at 99.9 %, and the last row is the longest one. */

#include "report/tables.h"

#include <errno.h>
#include <string.h>

const struct report_column percentiles_columns[PERCENTILES_COLUMNS] = {
	[PERCENTILES_WORKLOAD] = { "workload", "Workload",
		"name of the workload", TYPE_TEXT },
	[PERCENTILES_PHASE] = { "phase", "Phase", "phase of the workload", TYPE_TEXT },
	[PERCENTILES_ARM] = { "arm", "Arm", "name of the arm", TYPE_TEXT },
	[PERCENTILES_OF] = { "of", "Of", "operation, or sync", TYPE_TEXT },
	[PERCENTILES_COUNT] = { "count", "Count",
		"how many were measured in all runs", TYPE_COUNT },
	[PERCENTILES_FRACTION] = { "fraction", "Percentile",
		"the fraction of them that took no longer; 1: the longest", TYPE_FRACTION },
	[PERCENTILES_LATENCY] = { "latency", "Latency",
		"how long that is", TYPE_NANOSECONDS },
};

static const double fractions[] = { 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85,
	0.9, 0.925, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999,
	0.999999 };

static void add_row(struct report *r, const struct report_cell *like, const struct hist *h,
	double fraction)
{
	struct report_cell *row = table_next_row(&r->tables[TABLE_PERCENTILES]);

	for (size_t i = 0; i < PERCENTILES_COUNT; i++)
		row[i] = like[i];
	row[PERCENTILES_COUNT] = cell_count(h->count);
	row[PERCENTILES_FRACTION] = cell_number(CELL_FRACTION, fraction);
	row[PERCENTILES_LATENCY] = cell_number(CELL_NANOSECONDS,
		fraction > 0 ? (double)hist_quantile_ns(h, fraction) : (double)h->min_ns);
}

static void add_hist(struct report *r, const struct report_cell *like, const struct hist *h)
{
	if (!h || !h->count)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(fractions); i++)
		if ((1 - fractions[i]) * (double)h->count >= 1)
			add_row(r, like, h, fractions[i]);
	add_row(r, like, h, 1);
}

static const struct result_phase *find_phase(const struct report_arm *arm,
	const char *workload, const char *phase)
{
	for (size_t i = 0; i < arm->workload_count; i++) {
		const struct result_run *merged = &arm->workloads[i].merged;

		if (strcmp(arm->workloads[i].name, workload))
			continue;
		for (size_t p = 0; p < merged->phase_count; p++)
			if (!strcmp(merged->phases[p].name, phase))
				return &merged->phases[p];
	}
	return NULL;
}

/* A phase of all arms, so that they stand beside each other; the first arm that has it
 * brings them all. */
static void add_phase(struct report *r, size_t first, const struct report_workload *w,
	const struct result_phase *phase)
{
	static const char *const of[] = { "operation", "sync" };

	for (size_t a = 0; a < first; a++)
		if (find_phase(&r->arms[a], w->name, phase->name))
			return;
	for (size_t k = 0; k < ARRAY_SIZE(of); k++)
		for (size_t a = first; a < r->bundle.info.arm_count; a++) {
			const struct result_phase *its =
				find_phase(&r->arms[a], w->name, phase->name);
			const struct report_cell like[PERCENTILES_COUNT] = {
				[PERCENTILES_WORKLOAD] = cell_text(w->name),
				[PERCENTILES_PHASE] = cell_text(phase->name),
				[PERCENTILES_ARM] =
					cell_text(r->bundle.info.arms[a].name),
				[PERCENTILES_OF] = cell_text(of[k]),
			};

			if (its)
				add_hist(r, like, k ? its->sync_latency : its->latency);
		}
}

int percentile_table_make(struct report *r, struct err *e)
{
	size_t hists = 0;
	int status;

	for (size_t a = 0; a < r->bundle.info.arm_count; a++)
		for (size_t i = 0; i < r->arms[a].workload_count; i++)
			hists += 2 * r->arms[a].workloads[i].merged.phase_count;
	status = table_make(r, TABLE_PERCENTILES, hists * (ARRAY_SIZE(fractions) + 1), e);
	for (size_t a = 0; !status && a < r->bundle.info.arm_count; a++)
		for (size_t i = 0; i < r->arms[a].workload_count; i++) {
			const struct report_workload *w = &r->arms[a].workloads[i];

			for (size_t p = 0; p < w->merged.phase_count; p++)
				add_phase(r, a, w, &w->merged.phases[p]);
		}
	return status;
}
