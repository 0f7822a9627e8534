/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The table of the effects of factors; see factors.h. */

#include <errno.h>
#include <math.h>

#include "report/factors.h"
#include "report/shown.h"
#include "report/tables.h"
#include "result/result_json.h"

const struct report_column factors_columns[FACTORS_COLUMNS] = {
	[FACTORS_FACTOR] = {"factor", "Factor", "what the arms differ in", TYPE_TEXT},
	[FACTORS_LEVEL] = {"level", "Level", "its value in the arms that are compared",
		TYPE_TEXT},
	[FACTORS_FIRST_LEVEL] = {"first_level", "First level",
		"its value in the arms they are compared with", TYPE_TEXT},
	[FACTORS_WORKLOAD] = {"workload", "Workload", "name of the workload", TYPE_TEXT},
	[FACTORS_PHASE] = {"phase", "Phase", "phase of the workload", TYPE_TEXT},
	[FACTORS_METRIC] = {"metric", "Metric", "what was measured", TYPE_TEXT},
	[FACTORS_DIRECTION] = {"direction", "Better", "which direction is better",
		TYPE_TEXT},
	[FACTORS_ESTIMATE] = {"estimate", "Estimate",
		"ratio by Hodges and Lehmann over the blocks, of each block the "
		"geometric mean over the pairs of arms that differ in this factor alone",
		TYPE_RATIO},
	[FACTORS_LOW] = {"low", "Low",
		"lower end of the exact signed-rank interval of the ratio", TYPE_RATIO},
	[FACTORS_HIGH] = {"high", "High", "upper end of that interval", TYPE_RATIO},
	[FACTORS_P] = {"p", "p", "two-sided p of the exact signed-rank test",
		TYPE_NUMBER},
	[FACTORS_P_HOLM] = {"p_holm", "p (Holm)",
		"p adjusted for all factors, levels and metrics; that of the primary "
		"metric for its factors and levels alone", TYPE_NUMBER},
	[FACTORS_DETECTABLE] = {"detectable", "Detectable",
		"the smallest ratio that these blocks would have shown in 80 % of cases",
		TYPE_RATIO},
	[FACTORS_VERDICT] = {"verdict", "Verdict",
		"higher, lower, equivalent, no_difference or unknown", TYPE_TEXT},
	[FACTORS_BLOCKS] = {"blocks", "Blocks", "number of blocks that have all pairs",
		TYPE_COUNT},
	[FACTORS_PAIRS] = {"pairs", "Pairs", "number of pairs of arms", TYPE_COUNT},
	[FACTORS_PRIMARY] = {"primary", "Primary", "what the experiment is about",
		TYPE_YES_NO},
	[FACTORS_SHOWN] = {"shown", "Shown", "it is in the text report", TYPE_YES_NO},
};

static void put_names(struct report_cell *row, const struct factor *factor, size_t level,
	const struct series *s)
{
	row[FACTORS_FACTOR] = cell_text(factor->name);
	row[FACTORS_LEVEL] = cell_text(factor->levels[level]);
	row[FACTORS_FIRST_LEVEL] = cell_text(factor->levels[0]);
	row[FACTORS_WORKLOAD] = cell_text(s->workload);
	row[FACTORS_PHASE] = cell_text(s->phase);
	row[FACTORS_METRIC] = cell_text(s->metric);
	row[FACTORS_DIRECTION] = cell_text(result_direction_word(s->direction));
}

static void put_effect(struct report_cell *row, const struct factor_effect *effect)
{
	const struct contrast *c = &effect->contrast;

	row[FACTORS_ESTIMATE] =
		cell_number(CELL_RATIO, effect->blocks ? c->ratio : NAN);
	row[FACTORS_LOW] = cell_number(CELL_RATIO, c->ratio_low);
	row[FACTORS_HIGH] = cell_number(CELL_RATIO, c->ratio_high);
	row[FACTORS_P] = cell_number(CELL_NUMBER, effect->blocks ? c->summary.p : NAN);
	row[FACTORS_P_HOLM] = row[FACTORS_P]; /* adjusted when all are known */
	row[FACTORS_DETECTABLE] = cell_number(CELL_RATIO, c->detectable);
	row[FACTORS_VERDICT] = cell_text(report_verdict_words[c->verdict]);
	row[FACTORS_BLOCKS] = cell_count(effect->blocks);
	row[FACTORS_PAIRS] = cell_count(effect->pairs);
}

static int add_effect(struct report *r, size_t factor, size_t level,
	const struct series *s, struct err *e)
{
	struct factor_effect effect;
	struct report_cell *row;
	int status = factors_effect(r->factors, s, factor, level, &effect, e);

	if (status)
		return status;
	row = table_next_row(&r->tables[TABLE_FACTORS]);
	put_names(row, &r->factors->list[factor], level, s);
	put_effect(row, &effect);
	row[FACTORS_PRIMARY] = cell_yes_no(report_is_primary(r, s));
	row[FACTORS_SHOWN] = cell_yes_no(report_is_shown(r, s));
	return 0;
}

/* The rows of the primary metric share one level, all others another. */
static int adjust(struct report_table *t, bool primary, struct err *e)
{
	_cleanup_free_ double *p = calloc(t->row_count + 1, sizeof(*p));
	_cleanup_free_ struct report_cell **cells =
		calloc(t->row_count + 1, sizeof(struct report_cell *));
	size_t n = 0;

	if (!p || !cells)
		return err_set(e, ENOMEM, "compare factors");
	for (size_t i = 0; i < t->row_count; i++) {
		struct report_cell *row = t->cells + i * t->column_count;

		if (row[FACTORS_PRIMARY].count != primary ||
			row[FACTORS_P].type == CELL_MISSING)
			continue;
		cells[n] = &row[FACTORS_P_HOLM];
		p[n++] = row[FACTORS_P].number;
	}
	holm_adjust(p, n);
	for (size_t i = 0; i < n; i++)
		cells[i]->number = p[i];
	return 0;
}

int factor_table_make(struct report *r, struct err *e)
{
	const struct factors *f = r->factors;
	const struct comparison *c = r->comparison;
	size_t effects = 0;
	int status;

	for (size_t i = 0; i < f->count; i++)
		effects += f->list[i].level_count - 1;
	status = table_make(r, TABLE_FACTORS, effects * c->count, e);
	for (size_t i = 0; i < f->count; i++)
		for (size_t level = 1; level < f->list[i].level_count; level++)
			for (size_t k = 0; !status && k < c->count; k++)
				status = add_effect(r, i, level, c->series[k], e);
	if (!status)
		status = adjust(&r->tables[TABLE_FACTORS], true, e);
	return status ? status : adjust(&r->tables[TABLE_FACTORS], false, e);
}
