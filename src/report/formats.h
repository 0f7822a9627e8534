/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The formats of a report.  Each is one file, render_NAME.c, that exports one
 * `struct report_format`, and a row of the table below.
 */

#include <stdbool.h>

#include "core/err.h"
#include "core/strbuf.h"
#include "report/report.h"

/* Each appends to out; on error, e says why. */
struct report_format {
	const char *name;
	bool to_be_read; /* by people, maybe on a terminal */
	/* The whole report; NULL: it shows tables only. */
	int (*whole)(const struct report *r, struct strbuf *out, struct err *e);
	/* One table, also a choice of its columns; NULL: it shows no single table. */
	int (*table)(const struct report_table *t, struct strbuf *out, struct err *e);
	/* One plot by its name, see plots.h; NULL: it shows no single plot. */
	int (*plot)(const struct report *r, const char *name, struct strbuf *out,
		struct err *e);
};

/* In the order in which they are listed: "ROW(name)" for report_format_name. */
#define REPORT_FORMATS(ROW) \
	ROW(text) \
	ROW(markdown) \
	ROW(csv) \
	ROW(json) \
	ROW(jsonl) \
	ROW(pts) \
	ROW(html) \
	ROW(svg)

#define REPORT_FORMAT_DECLARE(NAME) extern const struct report_format report_format_##NAME;
REPORT_FORMATS(REPORT_FORMAT_DECLARE)
#undef REPORT_FORMAT_DECLARE

extern const struct report_format *const report_formats[]; /* NULL behind the last */

/* NULL when there is none of that name. */
const struct report_format *report_find_format(const char *name);
