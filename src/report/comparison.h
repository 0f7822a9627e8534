/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The arithmetic of a comparison: every metric of every run is collected under its path,
 * and each arm is compared with the first one over the blocks that have both.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "result/bundle.h"
#include "stats/verdict.h"

struct sample {
	uint32_t block;
	uint32_t position;
	uint32_t arm; /* index */
	double value; /* NAN: measured, but without a value */
};

/* A phase that was over sooner says more about where the head was than about a rate. */
#define COMPARISON_SHORTEST_NS UINT64_C(200000000)

/* All values of one metric. */
struct series {
	char *workload, *phase, *metric;
	enum result_unit unit;
	enum result_direction direction;
	bool too_short; /* the phase took less than COMPARISON_SHORTEST_NS at least once
			 */
	struct sample *samples;
	size_t count;
};

struct comparison {
	struct series **series; /* as they were first seen, in a report the primary first */
	size_t count;
	void *index; /* tsearch(3) */
};

/* Adds all metrics of a run of that arm.  -ENOMEM; -EBADMSG when a metric changed its
 * unit. */
int comparison_add_run(
	struct comparison *c, const struct result_run *run, uint32_t arm, struct err *e);
void comparison_deinit(struct comparison *c);

struct comparison_result {
	size_t blocks;	     /* that have both arms */
	double first_median; /* over those blocks; NAN when blocks is 0 */
	double median;
	double ratio; /* median / first_median; NAN when it has no meaning */
	struct contrast contrast; /* over the blocks; see stats/verdict.h */
	struct interval stein; /* of the log ratio; only after a pilot with a target */
};

/* Compares an arm with arm 0; arm 0 with itself gives its median over all its blocks.
 * -ENOMEM; -EBADMSG when the metric was measured twice in one cell. */
int comparison_compare(const struct series *s, uint32_t arm,
	const struct bundle_design *design, struct comparison_result *out, struct err *e);
