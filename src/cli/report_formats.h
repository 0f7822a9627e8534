/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The formats of "report", by name. */

#include <stdbool.h>

#include "core/err.h"
#include "core/strbuf.h"
#include "report/report.h"

struct report_request {
	const char *format;  /* NULL: text */
	const char *table;   /* key of one table; NULL: the whole report, or "comparison" */
	const char *columns; /* keys, with commas between; NULL: all */
	const char *plot;    /* of svg, see report/plots.h; NULL: "ratios" */
};

/* Appends " NAME" for each. */
void report_formats_offer(struct strbuf *words);

/* Refuses what does not go together, before anything is read: ERR_USAGE. */
int report_formats_check(const struct report_request *q, struct err *e);

/* Appends the report in that format.  ERR_USAGE for what it cannot show.  -ENOMEM. */
int report_formats_render(const struct report *r, const struct report_request *q,
	struct strbuf *out, struct err *e);
