/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What was measured: plain data, filled by a workload, kept in a bundle, read by reports.
 *
 * A run (one workload in one cell) has phases (sequential write, ...).  A phase is named
 * by the words that identify it across arms, for example "write/t4" for tiobench's
 * sequential writes with four threads.  It carries the raw counters from which the
 * classic tables are made, and metrics: named values with unit and direction, the only
 * thing that comparisons look at.  A metric's full path is WORKLOAD/PHASE/METRIC, e.g.
 * "dd/write/rate".
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "result/evidence.h"
#include "stats/hist.h"

enum result_direction { HIGHER_IS_BETTER, LOWER_IS_BETTER, NO_DIRECTION };

enum result_unit {
	UNIT_BYTES_PER_SECOND,
	UNIT_OPERATIONS_PER_SECOND,
	UNIT_NANOSECONDS,
	UNIT_FRACTION, /* 0.25 is shown as 25 % */
	UNIT_BYTES,
	UNIT_COUNT,
};

struct result_metric {
	char *name; /* "rate", "latency_p99", ... */
	enum result_unit unit;
	enum result_direction direction;
	double value;
};

/* Counters by name, for the mask of those that are unknown. */
enum result_counter {
	RESULT_REQUESTED_BYTES = 1 << 0,
	RESULT_BLOCK_BYTES = 1 << 1,
	RESULT_BYTES = 1 << 2,
	RESULT_OPERATIONS = 1 << 3,
	RESULT_WALL = 1 << 4,
	RESULT_USER = 1 << 5,
	RESULT_SYSTEM = 1 << 6,
	RESULT_SYNCS = 1 << 7,
	RESULT_THREADS = 1 << 8,
	RESULT_ALL_COUNTERS = (1 << 9) - 1,
};

/* Raw counters of a phase.  Those of our own engine are all known; a published table says
 * few of them, and what it does not say has its bit in unknown and the value 0. */
struct result_counters {
	uint64_t requested_bytes; /* size that was asked for */
	uint64_t block_bytes;
	uint32_t threads;
	uint32_t unknown;	  /* enum result_counter, or-ed */
	uint64_t bytes;		  /* really moved */
	uint64_t operations;	  /* really done */
	uint64_t wall_ns;	  /* release of the threads to the last one's end */
	uint64_t user_ns, system_ns; /* CPU of the whole process */
	uint64_t syncs; /* fsync and fdatasync calls, and writes to an O_(D)SYNC file */
};

/* What must be known to read the numbers of a phase that was not measured by us. */
enum result_mark {
	RESULT_PAGE_CACHE = 1 << 0,   /* reads that no device has served */
	RESULT_RECOVERED = 1 << 1,    /* rate = CPU efficiency times CPU: it was "######" */
	RESULT_NOT_SYNCED = 1 << 2,   /* written without any sync */
	RESULT_INFLATED = 1 << 3,     /* random rate counted with the blocks of the file */
	RESULT_IMPOSSIBLE = 1 << 4,   /* rate above threads times block / latency */
	RESULT_LATENCY_SUM = 1 << 5,  /* latencies added up over several runs */
	RESULT_CPU_SUM = 1 << 6,      /* CPU of the process counted once for each thread */
	RESULT_CORRECTED = 1 << 7,    /* a known fault of the source was taken out */
	RESULT_MARKS = 8,	      /* how many there are */
};

/* What was done about the page cache before a phase. */
enum result_cache {
	RESULT_CACHE_KEPT,    /* nothing, or nothing is known */
	RESULT_CACHE_ADVISED, /* posix_fadvise on the files of the workload */
	RESULT_CACHE_DROPPED, /* /proc/sys/vm/drop_caches, the whole machine */
};

struct result_phase {
	char *name;	/* "write/t4": unique in its run */
	char *title;	/* "Sequential Writes" */
	enum result_cache cache;
	unsigned marks; /* enum result_mark, or-ed */
	struct result_counters counters;
	struct hist *latency;	   /* per operation; NULL when not measured */
	struct hist *sync_latency; /* per fsync; NULL when there was none */
	struct result_evidence *evidence; /* NULL: not taken */
	struct result_metric *metrics;
	size_t metric_count;
};

/* For what a run was made: only those that are measured count. */
enum result_stage {
	STAGE_MEASURE,
	STAGE_WARMUP,	 /* so that the next one finds everything warm */
	STAGE_CALIBRATE, /* the first arm against itself; position says which of the two */
};

struct result_run {
	char *workload; /* name of the workload's section, "tio" */
	char *type;	/* "tiobench" */
	char *arm;	/* "" outside an experiment */
	enum result_stage stage;
	uint32_t block; /* number of the block, from 0 */
	uint32_t position; /* place of the arm in its block, from 0 */
	uint64_t started_wall_ns;
	struct result_phase *phases;
	size_t phase_count;
};

/* A new phase at the end of the run, with name and title copied and everything else zero;
 * *out points into the run and is valid until the next call.  -ENOMEM. */
int result_run_add_phase(struct result_run *run, const char *name, const char *title,
	struct result_phase **out, struct err *e);

/* Appends a metric.  -ENOMEM. */
int result_phase_add_metric(struct result_phase *phase, const char *name,
	enum result_unit unit, enum result_direction direction, double value,
	struct err *e);

/* The metrics that every I/O phase has, computed from counters and histograms: rate,
 * operations, latency_mean, latency_p50, _p90, _p95, _p99, _p999 (99.9 %), latency_max,
 * and sync_* for the histogram of syncs. */
int result_phase_derive_metrics(struct result_phase *phase, struct err *e);

/* Does somebody know this counter? */
static inline bool result_knows(
	const struct result_counters *c, enum result_counter counter)
{
	return !(c->unknown & counter);
}

/* NULL when there is none of that name. */
const struct result_metric *result_phase_metric(const struct result_phase *phase,
	const char *name);

/* The metric of a path WORKLOAD/PHASE/METRIC, where PHASE may contain slashes; NULL when
 * the run does not have it. */
const struct result_metric *result_run_metric(
	const struct result_run *run, const char *path);

void result_run_deinit(struct result_run *run);
