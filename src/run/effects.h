/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What the primary metric was in each block and arm, as far as it is measured: the number
 * of blocks follows from it.  It can be filled from the runs of a bundle as well.
 */

#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "plan/schedule.h"
#include "result/result.h"

struct effects {
	size_t arms;
	uint32_t blocks, room;
	double *values; /* block by block, of all arms; NAN: none */
};

int effects_init(struct effects *f, size_t arms, struct err *e);
void effects_deinit(struct effects *f);

/* Keeps the value of the metric (WORKLOAD/PHASE/METRIC) if the run has it. */
int effects_take(struct effects *f, const char *primary, const struct result_run *run,
	uint32_t block, size_t arm, struct err *e);

/* Keeps the value that another set has in one of its places, if it has one. */
int effects_copy(struct effects *f, uint32_t block, size_t arm,
	const struct effects *from, uint32_t from_block, size_t from_arm, struct err *e);

/* Forgets a block. */
void effects_drop(struct effects *f, uint32_t block);

/* What follows from the first `blocks` blocks. */
int effects_schedule(const struct effects *f, const struct schedule *s, uint32_t blocks,
	struct schedule_step *out, struct err *e);
