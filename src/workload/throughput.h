/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The workload `throughput`, inside: what a crew of children does in a phase, and the
 * figures that iozone prints about it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workload/engine.h"
#include "workload/files.h"
#include "workload/pace.h"
#include "workload/syncing.h"

/* What a child had done when its statistics froze, or at its end. */
struct throughput_child {
	uint64_t bytes, elapsed_ns;
};

/*
 * As iozone defines them.  The first child to finish raises the stonewall; at the next
 * record the others freeze their own bytes and time, and go on to the end of their file.
 */
struct throughput_figures {
	double children; /* sum over children of bytes / own time, bytes per second */
	double parent;	 /* sum of these bytes / time of the parent, until all are joined */
	double min, max, avg; /* of bytes / own time */
	uint64_t min_xfer;    /* fewest bytes of a child */
};

struct throughput_figures throughput_figures(
	const struct throughput_child *children, size_t count, uint64_t parent_ns);

struct throughput_phase {
	const char *title;   /* for progress */
	const struct files *files; /* child i works on paths[i] */
	unsigned children;
	bool processes, stonewall;
	bool write, random, create;
	bool with_close; /* close is part of a child's time */
	int open_flags;
	struct syncing sync; /* calls: part of a child's time */
	struct pace pace;
	uint64_t record_bytes, records; /* of each child */
	uint64_t seed;
};

struct throughput_outcome {
	struct engine_outcome engine; /* all bytes, also those after the stonewall */
	struct throughput_figures figures;
	uint64_t first_done_ns, last_done_ns; /* from the release of the children */
};

/* Runs the phase.  Errors as engine_run(); a child that was killed is one. */
int throughput_run_crew(const struct throughput_phase *p, const struct workload_env *env,
	struct throughput_outcome *o, struct err *e);

/* The i-th of n numbers in an order that key shuffles: each comes once. */
uint64_t throughput_shuffled(uint64_t i, uint64_t n, uint64_t key);
