/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The commits of one volume as the kernel's tracer tells them: how long each flushed data
 * and wrote its log, and how often the log was full.  jbd2's own account is rounded to
 * ticks and averaged since the mount; this is neither.  The tracer is an instance of our
 * own, and the volume is not touched.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/err.h"

struct commits; /* opaque */

/* The busiest stretch is looked for in steps of this. */
#define COMMITS_STRETCH_NS UINT64_C(5000000000)

struct commits_sum {
	uint64_t covered_ns; /* less than the whole when events were lost */
	uint64_t lost;	     /* events */
	uint64_t count;
	uint64_t locked_ns, flushing_ns, logging_ns; /* of all commits */
	uint64_t longest_ns;			     /* of one, from locking to its end */
	uint64_t logged_blocks;
	uint64_t most_blocks;	   /* of one commit */
	uint64_t stretch_blocks; /* logged in the busiest stretch */
	uint64_t full; /* how often somebody had to empty the log to go on */
};

/* volume is the device of the file system, also of an external journal.  Where nothing can
 * be traced: -ENOENT, -EACCES or -EPERM with a reason. */
int commits_open(struct commits **out, dev_t volume, struct err *e);
struct commits *commits_close(struct commits *c);
DEFINE_CLEANUP(struct commits *, commits_close)

int commits_start(struct commits *c, struct err *e);

/* Ends the recording that began at begun_ns and adds it up. */
int commits_finish(struct commits *c, uint64_t begun_ns, struct commits_sum *sum,
	struct err *e);

/* One line of a trace, for commits_finish() and for tests; what is no event of ours does
 * nothing.  The reader begins as zero, but for from_ns. */
struct commits_reader {
	uint64_t from_ns; /* earlier events do not count */
	uint64_t locking_ns, flushing_ns, logging_ns; /* of the commit at work; 0: not seen */
	uint64_t stretch, stretch_blocks;	      /* the one at work */
	struct commits_sum sum;
};
void commits_read_line(struct commits_reader *rd, const char *line);
