/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * [grid]: arms made of factors.  A factor is something that the arms of an experiment
 * differ in, its levels are the values that it takes; the first level of each is the
 * baseline.
 *
 *	[grid]
 *	journal = inline external=fast
 *	data    = ordered writeback journal
 *
 * One factor at a time: the baseline, and for every other level an arm that differs from
 * the baseline in it alone: inline+ordered, external+ordered, inline+writeback,
 * inline+journal.  Full: every combination.  An arm that was made so keeps its levels as
 * text (plan_arm.levels), by which the report groups it.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"
#include "plan/experiment.h"
#include "plan/plan_keys.h"

/* In the order in which names of arms are put together. */
enum grid_factor {
	GRID_JOURNAL,
	GRID_SIZE,
	GRID_POSITION,
	GRID_DATA,
	GRID_COMMIT,
	GRID_FAST_COMMIT,
	GRID_MOUNT,
	GRID_FACTORS
};

enum { GRID_MAX_LEVELS = 16 };

struct grid_levels {
	char **words; /* as typed */
	size_t count; /* 0: the factor is not given */
};

struct grid {
	bool full; /* every combination; else one factor at a time */
	struct grid_levels factors[GRID_FACTORS];
};

enum { GRID_KEYS = GRID_FACTORS + 1 };
extern const struct plan_key grid_keys[GRID_KEYS]; /* their object is a struct grid */

/*
 * Puts the arms of the grid before those that the experiment has.  A combination that
 * cannot be is left out, and x->notes says which and why; where the level that cannot be
 * is the first of its factor, it is taken as "not applicable" and the arm stays: an
 * external journal stands in for position = start.  ERR_USAGE: a level that no arm has
 * for such reasons, an arm's name that is there already, too many arms.
 */
int grid_expand(const struct grid *g, struct experiment *x, struct err *e);
void grid_deinit(struct grid *g);
