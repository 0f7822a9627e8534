/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * How far a run is and how long it will still take.  The time that is left follows from
 * the cells that are done, each arm by its own mean, since arms differ; before the first
 * cell is done nothing is claimed.
 */

#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

struct progress_arm {
	uint64_t total_ns;
	uint32_t cells;
};

struct progress {
	struct progress_arm *arms;
	size_t arm_count;
	uint32_t blocks;
	uint32_t cells_done;
	uint64_t cell_begun_ns;
};

int progress_init(struct progress *p, size_t arms, uint32_t blocks, struct err *e);
void progress_deinit(struct progress *p);

void progress_begin_cell(struct progress *p, uint64_t now_ns);
void progress_end_cell(struct progress *p, size_t arm, uint64_t now_ns);

/* A cell that was measured by an earlier process. */
void progress_add_cell(struct progress *p, size_t arm, uint64_t duration_ns);

/* Nanoseconds until the end of the run, now being in a cell of that arm; UINT64_MAX: not
 * known yet. */
uint64_t progress_left_ns(const struct progress *p, size_t arm, uint64_t now_ns);

/* Of a whole block; UINT64_MAX: not known yet. */
uint64_t progress_block_ns(const struct progress *p);
