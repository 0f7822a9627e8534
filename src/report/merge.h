/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Several runs of one workload in one arm as one run: counters and times are summed and
 * histograms merged, so that the rate of the result is all bytes over all time and a
 * percentile is that of all operations.  (tiobench --numruns does the same with rates and
 * CPU, but adds up latencies.)  Sizes and threads stay those of one run.
 */

#include "result/result.h"

/*
 * Adds a run to into, which is zero before the first.  A phase is matched by its name;
 * one that is new is appended.  -ENOMEM.
 */
int merge_run(struct result_run *into, const struct result_run *run, struct err *e);

/*
 * Gives the phases of merged, when all runs are in it, their metrics: those that follow
 * from counters and histograms anew, of all others the medians over the runs.  A phase
 * with unknown times keeps none: nothing can be added up.  -ENOMEM.
 */
int merge_metrics(struct result_run *merged, const struct result_run *runs, size_t count,
	struct err *e);
