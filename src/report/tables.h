/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The tables of a report, made from its runs; for report.c. */

#include "report/comparison.h"
#include "report/report.h"

/* Fill r->tables from r->comparison and r->bundle.  -ENOMEM, -EBADMSG. */
int tables_make(struct report *r, struct err *e);
void table_deinit(struct report_table *t);

/* An empty table with room for that many rows; next row; cells. */
int table_make(struct report *r, enum report_table_id id, size_t rows, struct err *e);
struct report_cell *table_next_row(struct report_table *t);
struct report_cell cell_text(const char *text);
struct report_cell cell_count(uint64_t count);
struct report_cell cell_yes_no(bool yes);
struct report_cell cell_number(enum cell_type type, double number); /* NAN: missing */

/* Is it what the experiment is about; is it in the text; words of the verdicts. */
bool report_is_primary(const struct report *r, const struct series *s);
bool report_is_shown(const struct report *r, const struct series *s);
extern const char *const report_verdict_words[];

/* factor_table.c: TABLE_FACTORS from r->factors and r->comparison. */
extern const struct report_column factors_columns[FACTORS_COLUMNS];
int factor_table_make(struct report *r, struct err *e);
/* Appends a sentence below the results.  -ENOMEM. */
int report_add_remark(struct report *r, struct err *e, const char *fmt, ...)
	_printf_(3, 4);

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

/* The type of a cell that holds a metric of that unit. */
enum cell_type report_unit_cell(enum result_unit unit);

/* Adds what the devices of a role wrote and flushed; see ledger_table.c. */
void ledger_add_role(const struct result_evidence *v, unsigned role, uint64_t *bytes,
	uint64_t *flushes);

/* A text that lives as long as the report; "" without memory. */
const char *report_textf(struct report *r, const char *fmt, ...) _printf_(2, 3);
