/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The layouts of other programs, each for one type of workload, by the name of the format
 * that prints them.  Each is a file, render_NAME.c, that exports a `struct report_layout`,
 * and a row of the table below.
 */

#include <stddef.h>

#include "core/err.h"
#include "core/strbuf.h"
#include "report/report.h"

struct report_layout {
	const char *name; /* "tiobench-classic" */
	const char *type; /* of workloads: "tiobench" */
	bool each_run;	  /* it cannot be made of several runs together */
	/* Does a run of the type have what is shown?  NULL: any has. */
	bool (*has)(const struct result_run *run);
	const char *lacks; /* what is missing otherwise: " with times and amounts" */
	/* Appends one run; identifier: how tables are to call it. */
	void (*render)(const struct result_run *run, const char *identifier,
		struct strbuf *out);
	/* Stands once above all; NULL: nothing does. */
	void (*head)(struct strbuf *out);
};

/* In the order in which they are listed: "ROW(name)" for report_layout_name. */
#define REPORT_LAYOUTS(ROW) \
	ROW(tiobench) \
	ROW(tiobench_classic) \
	ROW(tiotest) \
	ROW(tiotest_terse) \
	ROW(iozone) \
	ROW(dd) \
	ROW(pgbench)

#define REPORT_LAYOUT_DECLARE(NAME) extern const struct report_layout report_layout_##NAME;
REPORT_LAYOUTS(REPORT_LAYOUT_DECLARE)
#undef REPORT_LAYOUT_DECLARE

extern const struct report_layout *const report_layouts[]; /* NULL behind the last */

/* NULL when there is none of that name. */
const struct report_layout *report_find_layout(const char *name);

/* One workload of the layout's type in an arm. */
void layout_render_workload(const struct report_layout *layout,
	const struct bundle_arm *arm, const struct report_workload *w, struct strbuf *out);

/* All workloads of its type, arm by arm, all blocks of an arm together where the layout can
 * show that.  None: ERR_USAGE.  -ENOMEM. */
int render_layout(const struct report *r, const struct report_layout *layout,
	struct strbuf *out, struct err *e);
