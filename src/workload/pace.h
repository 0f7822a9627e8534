/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * When operations begin: as fast as they go, after a pause, or at fixed times (open loop),
 * and until when.  The caller does the waiting, because what else it has to do meanwhile
 * differs.
 */

#include <stdbool.h>
#include <stdint.h>

struct pace {
	double rate;	     /* operations per second of all threads together; 0: closed */
	uint64_t think_ns;   /* pause of a thread before each operation but its first */
	uint64_t runtime_ns; /* no operation begins after it; 0: no limit */
};

/* One thread's turns. */
struct pacer {
	const struct pace *pace;
	uint64_t start_ns; /* of all threads */
	unsigned index, threads;
	uint64_t turns; /* operations that pacer_next() let begin */
};

/*
 * The next operation: false when its time would lie behind the end of runtime, else true
 * and *due_ns when it is to begin (monotonic; 0: at once).  The n-th operation of a thread
 * is due n intervals after the start; threads are spread over the first interval.
 */
bool pacer_next(struct pacer *p, uint64_t *due_ns);

/* Sleeps until due_ns, to the nanosecond, or until *quit is not 0; false: it is not. */
bool pace_sleep(uint64_t due_ns, const int *quit);
