/* SPDX-License-Identifier: GPL-3.0-or-later */

/* TABLE_COMPARISON and TABLE_VALUES: every series of values, and what it says of each arm
 * against the first one. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/shown.h"
#include "report/tables.h"
#include "result/result_json.h"

const struct report_column comparison_columns[COMPARISON_COLUMNS] = {
	[COMPARISON_WORKLOAD] = {"workload", "Workload", "name of the workload",
		TYPE_TEXT},
	[COMPARISON_PHASE] = {"phase", "Phase", "phase of the workload", TYPE_TEXT},
	[COMPARISON_METRIC] = {"metric", "Metric", "what was measured", TYPE_TEXT},
	[COMPARISON_UNIT] = {"unit", "Unit", "unit of the medians", TYPE_TEXT},
	[COMPARISON_DIRECTION] = {"direction", "Better", "which direction is better",
		TYPE_TEXT},
	[COMPARISON_ARM] = {"arm", "Arm", "the arm that is compared", TYPE_TEXT},
	[COMPARISON_FIRST_ARM] = {"first_arm", "First arm",
		"the arm it is compared with", TYPE_TEXT},
	[COMPARISON_FIRST_MEDIAN] = {"first_median", "First median",
		"median of the first arm over the blocks that have both", TYPE_VALUE},
	[COMPARISON_MEDIAN] = {"median", "Median",
		"median of the arm over the blocks that have both", TYPE_VALUE},
	[COMPARISON_RATIO] = {"ratio", "Ratio", "median divided by first_median",
		TYPE_RATIO},
	[COMPARISON_ESTIMATE] = {"estimate", "Estimate",
		"ratio by Hodges and Lehmann over the blocks", TYPE_RATIO},
	[COMPARISON_LOW] = {"low", "Low",
		"lower end of the exact signed-rank interval of the ratio, 95 % if nothing "
		"else is said", TYPE_RATIO},
	[COMPARISON_HIGH] = {"high", "High", "upper end of that interval", TYPE_RATIO},
	[COMPARISON_P] = {"p", "p", "two-sided p of the exact signed-rank test",
		TYPE_NUMBER},
	[COMPARISON_P_HOLM] = {"p_holm", "p (Holm)",
		"p adjusted (Holm): of the primary metric for the arms, of the others for all "
		"but the primary one", TYPE_NUMBER},
	[COMPARISON_T_LOW] = {"t_low", "t low",
		"lower end of Student's interval of the ratio", TYPE_RATIO},
	[COMPARISON_T_HIGH] = {"t_high", "t high", "upper end of that interval",
		TYPE_RATIO},
	[COMPARISON_T_P] = {"t_p", "t p", "two-sided p of Student's test", TYPE_NUMBER},
	[COMPARISON_STEIN_LOW] = {"stein_low", "Stein low",
		"lower end of Stein's interval, whose spread is that of the pilot; of the "
		"primary metric with a target", TYPE_RATIO},
	[COMPARISON_STEIN_HIGH] = {"stein_high", "Stein high",
		"upper end of that interval", TYPE_RATIO},
	[COMPARISON_DETECTABLE] = {"detectable", "Detectable",
		"the smallest ratio that these blocks would have shown in 80 % of cases",
		TYPE_RATIO},
	[COMPARISON_VERDICT] = {"verdict", "Verdict",
		"higher, lower, equivalent, no_difference or unknown", TYPE_TEXT},
	[COMPARISON_BLOCKS] = {"blocks", "Blocks", "number of blocks that have both",
		TYPE_COUNT},
	[COMPARISON_TOO_SHORT] = {"too_short", "Too short",
		"the phase took less than 200 ms, which is no measurement of a rate",
		TYPE_YES_NO},
	[COMPARISON_PRIMARY] = {"primary", "Primary", "what the experiment is about",
		TYPE_YES_NO},
	[COMPARISON_SHOWN] = {"shown", "Shown", "it is in the text report", TYPE_YES_NO},
};

const struct report_column values_columns[VALUES_COLUMNS] = {
	[VALUES_WORKLOAD] = {"workload", "Workload", "name of the workload", TYPE_TEXT},
	[VALUES_PHASE] = {"phase", "Phase", "phase of the workload", TYPE_TEXT},
	[VALUES_METRIC] = {"metric", "Metric", "what was measured", TYPE_TEXT},
	[VALUES_UNIT] = {"unit", "Unit", "unit of the value", TYPE_TEXT},
	[VALUES_DIRECTION] = {"direction", "Better", "which direction is better",
		TYPE_TEXT},
	[VALUES_ARM] = {"arm", "Arm", "name of the arm", TYPE_TEXT},
	[VALUES_BLOCK] = {"block", "Block", "number of the block, from 1", TYPE_COUNT},
	[VALUES_POSITION] = {"position", "Position",
		"place of the arm in the block, from 1", TYPE_COUNT},
	[VALUES_VALUE] = {"value", "Value", "what was measured", TYPE_VALUE},
};

static void put_contrast(struct report_cell *row, const struct contrast *c)
{
	const struct paired_summary *s = &c->summary;

	row[COMPARISON_ESTIMATE] = cell_number(CELL_RATIO, c->ratio);
	row[COMPARISON_LOW] = cell_number(CELL_RATIO, c->ratio_low);
	row[COMPARISON_HIGH] = cell_number(CELL_RATIO, c->ratio_high);
	row[COMPARISON_P] = cell_number(CELL_NUMBER, s->n ? s->p : NAN);
	row[COMPARISON_P_HOLM] = row[COMPARISON_P]; /* adjusted when all are known */
	row[COMPARISON_T_LOW] = cell_number(CELL_RATIO,
		s->t_interval.exists ? exp(s->t_interval.low) : NAN);
	row[COMPARISON_T_HIGH] = cell_number(CELL_RATIO,
		s->t_interval.exists ? exp(s->t_interval.high) : NAN);
	row[COMPARISON_T_P] = cell_number(CELL_NUMBER, s->t_p);
	row[COMPARISON_DETECTABLE] = cell_number(CELL_RATIO, c->detectable);
	row[COMPARISON_VERDICT] = cell_text(report_verdict_words[c->verdict]);
}

/* The primary metric was declared beforehand and shares its level with nothing but itself
 * in other arms; all others of an arm share one level. */
static int adjust_for_many(struct report *r, size_t from, bool primary, struct err *e)
{
	struct report_table *t = &r->tables[TABLE_COMPARISON];
	_cleanup_free_ double *p = calloc(t->row_count + 1, sizeof(*p));
	_cleanup_free_ struct report_cell **cells =
		calloc(t->row_count + 1, sizeof(struct report_cell *));
	size_t n = 0;

	if (!p || !cells)
		return err_set(e, ENOMEM, "compare arms");
	for (size_t i = from; i < t->row_count; i++) {
		struct report_cell *row = t->cells + i * t->column_count;

		if ((row[COMPARISON_PRIMARY].count != 0) != primary ||
			row[COMPARISON_P].type == CELL_MISSING)
			continue;
		cells[n] = &row[COMPARISON_P_HOLM];
		p[n++] = row[COMPARISON_P].number;
	}
	holm_adjust(p, n);
	for (size_t i = 0; i < n; i++)
		cells[i]->number = p[i];
	return 0;
}

static int compare_series(
	struct report *r, const struct series *s, size_t arm, struct err *e)
{
	const struct bundle_info *info = &r->bundle.info;
	struct comparison_result c;
	struct report_cell *row;
	int status = comparison_compare(s, (uint32_t)arm, &info->design, &c, e);

	if (status)
		return status;
	row = table_next_row(&r->tables[TABLE_COMPARISON]);
	row[COMPARISON_WORKLOAD] = cell_text(s->workload);
	row[COMPARISON_PHASE] = cell_text(s->phase);
	row[COMPARISON_METRIC] = cell_text(s->metric);
	row[COMPARISON_UNIT] = cell_text(result_unit_word(s->unit));
	row[COMPARISON_DIRECTION] = cell_text(result_direction_word(s->direction));
	row[COMPARISON_ARM] = cell_text(info->arms[arm].name);
	if (arm) {
		row[COMPARISON_FIRST_ARM] = cell_text(info->arms[0].name);
		row[COMPARISON_FIRST_MEDIAN] =
			cell_number(report_unit_cell(s->unit), c.first_median);
		row[COMPARISON_RATIO] = cell_number(CELL_RATIO, c.ratio);
		put_contrast(row, &c.contrast);
		if (c.stein.exists && report_is_primary(r, s)) {
			row[COMPARISON_STEIN_LOW] =
				cell_number(CELL_RATIO, exp(c.stein.low));
			row[COMPARISON_STEIN_HIGH] =
				cell_number(CELL_RATIO, exp(c.stein.high));
		}
	}
	row[COMPARISON_MEDIAN] = cell_number(report_unit_cell(s->unit), c.median);
	row[COMPARISON_BLOCKS] = cell_count(c.blocks);
	row[COMPARISON_TOO_SHORT] = cell_yes_no(s->too_short);
	row[COMPARISON_PRIMARY] = cell_yes_no(report_is_primary(r, s));
	row[COMPARISON_SHOWN] = cell_yes_no(report_is_shown(r, s));
	return 0;
}

/* Each of several arms against the first: what does not hold for all of them together is
 * no difference of the primary metric. */
static void judge_together(struct report *r)
{
	struct report_table *t = &r->tables[TABLE_COMPARISON];

	for (size_t i = 0; i < t->row_count; i++) {
		struct report_cell *row = t->cells + i * t->column_count;
		const char *verdict = row[COMPARISON_VERDICT].text;

		if (row[COMPARISON_PRIMARY].count && verdict &&
			(!strcmp(verdict, report_verdict_words[VERDICT_HIGHER]) ||
				!strcmp(verdict, report_verdict_words[VERDICT_LOWER])) &&
			row[COMPARISON_P_HOLM].number > 1 - r->bundle.info.design.level)
			row[COMPARISON_VERDICT] =
				cell_text(report_verdict_words[VERDICT_NO_DIFFERENCE]);
	}
}

/* Arm by arm.  A single arm has nothing to be compared with: its medians stand alone. */
static int make_comparison(struct report *r, struct err *e)
{
	const struct comparison *c = r->comparison;
	size_t arms = r->bundle.info.arm_count, begin = arms > 1;
	int status = table_make(r, TABLE_COMPARISON, c->count * (arms - begin), e);

	for (size_t arm = begin; !status && arm < arms; arm++) {
		size_t from = r->tables[TABLE_COMPARISON].row_count;

		for (size_t i = 0; !status && i < c->count; i++)
			status = compare_series(r, c->series[i], arm, e);
		if (!status && arm)
			status = adjust_for_many(r, from, false, e);
	}
	if (!status && arms > 2)
		status = adjust_for_many(r, 0, true, e);
	if (!status && arms > 2)
		judge_together(r);
	return status;
}

static void add_value(struct report *r, const struct series *s, const struct sample *v)
{
	struct report_cell *row = table_next_row(&r->tables[TABLE_VALUES]);

	row[VALUES_WORKLOAD] = cell_text(s->workload);
	row[VALUES_PHASE] = cell_text(s->phase);
	row[VALUES_METRIC] = cell_text(s->metric);
	row[VALUES_UNIT] = cell_text(result_unit_word(s->unit));
	row[VALUES_DIRECTION] = cell_text(result_direction_word(s->direction));
	row[VALUES_ARM] = cell_text(r->bundle.info.arms[v->arm].name);
	row[VALUES_BLOCK] = cell_count(v->block + UINT64_C(1));
	row[VALUES_POSITION] = cell_count(v->position + UINT64_C(1));
	row[VALUES_VALUE] = cell_number(report_unit_cell(s->unit), v->value);
}

static int make_values(struct report *r, struct err *e)
{
	const struct comparison *c = r->comparison;
	size_t rows = 0;
	int status;

	for (size_t i = 0; i < c->count; i++)
		rows += c->series[i]->count;
	status = table_make(r, TABLE_VALUES, rows, e);
	for (size_t i = 0; !status && i < c->count; i++)
		for (size_t k = 0; k < c->series[i]->count; k++)
			add_value(r, c->series[i], &c->series[i]->samples[k]);
	return status;
}

int comparison_tables_make(struct report *r, struct err *e)
{
	int status = make_comparison(r, e);

	return status ? status : make_values(r, e);
}
