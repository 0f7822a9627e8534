/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Did a metric drift in an arm over the blocks, and which of its values stand out?  The
 * blocks protect the comparison from drift; that there is some is told all the same, and
 * outliers are flagged and kept.
 */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/shown.h"
#include "report/tables.h"
#include "stats/drift.h"

#define SIGNIFICANT 0.05
enum { NAMED_MAX = 4 };

const struct report_column drift_columns[DRIFT_COLUMNS] = {
	[DRIFT_WORKLOAD] = {"workload", "Workload", "name of the workload", TYPE_TEXT},
	[DRIFT_PHASE] = {"phase", "Phase", "phase of the workload", TYPE_TEXT},
	[DRIFT_METRIC] = {"metric", "Metric", "what was measured", TYPE_TEXT},
	[DRIFT_ARM] = {"arm", "Arm",
		"name of the arm; none for the probe of a device", TYPE_TEXT},
	[DRIFT_BLOCKS] = {"blocks", "Blocks", "number of values", TYPE_COUNT},
	[DRIFT_CHANGE] = {"change", "Change",
		"ratio of the end to the start, by Theil and Sen's slope of the logarithms",
		TYPE_RATIO},
	[DRIFT_P] = {"p", "p", "two-sided p of Mann and Kendall's test for a trend",
		TYPE_NUMBER},
	[DRIFT_OUTLIERS] = {"outliers", "Outliers",
		"values farther than 3.5 scaled MADs of the logarithms from their median",
		TYPE_COUNT},
	[DRIFT_FIRST_OUTLIER] = {"first_outlier", "First outlier",
		"block of the first of them, from 1", TYPE_COUNT},
	[DRIFT_SHOWN] = {"shown", "Shown", "the metric is in the text report",
		TYPE_YES_NO},
};

/* The logarithms of an arm's positive values with their blocks, in order of the blocks. */
static size_t collect(const struct series *s, uint32_t arm, double *y, uint32_t *blocks)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++) {
		size_t at = n;

		if (s->samples[i].arm != arm || !(s->samples[i].value > 0))
			continue;
		for (; at && blocks[at - 1] > s->samples[i].block; at--) {
			blocks[at] = blocks[at - 1];
			y[at] = y[at - 1];
		}
		blocks[at] = s->samples[i].block;
		y[at] = log(s->samples[i].value);
		n++;
	}
	return n;
}

static int add_row(struct report *r, const struct series *s, uint32_t arm, struct err *e)
{
	_cleanup_free_ double *y = calloc(s->count + 1, sizeof(*y));
	_cleanup_free_ uint32_t *blocks = calloc(s->count + 1, sizeof(*blocks));
	_cleanup_free_ bool *flags = calloc(s->count + 1, sizeof(*flags));
	struct report_cell *row;
	size_t n, outliers, first = 0;

	if (!y || !blocks || !flags)
		return err_set(e, ENOMEM, "look for drift");
	n = collect(s, arm, y, blocks);
	if (n < REPORT_BLOCKS_FOR_A_STATEMENT)
		return 0;
	outliers = drift_outliers(y, n, flags);
	while (outliers && !flags[first])
		first++;
	row = table_next_row(&r->tables[TABLE_DRIFT]);
	row[DRIFT_WORKLOAD] = cell_text(s->workload);
	row[DRIFT_PHASE] = cell_text(s->phase);
	row[DRIFT_METRIC] = cell_text(s->metric);
	row[DRIFT_ARM] = cell_text(r->bundle.info.arms[arm].name);
	row[DRIFT_BLOCKS] = cell_count(n);
	row[DRIFT_CHANGE] =
		cell_number(CELL_RATIO, exp(drift_slope(y, n) * (double)(n - 1)));
	row[DRIFT_P] = cell_number(CELL_NUMBER, drift_p(y, n));
	row[DRIFT_OUTLIERS] = cell_count(outliers);
	if (outliers)
		row[DRIFT_FIRST_OUTLIER] = cell_count(blocks[first] + UINT64_C(1));
	row[DRIFT_SHOWN] = cell_yes_no(report_is_shown(r, s));
	return 0;
}

/* A device at the starts of the blocks: a row as of a metric, without an arm. */
static int add_probe(struct report *r, const char *device, const char *metric, struct err *e)
{
	const struct report_table *t = &r->tables[TABLE_DRIFT];
	size_t cells = json_array_size(r->bundle.cells), i, k, rows = t->row_count;
	_cleanup_free_ struct sample *samples = calloc(cells + 1, sizeof(*samples));
	struct series s = {.workload = (char *)"probe",
		.phase = (char *)device,
		.metric = (char *)metric,
		.samples = samples};
	const json_t *cell, *probes, *probe;
	int status;

	if (!samples)
		return err_set(e, ENOMEM, "look for drift");
	json_array_foreach(r->bundle.cells, i, cell) {
		json_int_t block = json_integer_value(json_object_get(cell, "block"));
		const struct report_row *row =
			block < 0 ? NULL : rows_of(&r->rows, (uint64_t)block);

		probes = json_object_get(cell, "probe");
		if (!row || row->superseded || json_object_get(cell, "stage"))
			continue;
		json_array_foreach(probes, k, probe) {
			const char *name = json_string_value(json_object_get(probe, "device"));

			if (!name || strcmp(name, device) || s.count == cells)
				continue;
			samples[s.count++] = (struct sample){.block = row->slot,
				.value = json_number_value(json_object_get(probe, metric))};
		}
	}
	status = add_row(r, &s, 0, e);
	if (!status && t->row_count > rows) {
		t->cells[rows * t->column_count + DRIFT_ARM] = cell_text("");
		t->cells[rows * t->column_count + DRIFT_SHOWN] = cell_yes_no(true);
	}
	return status;
}

static const char *const probe_metrics[] = {"read_latency", "read_rate", "write_rate"};

/* The devices of the first cell that probed them. */
static const json_t *probed(const struct report *r)
{
	const json_t *cell;
	size_t i;

	json_array_foreach(r->bundle.cells, i, cell)
		if (json_object_get(cell, "probe"))
			return json_object_get(cell, "probe");
	return NULL;
}

int drift_table_make(struct report *r, struct err *e)
{
	const struct comparison *c = r->comparison;
	size_t arms = r->bundle.info.arm_count;
	const json_t *probes = probed(r), *probe;
	size_t k;
	int status = table_make(r, TABLE_DRIFT,
		c->count * arms + json_array_size(probes) * ARRAY_SIZE(probe_metrics), e);

	for (size_t i = 0; !status && i < c->count; i++)
		for (size_t arm = 0; !status && arm < arms; arm++)
			status = add_row(r, c->series[i], (uint32_t)arm, e);
	json_array_foreach(probes, k, probe) {
		const char *device = json_string_value(json_object_get(probe, "device"));

		for (size_t i = 0; !status && device && i < ARRAY_SIZE(probe_metrics); i++)
			status = add_probe(r, device, probe_metrics[i], e);
	}
	return status;
}

/* The metrics that the text shows. */
int drift_remark(struct report *r, struct err *e)
{
	const struct report_table *t = &r->tables[TABLE_DRIFT];
	_cleanup_(strbuf_deinit) struct strbuf names = {0};
	size_t shown = 0, drifting = 0, outliers = 0;

	for (size_t i = 0; i < t->row_count; i++) {
		const struct report_cell *row = t->cells + i * t->column_count;

		if (!row[DRIFT_SHOWN].count)
			continue;
		shown++;
		outliers += row[DRIFT_OUTLIERS].count;
		if (row[DRIFT_P].number >= SIGNIFICANT || drifting++ >= NAMED_MAX)
			continue;
		strbuf_addf(&names, "%s%s/%s/%s%s%s %+.1f %%", names.length ? ", " : "",
			row[DRIFT_WORKLOAD].text, row[DRIFT_PHASE].text,
			row[DRIFT_METRIC].text, *row[DRIFT_ARM].text ? " in " : "",
			row[DRIFT_ARM].text,
			100 * (row[DRIFT_CHANGE].number - 1));
	}
	if (!shown)
		return 0;
	if (strbuf_failed(&names))
		return err_set(e, ENOMEM, "report");
	return report_add_remark(r, e,
		"Drift from the first to the last block (Theil-Sen, Mann-Kendall at 5 %% each): "
		"%s%s. Outliers: %zu of these values, flagged and kept (--table drift).",
		drifting ? strbuf_text(&names) : "none seen",
		drifting > NAMED_MAX ? ", and more" : "", outliers);
}
