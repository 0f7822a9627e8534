/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Layouts of other programs; see layouts.h. */

#include "report/layouts.h"

#include <errno.h>
#include <string.h>

#define ADDRESS(NAME) &report_layout_##NAME,

const struct report_layout *const report_layouts[] = {REPORT_LAYOUTS(ADDRESS) NULL};

const struct report_layout *report_find_layout(const char *name)
{
	for (size_t i = 0; report_layouts[i]; i++)
		if (!strcmp(report_layouts[i]->name, name))
			return report_layouts[i];
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
