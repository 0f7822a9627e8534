/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * How many blocks are measured.  A pure function of the plan and of what the primary
 * metric was in the blocks so far: asked again with the same values, after an
 * interruption for instance, it gives the same answer.
 *
 *	fixed	as many as the plan says.
 *	Stein	a pilot, whose spread says how many blocks the wanted half-width of the
 *		interval needs; no test in between, so the level holds.
 *	looks	a test after 6, 12, 24 and 48 blocks, each with its share of the error
 *		probability; the end is where every arm is decided.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/order.h"

enum schedule_kind { SCHEDULE_FIXED, SCHEDULE_STEIN, SCHEDULE_LOOKS };

struct schedule {
	enum schedule_kind kind;
	uint32_t blocks; /* of the pilot; fixed: all */
	uint32_t max;	 /* never more than these */
	double target;	 /* Stein: wanted half-width, 0.03 is 3 % */
	double margin;	 /* looks: 0.03 means that a difference of 3 % does not matter */
};

/* Log ratios of the primary metric to the first arm, one for each block; NAN for a block
 * without a valid value.  One array for each arm but the first. */
struct schedule_effects {
	const double *const *d;
	size_t arms;   /* without the first */
	size_t blocks; /* that are done */
};

struct schedule_step {
	uint32_t blocks; /* in all; when so many are done it is over */
	struct order_stage stage; /* of the next block, if there is one */
	double level; /* at which the result is judged: 0.95, with looks closer to 1 */
	bool announce; /* a decision fell just now */
	uint32_t wanted; /* Stein: without the cap; 0: the pilot has too few valid blocks */
	double sd; /* Stein: of the pilot, of the arm with the largest; NAN: not known */
};

void schedule_next(
	const struct schedule *s, const struct schedule_effects *f, struct schedule_step *out);

/* Before anything was measured: the level of the end, and the blocks as far as known. */
double schedule_level(const struct schedule *s);
