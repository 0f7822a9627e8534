/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The plots of a report, by name:
 *
 *	ratios                         every arm against the first one, what the text shows
 *	all-ratios                     the same for every metric
 *	threads:WORKLOAD/PHASE         rate by the number of threads
 *	latency:WORKLOAD/PHASE         percentiles of the latency of operations
 *	sync-latency:WORKLOAD/PHASE    the same of syncs
 *	blocks:WORKLOAD/PHASE/METRIC   the arms block by block
 *	flushes                        cache flushes for each sync, by device
 *	written                        bytes written for each byte of the workload, by device
 *	fsync:WORKLOAD/PHASE           one fsync of each arm, step by step
 *
 * A report has those for which it has data.
 */

#include "report/plot.h"

/* All of them; the caller frees them with plots_deinit(), also after an error.  -ENOMEM. */
int plots_make(const struct report *r, struct plots *out, struct err *e);

/* The plot of that name, or the first of that kind.  None: ERR_USAGE that says what there
 * is. */
int plots_find(const struct plots *p, const char *name, const struct plot **out,
	struct err *e);

/* Does the name of a plot begin with this kind? */
bool plot_is(const struct plot *p, const char *kind);

/* The parts of plots_make(), each in a file of that name.  -ENOMEM. */
int plot_ratios(const struct report *r, struct plots *out, struct err *e);
int plot_threads(const struct report *r, struct plots *out, struct err *e);
int plot_latencies(const struct report *r, struct plots *out, struct err *e);
int plot_blocks(const struct report *r, struct plots *out, struct err *e);
int plot_ledgers(const struct report *r, struct plots *out, struct err *e);
int plot_fsyncs(const struct report *r, struct plots *out, struct err *e);
