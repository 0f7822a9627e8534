/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Several runs of a workload in one cell, which count as one. */

#include "result/result.h"

/*
 * Makes *out, which is zero, of the runs: counters, times and evidence are summed, the
 * histograms merged; of metrics that do not follow from these the median is taken.  One
 * run is moved.  -ENOMEM; a phase whose times are unknown cannot be repeated: ERR_USAGE.
 */
int repetitions_merge(struct result_run *out, struct result_run *runs, size_t count,
	struct err *e);
