/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The report of tiobench.pl, character for character, so that parsers of it and people
 * who know it can go on.  What it got wrong is not kept: a value that does not fit into
 * its column widens the column in all four tables; nothing becomes "######" and no number
 * loses digits before its point.
 */

#include "core/strbuf.h"
#include "result/result.h"

enum tiobench_format {
	TIOBENCH_WIDE,	  /* widths of 2020 and later, header in every section */
	TIOBENCH_CLASSIC, /* widths of 0.3.3 */
};

extern const char *const tiobench_format_words[]; /* by format; NULL behind the last */

/* "wide" or "classic".  -EINVAL with a text for anything else. */
int tiobench_format_parse(const char *word, enum tiobench_format *format, struct err *e);

/* "Unit information" as it stands above the tables, with its empty line before. */
void render_tiobench_units(enum tiobench_format format, struct strbuf *out);

/*
 * The four tables, those without rows left out, each with an empty line before it, from
 * the counters and histograms of the phases whose names begin with "read/", "rread/",
 * "write/" and "rwrite/".  Without a histogram the metrics latency_mean and latency_max
 * are used; what is unknown is "-".
 */
void render_tiobench(const struct result_run *run, const char *identifier,
	enum tiobench_format format, struct strbuf *out);
