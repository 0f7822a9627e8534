/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The tables of a report: what each is called, and that all are made; a file of its own
 * describes and makes each.  The arrays of columns are the only description of what a
 * column is called and means; text headers, JSON keys and CSV headers are taken from
 * them.
 */

#include "report/tables.h"

static const struct report_column arms_columns[ARMS_COLUMNS] = {
	[ARMS_ARM] = {"arm", "Arm", "name of the arm", TYPE_TEXT},
	[ARMS_PLACEMENT] = {"placement", "Journal", "where the journal lives", TYPE_TEXT},
	[ARMS_MOUNT] = {"mount", "Mount options", "mount options of the arm", TYPE_TEXT},
	[ARMS_LEVELS] = {"levels", "Levels", "of the factors, as FACTOR=LEVEL",
		TYPE_TEXT},
	[ARMS_CELLS] = {"cells", "Cells", "how often the arm was measured", TYPE_COUNT},
};

#define KIND(k, t, c, n) {.key = (k), .title = (t), .columns = (c), .column_count = (n)}

const struct report_table report_table_kinds[TABLE_COUNT] = {
	[TABLE_ARMS] = KIND("arms", "Arms", arms_columns, ARMS_COLUMNS),
	[TABLE_COMPARISON] = KIND("comparison", "Comparison of arms",
		comparison_columns, COMPARISON_COLUMNS),
	[TABLE_VALUES] = KIND("values", "All values", values_columns, VALUES_COLUMNS),
	[TABLE_LEDGER] = KIND("ledger", "Flush ledger of each run",
		ledger_columns, LEDGER_COLUMNS),
	[TABLE_AUDIT] = KIND("audit", "Sync audit", ledger_columns, LEDGER_COLUMNS),
	[TABLE_FACTORS] = KIND("factors", "Effects of factors",
		factors_columns, FACTORS_COLUMNS),
	[TABLE_CONFOUNDS] = KIND("confounds", "What a reviewer would hold against this",
		confounds_columns, CONFOUNDS_COLUMNS),
	[TABLE_PLACES] = KIND("places", "Where the files lay",
		places_columns, PLACES_COLUMNS),
	[TABLE_FOREIGN] = KIND("devices", "I/O of the devices",
		foreign_columns, FOREIGN_COLUMNS),
	[TABLE_TRACES] = KIND("traces", "Traces", traces_columns, TRACES_COLUMNS),
	[TABLE_TRANSACTIONS] = KIND("transactions", "Transactions of the journal",
		transactions_columns, TRANSACTIONS_COLUMNS),
	[TABLE_STEPS] = KIND("fsync_steps", "Steps of one fsync",
		steps_columns, STEPS_COLUMNS),
	[TABLE_DRIFT] = KIND("drift", "Drift and outliers", drift_columns, DRIFT_COLUMNS),
	[TABLE_INVALID] = KIND("invalid", "Cells that broke a rule",
		invalid_columns, INVALID_COLUMNS),
	[TABLE_THREADS] = KIND("threads", "Rates by number of threads",
		threads_columns, THREADS_COLUMNS),
	[TABLE_PERCENTILES] = KIND("percentiles", "Percentiles of latencies",
		percentiles_columns, PERCENTILES_COLUMNS),
	[TABLE_FLUSHES] = KIND("flushes", "Flush ledger by device",
		flushes_columns, FLUSHES_COLUMNS),
	[TABLE_ENVIRONMENT] = KIND("environment", "Environment",
		environment_columns, ENVIRONMENT_COLUMNS),
};

static size_t cells_of(const struct report *r, size_t arm)
{
	size_t most = 0;

	for (size_t i = 0; i < r->arms[arm].workload_count; i++)
		most = MAX(most, r->arms[arm].workloads[i].run_count);
	return most;
}

static int make_arms(struct report *r, struct err *e)
{
	const struct bundle_info *info = &r->bundle.info;
	int status = table_make(r, TABLE_ARMS, info->arm_count, e);

	for (size_t i = 0; !status && i < info->arm_count; i++) {
		struct report_cell *row = table_next_row(&r->tables[TABLE_ARMS]);

		row[ARMS_ARM] = cell_text(info->arms[i].name);
		row[ARMS_PLACEMENT] = cell_text(info->arms[i].placement);
		row[ARMS_MOUNT] = cell_text(info->arms[i].mount);
		row[ARMS_LEVELS] = cell_text(info->arms[i].levels);
		row[ARMS_CELLS] = cell_count(cells_of(r, i));
	}
	return status;
}

int tables_make(struct report *r, struct err *e)
{
	int status;

	for (size_t i = 0; i < TABLE_COUNT; i++)
		r->tables[i] = report_table_kinds[i];
	status = make_arms(r, e);
	if (!status)
		status = comparison_tables_make(r, e);
	if (!status)
		status = ledger_tables_make(r, e);
	if (!status)
		status = factor_table_make(r, e);
	if (!status)
		status = trace_tables_make(r, e);
	if (!status)
		status = invalid_table_make(r, e);
	if (!status)
		status = drift_table_make(r, e);
	if (!status)
		status = thread_table_make(r, e);
	if (!status)
		status = percentile_table_make(r, e);
	if (!status)
		status = flush_table_make(r, e);
	if (!status)
		status = environment_table_make(r, e);
	return status ? status : surroundings_tables_make(r, e);
}
