/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A report: what a bundle says, computed but not formatted.  Tables of typed cells under
 * columns that are described once, and for the classic layouts the runs themselves,
 * merged for each workload and arm.  Renderers turn it into text and compute nothing.
 */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "core/strbuf.h"
#include "report/rows.h"
#include "result/bundle.h"

/* Below this, a difference cannot be told from noise by any test worth its name. */
#define REPORT_BLOCKS_FOR_A_STATEMENT 6

enum cell_type {
	CELL_MISSING,
	CELL_TEXT,
	CELL_COUNT,
	CELL_YES_NO,
	CELL_RATIO,
	CELL_BYTES_PER_SECOND,
	CELL_OPERATIONS_PER_SECOND,
	CELL_NANOSECONDS,
	CELL_FRACTION,
	CELL_BYTES,
	CELL_NUMBER,
};

struct report_cell {
	enum cell_type type;
	const char *text; /* CELL_TEXT; lives as long as the report */
	uint64_t count;	  /* CELL_COUNT, CELL_YES_NO */
	double number;	  /* the others */
};

/* What stands in a column: its cells are of that type, or missing.  Unit and alignment
 * follow from it, see columns.h. */
enum column_type {
	TYPE_TEXT,
	TYPE_COUNT,
	TYPE_YES_NO,
	TYPE_RATIO,
	TYPE_NUMBER,
	TYPE_FRACTION,
	TYPE_BYTES,
	TYPE_NANOSECONDS,
	TYPE_VALUE, /* in the unit that the column "unit" of the row names */
	COLUMN_TYPES
};

struct report_column {
	const char *key;   /* JSON and CSV */
	const char *title; /* for people */
	const char *help;  /* what it is */
	enum column_type type;
};

struct report_table {
	const char *key;
	const char *title; /* for people */
	const struct report_column *columns;
	size_t column_count;
	struct report_cell *cells; /* row by row */
	size_t row_count;
};

/* The tables, by their place in struct report. */
enum report_table_id {
	TABLE_ARMS,
	TABLE_COMPARISON,
	TABLE_VALUES,
	TABLE_LEDGER, /* one row for each phase of each run */
	TABLE_AUDIT,  /* the same, summed over the runs of an arm */
	TABLE_FACTORS, /* effects of the levels of [grid] and "levels" */
	TABLE_TRACES, /* one row for each traced phase of a run */
	TABLE_TRANSACTIONS,
	TABLE_STEPS, /* of the fsync that a trace takes apart */
	TABLE_DRIFT,   /* of each metric in each arm, and its outliers */
	TABLE_INVALID, /* cells that broke a rule */
	TABLE_CONFOUNDS, /* what a reviewer would hold against it */
	TABLE_PLACES,	 /* where the files of workloads lay */
	TABLE_FOREIGN,	 /* I/O of each device in each cell, and what others did of it */
	TABLE_THREADS,	   /* rates by the number of threads */
	TABLE_PERCENTILES, /* of latencies, over all runs of an arm */
	TABLE_FLUSHES,	   /* the ledger by device */
	TABLE_ENVIRONMENT, /* fact by fact, before and after */
	TABLE_COUNT
};

/* Columns of TABLE_ARMS, TABLE_COMPARISON and TABLE_VALUES. */
enum { ARMS_ARM, ARMS_PLACEMENT, ARMS_MOUNT, ARMS_LEVELS, ARMS_CELLS, ARMS_COLUMNS };
enum {
	COMPARISON_WORKLOAD,
	COMPARISON_PHASE,
	COMPARISON_METRIC,
	COMPARISON_UNIT,
	COMPARISON_DIRECTION,
	COMPARISON_ARM,
	COMPARISON_FIRST_ARM,
	COMPARISON_FIRST_MEDIAN,
	COMPARISON_MEDIAN,
	COMPARISON_RATIO,
	COMPARISON_ESTIMATE,
	COMPARISON_LOW,
	COMPARISON_HIGH,
	COMPARISON_P,
	COMPARISON_P_HOLM,
	COMPARISON_T_LOW,
	COMPARISON_T_HIGH,
	COMPARISON_T_P,
	COMPARISON_STEIN_LOW,
	COMPARISON_STEIN_HIGH,
	COMPARISON_DETECTABLE,
	COMPARISON_VERDICT,
	COMPARISON_BLOCKS,
	COMPARISON_TOO_SHORT,
	COMPARISON_PRIMARY,
	COMPARISON_SHOWN,
	COMPARISON_COLUMNS
};
enum {
	VALUES_WORKLOAD,
	VALUES_PHASE,
	VALUES_METRIC,
	VALUES_UNIT,
	VALUES_DIRECTION,
	VALUES_ARM,
	VALUES_BLOCK,
	VALUES_POSITION,
	VALUES_VALUE,
	VALUES_COLUMNS
};

enum {
	FACTORS_FACTOR,
	FACTORS_LEVEL,
	FACTORS_FIRST_LEVEL,
	FACTORS_WORKLOAD,
	FACTORS_PHASE,
	FACTORS_METRIC,
	FACTORS_DIRECTION,
	FACTORS_ESTIMATE,
	FACTORS_LOW,
	FACTORS_HIGH,
	FACTORS_P,
	FACTORS_P_HOLM,
	FACTORS_DETECTABLE,
	FACTORS_VERDICT,
	FACTORS_BLOCKS,
	FACTORS_PAIRS,
	FACTORS_PRIMARY,
	FACTORS_SHOWN,
	FACTORS_COLUMNS
};

/* TABLE_LEDGER and TABLE_AUDIT have the same columns; runs is 1 in the former, and block
 * is missing in the latter. */
enum {
	LEDGER_WORKLOAD,
	LEDGER_PHASE,
	LEDGER_ARM,
	LEDGER_BLOCK,
	LEDGER_RUNS,
	LEDGER_SYNCS,
	LEDGER_COMMITS,
	LEDGER_DATA_FLUSHES,
	LEDGER_JOURNAL_FLUSHES,
	LEDGER_BYTES,
	LEDGER_DATA_BYTES,
	LEDGER_JOURNAL_BYTES,
	LEDGER_AMPLIFICATION,
	LEDGER_CACHE_SHARE,
	LEDGER_VERDICT,
	LEDGER_REASON,
	LEDGER_COLUMNS
};

/* Traces.  The first four columns are the same in all three tables. */
enum {
	TRACES_WORKLOAD,
	TRACES_PHASE,
	TRACES_ARM,
	TRACES_BLOCK,
	TRACES_EVENTS,
	TRACES_LOST,
	TRACES_FSYNCS,
	TRACES_MEDIAN,
	TRACES_DURATION,
	TRACES_IDLE,
	TRACES_DATA_ONLY,
	TRACES_TRANSACTIONS,
	TRACES_WAIT,
	TRACES_RUNNING,
	TRACES_LOCKED,
	TRACES_FLUSHING,
	TRACES_LOGGING,
	TRACES_LOGGED,
	TRACES_SHOWN,
	TRACES_COLUMNS
};
enum {
	TRANSACTIONS_WORKLOAD,
	TRANSACTIONS_PHASE,
	TRANSACTIONS_ARM,
	TRANSACTIONS_BLOCK,
	TRANSACTIONS_TID,
	TRANSACTIONS_WAIT,
	TRANSACTIONS_RUNNING,
	TRANSACTIONS_LOCKED,
	TRANSACTIONS_FLUSHING,
	TRANSACTIONS_LOGGING,
	TRANSACTIONS_HANDLES,
	TRANSACTIONS_BLOCKS,
	TRANSACTIONS_LOGGED,
	TRANSACTIONS_COLUMNS
};
enum {
	STEPS_WORKLOAD,
	STEPS_PHASE,
	STEPS_ARM,
	STEPS_BLOCK,
	STEPS_STEP,
	STEPS_START,
	STEPS_DURATION,
	STEPS_WHAT,
	STEPS_TEXT,
	STEPS_DISK,
	STEPS_REQUESTS,
	STEPS_BYTES,
	STEPS_COLUMNS
};
enum {
	DRIFT_WORKLOAD,
	DRIFT_PHASE,
	DRIFT_METRIC,
	DRIFT_ARM,
	DRIFT_BLOCKS,
	DRIFT_CHANGE,
	DRIFT_P,
	DRIFT_OUTLIERS,
	DRIFT_FIRST_OUTLIER,
	DRIFT_SHOWN,
	DRIFT_COLUMNS
};
enum {
	INVALID_BLOCK,
	INVALID_ATTEMPT,
	INVALID_ARM,
	INVALID_RULE,
	INVALID_DETAIL,
	INVALID_REPEATED,
	INVALID_COLUMNS
};

enum { CONFOUNDS_ID, CONFOUNDS_SENTENCE, CONFOUNDS_DETAIL, CONFOUNDS_COLUMNS };
enum {
	PLACES_WORKLOAD,
	PLACES_ARM,
	PLACES_BLOCK,
	PLACES_FILES,
	PLACES_EXTENTS,
	PLACES_FIRST,
	PLACES_LAST,
	PLACES_MEAN,
	PLACES_JOURNAL,
	PLACES_COLUMNS
};
enum {
	FOREIGN_ARM,
	FOREIGN_BLOCK,
	FOREIGN_DISK,
	FOREIGN_ROLE,
	FOREIGN_READ,
	FOREIGN_WRITTEN,
	FOREIGN_READ_FOREIGN,
	FOREIGN_WRITTEN_FOREIGN,
	FOREIGN_COLUMNS
};

enum {
	THREADS_WORKLOAD,
	THREADS_PHASE,
	THREADS_METRIC,
	THREADS_UNIT,
	THREADS_ARM,
	THREADS_THREADS,
	THREADS_BLOCKS,
	THREADS_LOW,
	THREADS_MEDIAN,
	THREADS_HIGH,
	THREADS_COLUMNS
};
enum {
	PERCENTILES_WORKLOAD,
	PERCENTILES_PHASE,
	PERCENTILES_ARM,
	PERCENTILES_OF,
	PERCENTILES_COUNT,
	PERCENTILES_FRACTION,
	PERCENTILES_LATENCY,
	PERCENTILES_COLUMNS
};
enum {
	FLUSHES_WORKLOAD,
	FLUSHES_PHASE,
	FLUSHES_ARM,
	FLUSHES_ROLE,
	FLUSHES_DEVICE,
	FLUSHES_SYNCS,
	FLUSHES_FLUSHES,
	FLUSHES_PER_SYNC,
	FLUSHES_BYTES,
	FLUSHES_PER_BYTE,
	FLUSHES_COLUMNS
};
enum {
	ENVIRONMENT_FACT,
	ENVIRONMENT_BEFORE,
	ENVIRONMENT_AFTER,
	ENVIRONMENT_DIFFERS,
	ENVIRONMENT_COLUMNS
};

/* One workload in one arm. */
struct report_workload {
	char *name, *type;
	struct result_run merged; /* see merge.h */
	struct result_run *runs;  /* in the order of measuring, without histograms */
	size_t run_count;
};

struct report_arm {
	struct report_workload *workloads;
	size_t workload_count;
};

struct report {
	struct bundle bundle; /* taken over by report_build() */
	struct report_table tables[TABLE_COUNT];
	struct report_rows rows;       /* which blocks count */
	struct report_arm *arms;       /* as many as the bundle has */
	size_t blocks;		       /* begun */
	size_t complete_blocks;	       /* that have every arm */
	struct comparison *comparison; /* the texts in cells point into it */
	struct factors *factors;       /* texts in cells point into it, too */
	char **texts; /* that cells point into and nothing else owns */
	size_t text_count;
	struct calibration_value {
		uint32_t block, position;
		double value; /* of the primary metric */
	} *calibration;
	size_t calibration_count;
	char **remarks;		       /* sentences that belong under the results */
	size_t remark_count;
	/* Set by a signal: whoever waits for a program ends it.  NULL: there is none. */
	const volatile sig_atomic_t *stop;
	struct timeline **traces; /* the texts of their tables point into them */
	size_t trace_count;
};

/* Reads the runs of a loaded bundle, which is moved into the report, also on error (then
 * it is freed).  -EBADMSG (ERR_USAGE) when they do not fit the bundle. */
int report_build(struct report *r, struct bundle *bundle, struct err *e);

/* The same for the bundle at path; the errors of bundle_load() as well. */
int report_load(struct report *r, const char *path, struct err *e);

/* The same for a bundle that is in memory only, with its one run, which is moved. */
int report_build_run(struct report *r, struct bundle *bundle, struct result_run *run,
	struct err *e);
void report_deinit(struct report *r);

/* All tables without rows: what their columns are. */
extern const struct report_table report_table_kinds[TABLE_COUNT];

/* NULL when there is no table of that key. */
const struct report_table *report_find_table(const struct report *r, const char *key);

/* Renderers append to a buffer.  Those of a table take any, also a choice of columns. */
int render_text(const struct report *r, struct strbuf *out, struct err *e);
/* Of it the header, the summary and the comparison. */
int render_overview(const struct report *r, struct strbuf *out, struct err *e);
int render_json(const struct report *r, struct strbuf *out, struct err *e);
int render_table(const struct report_table *t, struct strbuf *out, struct err *e);

/* What the JSON of a report looks like, as a JSON Schema. */
int render_json_schema(struct strbuf *out, struct err *e);

/* The effects of the factors in 80 columns; nothing when there are none. */
int render_factors(const struct report *r, struct strbuf *out, struct err *e);

/* The audit in 80 columns.  all: also phases in which nothing was synced. */
int render_audit(const struct report *r, bool all, struct strbuf *out, struct err *e);

/* What is to be held against the experiment and what was around it, in 80 columns. all:
 * also what the report says elsewhere, places, and the environment. */
int render_surroundings(const struct report *r, bool all, struct strbuf *out, struct err *e);

/* What was traced, in 80 columns; nothing when nothing was. */
int render_traces(const struct report *r, struct strbuf *out, struct err *e);

/* Did the syncs of some phase not reach their device? */
bool report_audit_failed(const struct report *r);
