/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The text report, laid out as people publish such results: for each arm its name and
 * where its journal is, the lines of dd, the four tables of tiobench; then one comparison
 * in 80 columns.  Below it what must be known to read it.
 *
 * The classic layouts are shown for the runs of an arm merged into one (tiobench), or
 * line by line (dd); other types of workloads get a plain list of their metrics.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/wrap.h"
#include "report/factors.h"
#include "report/format.h"
#include "report/formats.h"
#include "report/layouts.h"
#include "report/render_phases.h"
#include "report/report.h"
#include "report/summary.h"
#include "report/text_table.h"

static void underline(struct strbuf *out, size_t n)
{
	while (n--)
		strbuf_add(out, "-");
	strbuf_add(out, "\n");
}

static void add_heading(struct strbuf *out, const char *text)
{
	strbuf_addf(out, "%s\n", text);
	underline(out, strlen(text));
}

static bool any_without_time(const struct result_run *run)
{
	for (size_t i = 0; i < run->phase_count; i++)
		if (!result_knows(&run->phases[i].counters, RESULT_WALL))
			return true;
	return false;
}

static int render_classic(const struct report *r, size_t arm,
	const struct report_workload *w, struct strbuf *out, struct err *e _unused_)
{
	layout_render_workload(
		report_find_layout(w->type), &r->bundle.info.arms[arm], w, out);
	return 0;
}

/* What nobody has a classic layout for: its phases, or what a program said of itself. */
static int render_other_runs(const struct report *r _unused_, size_t arm _unused_,
	const struct report_workload *w, struct strbuf *out, struct err *e)
{
	if (any_without_time(&w->merged)) {
		int status = 0;

		for (size_t i = 0; !status && i < w->run_count; i++)
			status = render_phases(&w->runs[i], out, e);
		return status;
	}
	for (size_t i = 0; i < w->merged.phase_count; i++)
		if (w->merged.phases[i].metric_count)
			return render_phases(&w->merged, out, e);
	strbuf_add(out, "Its metrics are in the last table.\n");
	return 0;
}

/* In the order in which they are shown; the last one takes every other type. */
static const struct layout {
	const char *type;
	const char *runs; /* what is said of several runs */
	int (*render)(const struct report *r, size_t arm, const struct report_workload *w,
		struct strbuf *out, struct err *e);
} layouts[] = {
	{"dd", "one line for each block", render_classic},
	{"tiobench", "all blocks together", render_classic},
	{NULL, "all blocks together", render_other_runs},
};

static const struct layout *layout_of(const char *type)
{
	const struct layout *l = layouts;

	while (l->type && strcmp(l->type, type))
		l++;
	return l;
}

static int render_workload(const struct report *r, size_t arm,
	const struct report_workload *w, struct strbuf *out, struct err *e)
{
	const struct layout *l = layout_of(w->type);
	int status;

	strbuf_addf(out, "%s (%s", w->name, w->type);
	if (w->run_count > 1)
		strbuf_addf(out, ", %zu runs, %s", w->run_count, l->runs);
	strbuf_add(out, ")\n");
	status = l->render(r, arm, w, out, e);
	strbuf_add(out, "\n");
	return status;
}

static int render_arm(
	const struct report *r, size_t arm, struct strbuf *out, struct err *e)
{
	const struct bundle_arm *a = &r->bundle.info.arms[arm];
	_cleanup_(strbuf_deinit) struct strbuf heading = {0};
	int status = 0;

	strbuf_addf(&heading, "%s: journal %s%s%s", a->name, a->placement,
		*a->mount ? ", mounted with " : "", a->mount);
	add_heading(out, strbuf_text(&heading));
	if (strbuf_failed(&heading))
		out->failed = true;
	for (size_t l = 0; l < ARRAY_SIZE(layouts); l++)
		for (size_t i = 0; !status && i < r->arms[arm].workload_count; i++) {
			const struct report_workload *w = &r->arms[arm].workloads[i];

			if (layout_of(w->type) == &layouts[l])
				status = render_workload(r, arm, w, out, e);
		}
	return status;
}

/* The columns of the comparison; those about another arm are left out for a single one.
 */
enum {
	TEXT_METRIC,
	TEXT_FIRST,
	TEXT_ARM,
	TEXT_RATIO,
	TEXT_INTERVAL,
	TEXT_DETECTABLE,
	TEXT_VERDICT,
	TEXT_BETTER,
	TEXT_BLOCKS,
	TEXT_COLUMNS
};

/* With enough blocks the interval and the verdict are shown, and the number of blocks
 * stands below the table; with fewer, which direction is better. */
static bool has_statement(const struct report *r)
{
	return r->bundle.info.arm_count > 1 &&
		r->complete_blocks >= REPORT_BLOCKS_FOR_A_STATEMENT;
}

static bool has_column(const struct report *r, size_t column)
{
	if (column == TEXT_INTERVAL || column == TEXT_DETECTABLE ||
		column == TEXT_VERDICT)
		return has_statement(r);
	if (column == TEXT_BETTER || column == TEXT_BLOCKS)
		return !has_statement(r);
	return r->bundle.info.arm_count > 1 ||
	       (column != TEXT_FIRST && column != TEXT_RATIO);
}

static const char *better_word(const char *direction)
{
	if (!strcmp(direction, "higher_is_better"))
		return "more";
	return !strcmp(direction, "lower_is_better") ? "less" : "";
}

static void interval_text(const struct report_cell *row, char out[static CELL_TEXT_MAX])
{
	char low[CELL_TEXT_MAX], high[CELL_TEXT_MAX];

	if (row[COMPARISON_LOW].type == CELL_MISSING)
		snprintf(out, CELL_TEXT_MAX, "-");
	else
		snprintf(out, CELL_TEXT_MAX, "%.20s-%.20s",
			format_cell(&row[COMPARISON_LOW], low),
			format_cell(&row[COMPARISON_HIGH], high));
}

/* The smallest difference that would have been seen. */
static void detectable_text(
	const struct report_cell *row, char out[static CELL_TEXT_MAX])
{
	double ratio = row[COMPARISON_DETECTABLE].number;

	if (row[COMPARISON_DETECTABLE].type == CELL_MISSING)
		snprintf(out, CELL_TEXT_MAX, "-");
	else if (ratio >= 10)
		snprintf(out, CELL_TEXT_MAX, "x%.0f", ratio);
	else
		snprintf(out, CELL_TEXT_MAX, ratio < 1.1 ? "%.1f%%" : "%.0f%%",
			100 * (ratio - 1));
}

static void add_line(
	struct text_table *t, const struct report *r, const struct report_cell *row)
{
	char path[200], numbers[TEXT_COLUMNS][CELL_TEXT_MAX];
	const char *texts[TEXT_COLUMNS] = {
		[TEXT_METRIC] = path,
		[TEXT_FIRST] =
			format_cell(&row[COMPARISON_FIRST_MEDIAN], numbers[TEXT_FIRST]),
		[TEXT_ARM] = format_cell(&row[COMPARISON_MEDIAN], numbers[TEXT_ARM]),
		[TEXT_RATIO] = format_cell(&row[has_statement(r) ? COMPARISON_ESTIMATE
								 : COMPARISON_RATIO],
			numbers[TEXT_RATIO]),
		[TEXT_INTERVAL] = numbers[TEXT_INTERVAL],
		[TEXT_DETECTABLE] = numbers[TEXT_DETECTABLE],
		[TEXT_VERDICT] = format_verdict(row[COMPARISON_VERDICT].text,
			row[COMPARISON_DIRECTION].text),
		[TEXT_BETTER] = better_word(row[COMPARISON_DIRECTION].text),
		[TEXT_BLOCKS] =
			format_cell(&row[COMPARISON_BLOCKS], numbers[TEXT_BLOCKS]),
	};

	interval_text(row, numbers[TEXT_INTERVAL]);
	detectable_text(row, numbers[TEXT_DETECTABLE]);
	snprintf(path, sizeof(path), "%s%s/%s/%s",
		row[COMPARISON_PRIMARY].count ? "*" : "", row[COMPARISON_WORKLOAD].text,
		row[COMPARISON_PHASE].text, row[COMPARISON_METRIC].text);
	text_table_add(t, texts);
}

static struct text_table *new_table(const struct report *r, size_t arm)
{
	const struct bundle_info *info = &r->bundle.info;
	char level[16];
	struct text_column columns[TEXT_COLUMNS] = {
		[TEXT_METRIC] = {"METRIC", TEXT_CUT},
		[TEXT_FIRST] = {info->arms[0].name, TEXT_RIGHT},
		[TEXT_ARM] = {info->arms[arm].name, TEXT_RIGHT},
		[TEXT_RATIO] = {"RATIO", TEXT_RIGHT},
		[TEXT_INTERVAL] = {level, TEXT_RIGHT},
		[TEXT_DETECTABLE] = {"MDE", TEXT_RIGHT},
		[TEXT_VERDICT] = {"VERDICT", TEXT_LEFT},
		[TEXT_BETTER] = {"BETTER", TEXT_LEFT},
		[TEXT_BLOCKS] = {"BLOCKS", TEXT_RIGHT},
	};

	snprintf(level, sizeof(level), "%.4g%%", 100 * info->design.level);
	for (size_t i = 0; i < TEXT_COLUMNS; i++)
		if (!has_column(r, i))
			columns[i].title = NULL;
	return text_table_new(columns, TEXT_COLUMNS, TEXT_TABLE_WIDTH);
}

static void add_rows(struct text_table *t, const struct report *r, const char *arm)
{
	const struct report_table *c = &r->tables[TABLE_COMPARISON];

	for (size_t i = 0; i < c->row_count; i++) {
		const struct report_cell *row = c->cells + i * c->column_count;

		if (row[COMPARISON_SHOWN].count && !strcmp(row[COMPARISON_ARM].text, arm))
			add_line(t, r, row);
	}
}

static int render_comparison(
	const struct report *r, size_t arm, struct strbuf *out, struct err *e)
{
	const struct bundle_info *info = &r->bundle.info;
	struct text_table *t = new_table(r, arm);
	_cleanup_(strbuf_deinit) struct strbuf heading = {0};
	int status;

	add_rows(t, r, info->arms[arm].name);
	strbuf_addf(&heading, arm ? "Comparison: %s with %s" : "Medians of %s",
		info->arms[arm].name, info->arms[0].name);
	add_heading(out, strbuf_text(&heading));
	status = text_table_finish(t, "Nothing can be compared.", out, e);
	strbuf_add(out, "\n");
	return status;
}

static void render_header(const struct report *r, struct strbuf *out)
{
	const struct bundle_info *info = &r->bundle.info;
	char created[32];

	clock_format_utc(info->created_wall_ns, created);
	strbuf_addf(out, "%s, %s\n", info->name, created);
	strbuf_addf(out, "%zu arm%s, %zu of %u block%s, seed %llu, plan %.12s\n\n",
		info->arm_count, PLURAL(info->arm_count), r->complete_blocks,
		info->blocks, PLURAL(info->blocks),
		(unsigned long long)info->seed, info->plan_sha256);
}

static const char plain_note[] =
	"Medians over the blocks that have both arms; RATIO is the other arm's median "
	"divided by that of %s. BETTER says whether more or less of a metric is better.";
static const char statement_note[] =
	"Medians over the blocks that have both arms. RATIO to %s is Hodges and Lehmann's "
	"estimate over the blocks, beside it its exact signed-rank interval; MDE is the "
	"smallest difference that these blocks would have shown in 80 %% of cases. faster, "
	"slower: the interval excludes 1; equivalent: within %.3g %%, by two one-sided tests; "
	"~: no detectable difference (but see MDE). "
	"Single metrics among many mislead: look at p_holm there.";

static void render_remarks(const struct report *r, struct strbuf *out)
{
	const struct bundle_info *info = &r->bundle.info;

	if (info->arm_count > 1) {
		_cleanup_(strbuf_deinit) struct strbuf b = {0};

		strbuf_addf(&b, has_statement(r) ? statement_note : plain_note,
			info->arms[0].name, 100 * info->design.margin);
		if (*info->primary)
			strbuf_add(&b, " * marks the primary metric.");
		strbuf_add(&b, " All metrics: --format csv.");
		wrap_text(out, strbuf_text(&b), 0, 0);
	}
	for (size_t i = 0; i < r->remark_count; i++)
		wrap_text(out, r->remarks[i], 0, 0);
}

static int render_summary(const struct report *r, struct strbuf *out, struct err *e)
{
	_cleanup_(summary_deinit) struct summary s = {0};
	int status = report_summary(r, &s, e);

	if (status)
		return status;
	add_heading(out, "Summary");
	for (size_t i = 0; i < s.count; i++) {
		strbuf_add(out, "- ");
		wrap_text(out, s.sentences[i].text, 2, 2);
	}
	strbuf_add(out, "\n");
	return 0;
}

/* Arms of factors are compared by factor. */
static int render_comparisons(const struct report *r, struct strbuf *out, struct err *e)
{
	int status = 0;

	for (size_t arm = r->bundle.info.arm_count > 1;
		!status && arm < r->bundle.info.arm_count; arm++)
		if (!factors_have_arm(r->factors, arm))
			status = render_comparison(r, arm, out, e);
	return status ? status : render_factors(r, out, e);
}

int render_overview(const struct report *r, struct strbuf *out, struct err *e)
{
	int status;

	render_header(r, out);
	status = render_summary(r, out, e);
	if (!status)
		status = render_comparisons(r, out, e);
	if (!status && strbuf_failed(out))
		status = err_set(e, ENOMEM, "write the report");
	return status;
}

int render_text(const struct report *r, struct strbuf *out, struct err *e)
{
	int status;

	render_header(r, out);
	status = render_summary(r, out, e);
	for (size_t arm = 0; !status && arm < r->bundle.info.arm_count; arm++)
		status = render_arm(r, arm, out, e);
	if (!status)
		status = render_comparisons(r, out, e);
	if (!status && r->tables[TABLE_AUDIT].row_count) {
		add_heading(out, "Sync audit");
		status = render_audit(r, false, out, e);
		strbuf_add(out, "\n");
	}
	if (!status)
		status = render_surroundings(r, false, out, e);
	if (status)
		return status;
	render_remarks(r, out);
	return strbuf_failed(out) ? err_set(e, ENOMEM, "write the report") : 0;
}

const struct report_format report_format_text = {
	.name = "text",
	.to_be_read = true,
	.whole = render_text,
	.table = render_table,
};
