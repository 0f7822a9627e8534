/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Watching a mounted volume for a while: jbd2's account, the block layer's counters of its
 * device and of its journal's, and its commits where they can be traced.  Nothing but
 * /proc, /sys and an own tracer is opened, so the volume does not notice.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "advise/commits.h"
#include "core/err.h"
#include "core/log.h"
#include "evidence/diskstats.h"

struct watch_setup {
	const char *journal_name; /* as of jbd2_name() */
	dev_t volume;
	dev_t journal; /* external: its device; 0: inline */
	uint64_t duration_ns;
	const volatile sig_atomic_t *stop; /* set: end soon, with what is known; or NULL */
	const struct log *log;		   /* progress and what cannot be had; or NULL */
};

/* A total of which only this is known. */
struct watch_bound {
	double low, high;
};

struct watch {
	uint64_t elapsed_ns;
	bool stopped; /* before its time */
	uint64_t commits, requested;
	/* Of all commits, in ns, and blocks in the log: from jbd2's rounded means. */
	struct watch_bound flushing_ns, logging_ns, logged_blocks;
	double commit_ns; /* jbd2's sliding mean over the commits that were seen; 0: none */
	struct diskstats volume, journal; /* what was added; journal only of an external one */
	bool volume_counts, journal_counts; /* their counters could be read */
	bool traced;
	struct commits_sum trace; /* with traced */
	char untraced[160];	  /* without: why */
};

/* -ENOENT: there is no such journal, above all because nothing is mounted. */
int watch_run(struct watch *w, const struct watch_setup *setup, struct err *e);

/*
 * What a total grew by, from two means over n0 and n1 things since the mount, each rounded
 * down by less than step.  For tests.
 */
struct watch_bound watch_between(uint64_t n0, uint64_t mean0, uint64_t n1, uint64_t mean1,
	double step);
