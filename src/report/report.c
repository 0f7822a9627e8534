/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Building a report; see report.h.  Runs are read one by one: of each only its counters
 * and metrics are kept, its histograms are merged into those of its workload and arm, so
 * that memory grows with the number of metrics and not with that of operations.
 */

#include "report/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/calibration.h"
#include "report/comparison.h"
#include "report/factors.h"
#include "report/merge.h"
#include "report/shown.h"
#include "report/tables.h"

static int find_arm(
	const struct bundle_info *info, const char *name, uint32_t *arm, struct err *e)
{
	for (size_t i = 0; i < info->arm_count; i++)
		if (!strcmp(info->arms[i].name, name)) {
			*arm = (uint32_t)i;
			return 0;
		}
	return err_say(e, EBADMSG, "there is no arm \"%s\" in bundle.json", name);
}

static int find_workload(struct report_arm *arm, const struct result_run *run,
	struct report_workload **out, struct err *e)
{
	struct report_workload *list;

	for (size_t i = 0; i < arm->workload_count; i++) {
		*out = &arm->workloads[i];
		if (strcmp((*out)->name, run->workload))
			continue;
		if (!strcmp((*out)->type, run->type))
			return 0;
		return err_say(
			e, EBADMSG, "workload \"%s\" changes its type", run->workload);
	}
	list = reallocarray(arm->workloads, arm->workload_count + 1, sizeof(*list));
	if (!list)
		return err_set(e, ENOMEM, "workload %s", run->workload);
	arm->workloads = list;
	*out = &list[arm->workload_count++];
	**out = (struct report_workload){
		.name = strdup(run->workload), .type = strdup(run->type)};
	if (!(*out)->name || !(*out)->type)
		return err_set(e, ENOMEM, "workload %s", run->workload);
	return 0;
}

static void drop_histograms(struct result_run *run)
{
	for (size_t i = 0; i < run->phase_count; i++) {
		free(take_ptr(run->phases[i].latency));
		free(take_ptr(run->phases[i].sync_latency));
	}
}

static int keep_run(struct report_workload *w, struct result_run *run, struct err *e)
{
	struct result_run *runs = reallocarray(w->runs, w->run_count + 1, sizeof(*runs));

	if (!runs)
		return err_set(e, ENOMEM, "workload %s", w->name);
	w->runs = runs;
	drop_histograms(run);
	runs[w->run_count++] = *run;
	*run = (struct result_run){0};
	return 0;
}

static int take_run(void *data, struct result_run *run, struct err *e)
{
	struct report *r = data;
	const struct report_row *row = rows_of(&r->rows, run->block);
	struct report_workload *w = NULL;
	uint32_t arm = 0;
	int status = find_arm(&r->bundle.info, run->arm, &arm, e);

	if (!status && run->stage == STAGE_CALIBRATE)
		return calibration_take_run(r, run, e);
	if (!status && (run->stage != STAGE_MEASURE || (row && row->superseded)))
		return 0;
	/* From here on by the number in the plan. */
	if (row)
		run->block = row->slot;

	if (!status)
		status = find_workload(&r->arms[arm], run, &w, e);
	if (!status)
		status = comparison_add_run(r->comparison, run, arm, e);
	if (!status)
		status = merge_run(&w->merged, run, e);
	if (!status)
		status = keep_run(w, run, e);
	return status;
}

/* What the experiment is about comes first wherever its metrics are listed. */
static void put_primary_first(const struct report *r)
{
	struct comparison *c = r->comparison;

	for (size_t i = 0; i < c->count; i++)
		if (report_is_primary(r, c->series[i])) {
			struct series *primary = c->series[i];

			memmove(c->series + 1, c->series, i * sizeof(*c->series));
			c->series[0] = primary;
		}
}

static int finish_workloads(struct report *r, struct err *e)
{
	int status = 0;

	for (size_t a = 0; a < r->bundle.info.arm_count; a++)
		for (size_t i = 0; !status && i < r->arms[a].workload_count; i++) {
			struct report_workload *w = &r->arms[a].workloads[i];

			status = merge_metrics(&w->merged, w->runs, w->run_count, e);
		}
	return status;
}

static int take_trace(void *data, struct timeline **t, struct err *e)
{
	struct report *r = data;
	struct timeline **more =
		reallocarray(r->traces, r->trace_count + 1, sizeof(*more));

	if (!more)
		return err_set(e, ENOMEM, "report");
	r->traces = more;
	more[r->trace_count++] = take_ptr(*t);
	return 0;
}

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* How many blocks have runs, and how many have runs of every arm: the blocks of each arm
 * are sorted and counted once. */
static int count_blocks(struct report *r, struct err *e)
{
	_cleanup_free_ uint32_t *seen = NULL;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < r->comparison->count; i++)
		n = MAX(n, r->comparison->series[i]->count);
	seen = calloc(n + 1, sizeof(*seen));
	if (!seen)
		return err_set(e, ENOMEM, "report");
	/* The metric with the most samples stands for all. */
	for (size_t i = 0; i < r->comparison->count; i++) {
		const struct series *s = r->comparison->series[i];

		if (s->count != n)
			continue;
		for (size_t k = 0; k < n; k++)
			seen[k] = s->samples[k].block;
		break;
	}
	qsort(seen, n, sizeof(*seen), compare_numbers);
	while (at < n) {
		size_t same = 1;

		while (at + same < n && seen[at + same] == seen[at])
			same++;
		r->blocks++;
		r->complete_blocks += same == r->bundle.info.arm_count;
		at += same;
	}
	return 0;
}

/* Phases that are not compared, by name; a list that is too long for a sentence is cut.
 */
static int remark_short_phases(struct report *r, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf names = {0};
	size_t count = 0;

	for (size_t i = 0; i < r->comparison->count; i++) {
		const struct series *s = r->comparison->series[i];

		if (!s->too_short || strcmp(s->metric, "rate"))
			continue;
		if (count++ < 6)
			strbuf_addf(&names, "%s%s/%s", names.length ? ", " : "",
				s->workload, s->phase);
	}
	if (!count || r->bundle.info.arm_count < 2)
		return 0;
	if (strbuf_failed(&names))
		return err_set(e, ENOMEM, "report");
	return report_add_remark(r, e,
		"Left out because they took less than 200 ms, which is no measurement of "
		"a "
		"rate: %s%s.",
		strbuf_text(&names), count > 6 ? ", and more" : "");
}

/* What stands beside the exact interval of the primary metric, of each arm. */
static int primary_remarks(struct report *r, struct err *e)
{
	const struct report_table *t = &r->tables[TABLE_COMPARISON];
	int status = 0;

	for (size_t i = 0; !status && i < t->row_count; i++) {
		const struct report_cell *row = t->cells + i * t->column_count;
		char stein[100] = "";

		if (!row[COMPARISON_PRIMARY].count ||
			row[COMPARISON_T_LOW].type == CELL_MISSING ||
			r->complete_blocks < REPORT_BLOCKS_FOR_A_STATEMENT)
			continue;
		if (row[COMPARISON_STEIN_LOW].type != CELL_MISSING)
			snprintf(stein, sizeof(stein),
				" Stein's interval %.3f-%.3f (target +-%.3g %%).",
				row[COMPARISON_STEIN_LOW].number,
				row[COMPARISON_STEIN_HIGH].number,
				100 * r->bundle.info.design.target);
		status = report_add_remark(r, e,
			"Primary metric, %s: Student's t gives %.3f-%.3f (p %.2g), the exact "
			"test p %.2g; these blocks would have shown %.1f %% in 80 %% of "
			"cases.%s",
			row[COMPARISON_ARM].text, row[COMPARISON_T_LOW].number,
			row[COMPARISON_T_HIGH].number, row[COMPARISON_T_P].number,
			row[COMPARISON_P].number,
			100 * (row[COMPARISON_DETECTABLE].number - 1), stein);
	}
	return status;
}

static int make_remarks(struct report *r, struct err *e)
{
	const struct bundle_info *info = &r->bundle.info;
	int status = 0;

	if (info->state != BUNDLE_COMPLETE)
		status = report_add_remark(r, e, "The experiment is not complete (%s)%s%s.",
			bundle_state_word(info->state), *info->reason ? ": " : "",
			info->reason);
	if (!status && info->arm_count > 1 &&
		r->complete_blocks < REPORT_BLOCKS_FOR_A_STATEMENT)
		status = report_add_remark(r, e,
			"%zu block%s: fewer than %d, so no statement about noise can be "
			"made.",
			r->complete_blocks, PLURAL(r->complete_blocks),
			REPORT_BLOCKS_FOR_A_STATEMENT);
	if (!status)
		status = calibration_remark(r, e);
	if (!status)
		status = primary_remarks(r, e);
	if (!status)
		status = drift_remark(r, e);
	if (!status)
		status = invalid_remarks(r, e);
	if (!status)
		status = remark_short_phases(r, e);
	if (!status && r->bundle.notes)
		status = report_add_remark(r, e, "%s.", r->bundle.notes);
	return status;
}

/* run: the only one; NULL: those of the bundle. */
static int build(struct report *r, struct bundle *bundle, struct result_run *run,
	struct err *e)
{
	int status = 0;

	*r = (struct report){.bundle = *bundle};
	*bundle = (struct bundle){0};
	r->arms = calloc(r->bundle.info.arm_count, sizeof(*r->arms));
	r->comparison = calloc(1, sizeof(*r->comparison));
	r->factors = calloc(1, sizeof(*r->factors));
	if (!r->arms || !r->comparison || !r->factors)
		status = err_set(e, ENOMEM, "report");
	if (!status)
		status = factors_read(r->factors, &r->bundle.info, e);
	if (!status)
		status = rows_make(&r->rows, r->bundle.cells, e);
	if (!status)
		status = run ? take_run(r, run, e)
			     : bundle_each_run(&r->bundle, take_run, r, e);
	if (!status)
		status = finish_workloads(r, e);
	if (!status)
		put_primary_first(r);
	if (!status && (!run || r->bundle.traces))
		status = bundle_each_trace(&r->bundle, take_trace, r, e);
	if (!status)
		status = count_blocks(r, e);
	if (!status)
		status = tables_make(r, e);
	if (!status)
		status = make_remarks(r, e);
	if (status == -EBADMSG)
		e->kind = ERR_USAGE;
	if (status)
		report_deinit(r);
	return status;
}

int report_build(struct report *r, struct bundle *bundle, struct err *e)
{
	return build(r, bundle, NULL, e);
}

int report_load(struct report *r, const char *path, struct err *e)
{
	struct bundle bundle;
	int status = bundle_load(&bundle, path, e);

	return status ? status : report_build(r, &bundle, e);
}

int report_build_run(struct report *r, struct bundle *bundle, struct result_run *run,
	struct err *e)
{
	return build(r, bundle, run, e);
}

static void workload_deinit(struct report_workload *w)
{
	for (size_t i = 0; i < w->run_count; i++)
		result_run_deinit(&w->runs[i]);
	free(w->runs);
	result_run_deinit(&w->merged);
	free(w->name);
	free(w->type);
}

void report_deinit(struct report *r)
{
	for (size_t i = 0; r->arms && i < r->bundle.info.arm_count; i++) {
		for (size_t k = 0; k < r->arms[i].workload_count; k++)
			workload_deinit(&r->arms[i].workloads[k]);
		free(r->arms[i].workloads);
	}
	free(r->arms);
	for (size_t i = 0; i < TABLE_COUNT; i++)
		table_deinit(&r->tables[i]);
	if (r->comparison)
		comparison_deinit(r->comparison);
	free(r->comparison);
	if (r->factors)
		factors_deinit(r->factors);
	free(r->factors);
	for (size_t i = 0; i < r->remark_count; i++)
		free(r->remarks[i]);
	free(r->remarks);
	for (size_t i = 0; i < r->text_count; i++)
		free(r->texts[i]);
	free(r->texts);
	for (size_t i = 0; i < r->trace_count; i++)
		timeline_free(r->traces[i]);
	free(r->traces);
	rows_deinit(&r->rows);
	free(r->calibration);
	bundle_deinit(&r->bundle);
	*r = (struct report){0};
}

const struct report_table *report_find_table(const struct report *r, const char *key)
{
	for (size_t i = 0; i < TABLE_COUNT; i++)
		if (!strcmp(r->tables[i].key, key))
			return &r->tables[i];
	return NULL;
}
