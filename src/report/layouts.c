/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Layouts of other programs; see layouts.h. */

#include "report/layouts.h"

#include <errno.h>
#include <string.h>

#include "report/render_dd.h"
#include "report/render_iozone.h"
#include "report/render_pgbench.h"
#include "report/render_tiobench.h"
#include "report/render_tiotest.h"

static void head_wide(struct strbuf *out)
{
	render_tiobench_units(TIOBENCH_WIDE, out);
}

static void head_classic(struct strbuf *out)
{
	render_tiobench_units(TIOBENCH_CLASSIC, out);
}

static void tiobench_wide(
	const struct result_run *run, const char *identifier, struct strbuf *out)
{
	render_tiobench(run, identifier, TIOBENCH_WIDE, out);
}

static void tiobench_classic(
	const struct result_run *run, const char *identifier, struct strbuf *out)
{
	render_tiobench(run, identifier, TIOBENCH_CLASSIC, out);
}

static void tiotest_box(
	const struct result_run *run, const char *identifier _unused_, struct strbuf *out)
{
	render_tiotest(run, TIOTEST_BOX, out);
}

static void tiotest_terse(
	const struct result_run *run, const char *identifier _unused_, struct strbuf *out)
{
	render_tiotest(run, TIOTEST_TERSE, out);
}

static void iozone(
	const struct result_run *run, const char *identifier _unused_, struct strbuf *out)
{
	render_iozone(run, out);
}

static void pgbench(
	const struct result_run *run, const char *identifier _unused_, struct strbuf *out)
{
	render_pgbench(run, out);
}

static void dd_lines(
	const struct result_run *run, const char *identifier _unused_, struct strbuf *out)
{
	for (size_t i = 0; i < run->phase_count; i++) {
		if (run->phase_count > 1)
			strbuf_addf(out, "%s: ", run->phases[i].title);
		render_dd_line(&run->phases[i], out);
		strbuf_add(out, "\n");
	}
}

/* All that the boxes of tiotest show; a published table lacks some of it. */
static bool has_counters(const struct result_run *run)
{
	const unsigned shown = RESULT_BYTES | RESULT_OPERATIONS | RESULT_WALL |
			       RESULT_USER | RESULT_SYSTEM;

	for (size_t i = 0; i < run->phase_count; i++)
		if (run->phases[i].counters.unknown & shown)
			return false;
	return true;
}

static bool has_children(const struct result_run *run)
{
	for (size_t i = 0; i < run->phase_count; i++)
		if (!result_phase_metric(&run->phases[i], "children"))
			return false;
	return true;
}

static bool has_transactions(const struct result_run *run)
{
	for (size_t i = 0; i < run->phase_count; i++)
		if (!strncmp(run->phases[i].name, "wal", 3))
			return true;
	return false;
}

#define LAYOUT(n, t, f) .name = (n), .type = (t), .render = (f)
#define NEEDS(f, what) .has = (f), .lacks = (what)

const struct report_layout report_layouts[] = {
	{LAYOUT("tiobench", "tiobench", tiobench_wide), .head = head_wide},
	{LAYOUT("tiobench-classic", "tiobench", tiobench_classic), .head = head_classic},
	{LAYOUT("tiotest", "tiobench", tiotest_box),
		NEEDS(has_counters, " with times and amounts")},
	{LAYOUT("tiotest-terse", "tiobench", tiotest_terse),
		NEEDS(has_counters, " with times and amounts")},
	{LAYOUT("iozone", "throughput", iozone), .each_run = true,
		NEEDS(has_children, " with the figures of its children")},
	{LAYOUT("dd", "dd", dd_lines), .each_run = true},
	{LAYOUT("pgbench", "commit", pgbench),
		NEEDS(has_transactions, " with transactions (kind wal)")},
	{.name = NULL},
};

const struct report_layout *report_find_layout(const char *name)
{
	for (const struct report_layout *l = report_layouts; l->name; l++)
		if (!strcmp(l->name, name))
			return l;
	return NULL;
}

/* Rates that were published cannot be merged: there are no times to add up. */
static bool knows_times(const struct result_run *run)
{
	for (size_t i = 0; i < run->phase_count; i++)
		if (!result_knows(&run->phases[i].counters, RESULT_WALL))
			return false;
	return true;
}

static bool has_rows(const struct report_layout *layout, const struct report_workload *w)
{
	if (strcmp(w->type, layout->type))
		return false;
	for (size_t i = 0; layout->has && i < w->run_count; i++)
		if (!layout->has(&w->runs[i]))
			return false;
	return true;
}

void layout_render_workload(const struct report_layout *layout,
	const struct bundle_arm *arm, const struct report_workload *w, struct strbuf *out)
{
	bool together = !layout->each_run && knows_times(&w->merged);

	if (together)
		layout->render(&w->merged, arm->name, out);
	for (size_t i = 0; !together && i < w->run_count; i++)
		layout->render(&w->runs[i], arm->name, out);
}

int render_layout(const struct report *r, const struct report_layout *layout,
	struct strbuf *out, struct err *e)
{
	bool any = false;

	if (layout->head)
		layout->head(out);
	for (size_t arm = 0; arm < r->bundle.info.arm_count; arm++)
		for (size_t i = 0; i < r->arms[arm].workload_count; i++) {
			const struct report_workload *w = &r->arms[arm].workloads[i];
			const struct bundle_arm *a = &r->bundle.info.arms[arm];

			if (!has_rows(layout, w))
				continue;
			any = true;
			strbuf_addf(out, "\n%s: journal %s, workload %s\n", a->name,
				a->placement, w->name);
			layout_render_workload(layout, a, w, out);
		}
	if (!any)
		return err_usage(e, "%s holds no run of %s%s", r->bundle.path, layout->type,
			layout->lacks ? layout->lacks : "");
	return strbuf_failed(out) ? err_set(e, ENOMEM, "write the report") : 0;
}
