/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The tracer of an arm: records the events of its volumes, journals and disks between two
 * calls and makes a timeline of them.  Recording costs time, so the figures of a traced
 * run are not compared with those of one that is not.
 */

#include <sys/types.h>

#include "core/err.h"
#include "evidence/timeline_make.h"

struct tracer; /* opaque */

enum { TRACER_VOLUMES_MAX = 16 };

struct tracer_setup {
	dev_t volumes[TRACER_VOLUMES_MAX];
	size_t volume_count;
	struct trace_map map;
	pid_t process; /* that its name in tracefs tells; 0: this one */
};

/* Copies the setup.  No tracefs: -ENOENT, no right: -EACCES or -EPERM, as of
 * tracefs_open(). */
int tracer_new(struct tracer **out, const struct tracer_setup *setup, struct err *e);

/* Removes everything of it from tracefs. */
struct tracer *tracer_free(struct tracer *t);
DEFINE_CLEANUP(struct tracer *, tracer_free)

/* The start and the end of what is recorded; what fails is kept for tracer_take().  The
 * end returns the number by which the timeline can be had, 0: none. */
void tracer_begin(struct tracer *t);
uint32_t tracer_end(struct tracer *t);

/* Hands over the timeline of that number; NULL: taken already or never made.  The first
 * thing that failed since the last call is returned and forgotten. */
int tracer_take(struct tracer *t, uint32_t number, struct timeline **out, struct err *e);

/* Forgets the timelines that nobody took. */
void tracer_forget(struct tracer *t);
