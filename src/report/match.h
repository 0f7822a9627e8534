/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Two sets of runs, metric by metric: two arms of an experiment, two experiments, two
 * published tables, or one of each.
 *
 * What belongs together is found by the type of the workload, the phase, threads, block
 * and size, not by the names that somebody gave; what one side does not say fits
 * anything.  With enough runs there is a verdict; one run each gives ratios and no
 * statement about noise.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"
#include "core/strbuf.h"
#include "result/result.h"
#include "stats/verdict.h"

/* A ratio between 1/1.03 and 1.03 does not matter to anybody. */
#define MATCH_MARGIN 0.03
#define MATCH_LEVEL 0.95

struct match_side {
	const char *file;	 /* where it is from */
	const char *arm;	 /* "" when nobody named it */
	const char *placement;	 /* as a plan says it, or "unknown" */
	const struct result_run *runs;
	size_t run_count;
};

struct match_row {
	char *path; /* "tiobench/write/t1" */
	const char *metric;
	enum result_unit unit;
	enum result_direction direction;
	double median[2];	  /* of the runs; [0] is the baseline */
	size_t runs[2];
	double ratio;		  /* [1] / [0]; NAN when it has no meaning */
	struct contrast contrast; /* over the runs */
	double p_holm;
	unsigned marks; /* of both sides, or-ed */
	bool shown;	/* it is in the text without --all */
	bool too_short; /* a rate of less than 200 ms */
};

struct match {
	struct match_side sides[2]; /* borrowed */
	bool paired;		    /* both are arms of one experiment, in its blocks */
	struct match_row *rows;
	size_t count;
	char **only[2]; /* "tiobench/write/t16" of one side */
	size_t only_count[2];
	char **notes; /* sentences that speak against the comparison */
	size_t note_count;
};

enum match_outcome { MATCH_SAME, MATCH_DIFFERENT, MATCH_INCONCLUSIVE };

/* sides[0] is the baseline.  The runs must outlive the match.  -ENOMEM. */
int match_build(struct match *m, const struct match_side sides[2], bool paired,
	struct err *e);
void match_deinit(struct match *m);

/*
 * MATCH_DIFFERENT when a shown metric differs by more than 3 %, with Holm's adjusted p
 * below 0.05; MATCH_SAME when all are equivalent within 3 %, or every number is the same;
 * else MATCH_INCONCLUSIVE.
 */
enum match_outcome match_outcome(const struct match *m);

/* One sentence for a mark; NULL behind the last.  "page cache" is the short word. */
const char *match_mark_word(unsigned i);

int render_match(const struct match *m, bool all, struct strbuf *out, struct err *e);
int render_match_json(const struct match *m, struct strbuf *out, struct err *e);
