/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The tables of a report, made from its runs; for report.c. */

#include "report/cells.h"
#include "report/comparison.h"
#include "report/report.h"

/* Fill r->tables from r->comparison and r->bundle.  -ENOMEM, -EBADMSG. */
int tables_make(struct report *r, struct err *e);

/* comparison_table.c: TABLE_COMPARISON and TABLE_VALUES from r->comparison. */
extern const struct report_column comparison_columns[COMPARISON_COLUMNS];
extern const struct report_column values_columns[VALUES_COLUMNS];
int comparison_tables_make(struct report *r, struct err *e);

/* factor_table.c: TABLE_FACTORS from r->factors and r->comparison. */
extern const struct report_column factors_columns[FACTORS_COLUMNS];
int factor_table_make(struct report *r, struct err *e);

/* drift_table.c: TABLE_DRIFT from r->comparison, and what is remarked about it. */
extern const struct report_column drift_columns[DRIFT_COLUMNS];
int drift_table_make(struct report *r, struct err *e);
int drift_remark(struct report *r, struct err *e);

/* invalid_table.c: TABLE_INVALID, and what is remarked about it. */
extern const struct report_column invalid_columns[INVALID_COLUMNS];
int invalid_table_make(struct report *r, struct err *e);
int invalid_remarks(struct report *r, struct err *e);

/* ledger_table.c: TABLE_LEDGER and TABLE_AUDIT from r->arms. */
extern const struct report_column ledger_columns[LEDGER_COLUMNS];
int ledger_tables_make(struct report *r, struct err *e);

/* trace_tables.c: the tables of traces from r->traces. */
extern const struct report_column traces_columns[TRACES_COLUMNS];
extern const struct report_column transactions_columns[TRANSACTIONS_COLUMNS];
extern const struct report_column steps_columns[STEPS_COLUMNS];
int trace_tables_make(struct report *r, struct err *e);

/* surroundings_tables.c: TABLE_CONFOUNDS, TABLE_PLACES and TABLE_FOREIGN. */
extern const struct report_column confounds_columns[CONFOUNDS_COLUMNS];
extern const struct report_column places_columns[PLACES_COLUMNS];
extern const struct report_column foreign_columns[FOREIGN_COLUMNS];
int surroundings_tables_make(struct report *r, struct err *e);

/* thread_table.c, percentile_table.c, flush_table.c, environment_table.c: their tables. */
extern const struct report_column threads_columns[THREADS_COLUMNS];
int thread_table_make(struct report *r, struct err *e);
extern const struct report_column percentiles_columns[PERCENTILES_COLUMNS];
int percentile_table_make(struct report *r, struct err *e);
extern const struct report_column flushes_columns[FLUSHES_COLUMNS];
int flush_table_make(struct report *r, struct err *e);
extern const struct report_column environment_columns[ENVIRONMENT_COLUMNS];
int environment_table_make(struct report *r, struct err *e);

/* Adds what the devices of a role wrote and flushed; see ledger_table.c. */
void ledger_add_role(const struct result_evidence *v, unsigned role, uint64_t *bytes,
	uint64_t *flushes);
