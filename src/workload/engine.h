/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The engine runs the same work in several threads and measures it.  A workload supplies
 * three functions:
 *
 *   prepare  opens files and fills buffers; not timed
 *   thread   the work itself, timed from the common release of all threads to the last
 *            one's end; whatever belongs to the result (fsync, close) belongs in here
 *   finish   frees; not timed; called for every thread whose prepare was called
 *
 * The body of a thread is a loop of the form
 *
 *	while (engine_next(t)) {
 *		... one operation of n bytes ...
 *		engine_done(t, n);
 *	}
 *
 * engine_done() takes the only time stamp: the end of one operation is the start of the
 * next, so what a thread does between two operations counts as latency of the second.
 *
 * A workload that is paced or limited in time asks engine_next_paced() instead: it waits
 * for the operation's turn, and the time of waiting is no latency.  With a rate (open
 * loop) latency counts from when the operation should have begun, so that a stall shows
 * in all operations that it held up and not in one.
 *
 * A thread owns its counters, histograms and error, on cache lines of its own; they are
 * merged after all have ended.  The first error ends all threads.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "core/ticks.h"
#include "result/result.h"
#include "stats/hist.h"
#include "workload/pace.h"
#include "workload/random.h"
#include "workload/workload.h"

struct engine;

struct engine_thread {
	uint64_t operations, bytes, syncs;
	uint64_t begun_ticks; /* start of the operation in progress */
	struct ticks ticks;
	const int *quit;      /* not 0: somebody failed, or a signal came */
	struct random random; /* seeded for this thread */
	void *own;	      /* the workload's, NULL before prepare */
	const void *work;     /* engine_job.work */
	unsigned index;	      /* 0 .. threads - 1 */
	bool background;      /* set by prepare: neither counted nor waited for */

	/* The rest is the engine's. */
	struct engine *engine;
	uint64_t started_ns, ended_ns;
	struct pacer pacer;
	bool prepared;
	int status; /* what prepare or thread returned */
	struct err err;
	struct hist latency, sync_latency;
};

struct engine_ops {
	int (*prepare)(struct engine_thread *t, struct err *e);
	int (*thread)(struct engine_thread *t, struct err *e);
	void (*finish)(struct engine_thread *t);
};

struct engine_job {
	const struct engine_ops *ops;
	const void *work;  /* shared by all threads, not changed while they run */
	const char *title; /* for progress: "tio read/t4" */
	unsigned threads;
	uint64_t seed;
	uint64_t expected_bytes; /* for progress; 0: unknown */
	struct pace pace; /* for engine_next_paced() */
};

/* What several runs of the engine gave together. */
struct engine_outcome {
	struct result_counters counters;
	struct hist latency, sync_latency;
	struct result_evidence evidence; /* with an observer only */
	bool observed;
	uint64_t start_spread_ns; /* worst: release to the last thread's first instruction
				   */
};

void engine_outcome_init(struct engine_outcome *o);

/*
 * Runs the job and adds what it did to *o: counters and wall times are summed, histograms
 * merged; counters.threads becomes job->threads.  CPU time is that of the whole process
 * between release and end.  On error (the first thread's that failed, or ERR_INTERRUPTED
 * when *env->stop was set) *o is not changed.
 */
int engine_run(const struct engine_job *job, const struct workload_env *env,
	struct engine_outcome *o, struct err *e);

/* Appends a phase with these counters and histograms (copies) and the metrics that follow
 * from them. */
int engine_outcome_add_phase(const struct engine_outcome *o, struct result_run *run,
	const char *name, const char *title, struct result_phase **out, struct err *e);

/* May the thread begin another operation? */
static inline bool engine_next(const struct engine_thread *t)
{
	return !__atomic_load_n(t->quit, __ATOMIC_RELAXED);
}

/* As engine_next(), after waiting for the operation's turn. */
bool engine_next_paced(struct engine_thread *t);

/* The ticks of a moment (monotonic nanoseconds) that has passed. */
uint64_t engine_ticks_of(const struct engine_thread *t, uint64_t ns);

/* Have all threads but those in the background ended? */
bool engine_foreground_ended(const struct engine_thread *t);

/* An operation has ended; bytes it moved. */
static inline void engine_done(struct engine_thread *t, uint64_t bytes)
{
	uint64_t now = ticks_now(&t->ticks);

	hist_record(&t->latency, ticks_between_ns(&t->ticks, t->begun_ticks, now));
	t->begun_ticks = now;
	/* Atomic for the thread that shows progress; an ordinary store to the machine. */
	__atomic_store_n(&t->operations, t->operations + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&t->bytes, t->bytes + bytes, __ATOMIC_RELAXED);
}

/* fsync, or fdatasync, of fd, timed into the histogram of syncs.  name is for the
 * message. */
int engine_sync(
	struct engine_thread *t, int fd, bool data_only, const char *name, struct err *e);
