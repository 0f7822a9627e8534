/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A report as Markdown with pipe tables, to be pasted into a ticket, a mail or a wiki: the
 * summary, what was compared, the audit, and what is to be held against it.  Numbers are
 * those of the text report; the classic layouts and single values are left to the other
 * formats.
 */

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "core/clock.h"
#include "report/columns.h"
#include "report/factors.h"
#include "report/format.h"
#include "report/formats.h"
#include "report/summary.h"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) != 0;
}

/* Would it be taken for markup?  "_" inside of a word would not. */
static bool is_markup(const char *text, const char *at)
{
	if (*at == '_')
		return at == text || !is_word(at[-1]) || !is_word(at[1]);
	return *at && strchr("\\`*[]<|~", *at) != NULL;
}

/* A line feed would end the row of a table. */
static void add_text(struct strbuf *out, const char *text)
{
	for (const char *at = text; *at; at++) {
		if (is_markup(text, at))
			strbuf_add(out, "\\");
		strbuf_addn(out, *at == '\n' ? " " : at, 1);
	}
}

static void add_header(const struct report_table *t, struct strbuf *out)
{
	strbuf_add(out, "|");
	for (size_t c = 0; c < t->column_count; c++) {
		strbuf_add(out, " ");
		add_text(out, t->columns[c].title);
		strbuf_add(out, " |");
	}
	strbuf_add(out, "\n|");
	for (size_t c = 0; c < t->column_count; c++)
		strbuf_add(out, column_kinds[t->columns[c].type].is_right ? " ---: |"
									  : " --- |");
	strbuf_add(out, "\n");
}

static void add_row(const struct report_table *t, size_t row, struct strbuf *out)
{
	char buffer[CELL_TEXT_MAX];

	strbuf_add(out, "|");
	for (size_t c = 0; c < t->column_count; c++) {
		strbuf_add(out, " ");
		add_text(out, format_cell(&t->cells[row * t->column_count + c], buffer));
		strbuf_add(out, " |");
	}
	strbuf_add(out, "\n");
}

static int render_markdown_table(const struct report_table *t, struct strbuf *out, struct err *e)
{
	add_header(t, out);
	for (size_t i = 0; i < t->row_count; i++)
		add_row(t, i, out);
	return strbuf_failed(out) ? err_set(e, ENOMEM, "write Markdown") : 0;
}

static void add_heading(struct strbuf *out, const char *text)
{
	strbuf_add(out, "\n## ");
	add_text(out, text);
	strbuf_add(out, "\n\n");
}

static void add_item(struct strbuf *out, const char *text)
{
	strbuf_add(out, "- ");
	add_text(out, text);
	strbuf_add(out, "\n");
}

static int add_summary(const struct report *r, struct strbuf *out, struct err *e)
{
	_cleanup_(summary_deinit) struct summary s = {0};
	int status = report_summary(r, &s, e);

	if (status)
		return status;
	add_heading(out, "Summary");
	for (size_t i = 0; i < s.count; i++)
		add_item(out, s.sentences[i].text);
	return 0;
}

/* A section: a table with some of its columns, and of its rows those that stand in the
 * text report; nothing when there are none. */
struct section {
	enum report_table_id table;
	const char *columns;
	size_t shown; /* column that says so; ALL_ROWS */
	size_t verdict, direction; /* columns; both 0: it has no verdict in words */
};
#define ALL_ROWS SIZE_MAX

static const struct section arms_section = {
	TABLE_ARMS, "arm,placement,mount,levels,cells", ALL_ROWS, 0, 0};

static const struct section sections[] = {
	{TABLE_FACTORS,
		"factor,level,first_level,workload,phase,metric,estimate,low,high,p_holm,"
		"verdict,blocks,primary",
		FACTORS_SHOWN, FACTORS_VERDICT, FACTORS_DIRECTION},
	{TABLE_AUDIT,
		"workload,phase,arm,syncs,commits,data_flushes,journal_flushes,"
		"write_amplification,cache_share,verdict",
		ALL_ROWS, 0, 0},
	{TABLE_CONFOUNDS, "id,sentence,detail", ALL_ROWS, 0, 0},
};

static const char *comparison_columns(const struct report *r)
{
	if (r->bundle.info.arm_count < 2)
		return "workload,phase,metric,median,blocks,primary";
	if (r->complete_blocks < REPORT_BLOCKS_FOR_A_STATEMENT)
		return "workload,phase,metric,direction,arm,first_median,median,ratio,"
		       "blocks,primary";
	return "workload,phase,metric,arm,first_median,median,estimate,low,high,p_holm,"
	       "detectable,verdict,blocks,primary";
}

/* Arms of factors are compared by factor. */
static bool is_left_out(const struct report *r, const struct section *section,
	const struct report_cell *row)
{
	const struct bundle_info *info = &r->bundle.info;

	if (section->shown != ALL_ROWS && !row[section->shown].count)
		return true;
	for (size_t i = 0; section->table == TABLE_COMPARISON && i < info->arm_count; i++)
		if (!strcmp(info->arms[i].name, row[COMPARISON_ARM].text))
			return factors_have_arm(r->factors, i);
	return false;
}

/* "faster" says more than "higher" where a direction is better. */
static void put_verdict(struct column_selection *s, const struct section *section,
	const struct report_table *t, size_t row)
{
	const struct report_cell *cells = t->cells + row * t->column_count;

	for (size_t c = 0; section->verdict && c < s->table.column_count; c++)
		if (!strcmp(s->columns[c].key, "verdict"))
			s->table.cells[row * s->table.column_count + c].text =
				format_verdict(cells[section->verdict].text,
					cells[section->direction].text);
}

static int add_section(const struct report *r, const struct section *section,
	struct strbuf *out, struct err *e)
{
	const struct report_table *t = &r->tables[section->table];
	_cleanup_(column_selection_deinit) struct column_selection s = {0};
	bool any = false;
	int status = columns_select(t, section->columns, &s, e);

	for (size_t i = 0; !status && i < t->row_count; i++) {
		if (is_left_out(r, section, t->cells + i * t->column_count))
			continue;
		if (!any) {
			add_heading(out, t->title);
			add_header(&s.table, out);
		}
		any = true;
		put_verdict(&s, section, t, i);
		add_row(&s.table, i, out);
	}
	return status;
}

static int render_markdown(const struct report *r, struct strbuf *out, struct err *e)
{
	const struct bundle_info *info = &r->bundle.info;
	const struct section comparison = {
		TABLE_COMPARISON, comparison_columns(r), COMPARISON_SHOWN,
		COMPARISON_VERDICT, COMPARISON_DIRECTION};
	char created[32];
	int status;

	clock_format_utc(info->created_wall_ns, created);
	strbuf_add(out, "# ");
	add_text(out, info->name);
	strbuf_addf(out, "\n\n%s, %zu arm%s, %zu of %u block%s, seed %llu, plan %.12s\n",
		created, info->arm_count, PLURAL(info->arm_count),
		r->complete_blocks, info->blocks, PLURAL(info->blocks),
		(unsigned long long)info->seed, info->plan_sha256);
	status = add_summary(r, out, e);
	if (!status)
		status = add_section(r, &arms_section, out, e);
	if (!status)
		status = add_section(r, &comparison, out, e);
	for (size_t i = 0; !status && i < ARRAY_SIZE(sections); i++)
		status = add_section(r, &sections[i], out, e);
	if (r->remark_count)
		add_heading(out, "Remarks");
	for (size_t i = 0; i < r->remark_count; i++)
		add_item(out, r->remarks[i]);
	if (!status && strbuf_failed(out))
		status = err_set(e, ENOMEM, "write Markdown");
	return status;
}

const struct report_format report_format_markdown = {
	.name = "markdown",
	.to_be_read = true,
	.whole = render_markdown,
	.table = render_markdown_table,
};
