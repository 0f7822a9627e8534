/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Rates by the number of threads, for phases that were measured with several: "write/t1",
 * "write/t4" of one workload in one arm become the rows 1 and 4 of "write". */

#include "report/tables.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "result/result_json.h"
#include "stats/order.h"

const struct report_column threads_columns[THREADS_COLUMNS] = {
	[THREADS_WORKLOAD] = { "workload", "Workload",
		"name of the workload", TYPE_TEXT },
	[THREADS_PHASE] = { "phase", "Phase",
		"phase of the workload, without its threads", TYPE_TEXT },
	[THREADS_METRIC] = { "metric", "Metric", "rate, or operations", TYPE_TEXT },
	[THREADS_UNIT] = { "unit", "Unit", "unit of the values", TYPE_TEXT },
	[THREADS_ARM] = { "arm", "Arm", "name of the arm", TYPE_TEXT },
	[THREADS_THREADS] = { "threads", "Threads", "number of threads", TYPE_COUNT },
	[THREADS_BLOCKS] = { "blocks", "Blocks",
		"how often it was measured", TYPE_COUNT },
	[THREADS_LOW] = { "low", "Lowest", "lowest value", TYPE_VALUE },
	[THREADS_MEDIAN] = { "median", "Median", "median over the blocks", TYPE_VALUE },
	[THREADS_HIGH] = { "high", "Highest", "highest value", TYPE_VALUE },
};

/* The number behind the last "/t"; 0: it has none.  *length is that of what is before. */
static uint64_t threads_of(const char *phase, size_t *length)
{
	const char *at = strrchr(phase, '/');
	char *end;
	unsigned long threads;

	if (!at || at[1] != 't' || at[2] < '1' || at[2] > '9')
		return 0;
	*length = (size_t)(at - phase);
	threads = strtoul(at + 2, &end, 10);
	return *end ? 0 : threads;
}

static void add_rows(struct report *r, const struct series *s, double *values)
{
	size_t length = 0;
	uint64_t threads = threads_of(s->phase, &length);
	const char *phase;

	if (!threads || (strcmp(s->metric, "rate") && strcmp(s->metric, "operations")))
		return;
	phase = report_textf(r, "%.*s", (int)length, s->phase);
	for (size_t arm = 0; arm < r->bundle.info.arm_count; arm++) {
		struct report_cell *row;
		enum cell_type type = report_unit_cell(s->unit);
		size_t n = 0;

		for (size_t i = 0; i < s->count; i++)
			if (s->samples[i].arm == arm && isfinite(s->samples[i].value))
				values[n++] = s->samples[i].value;
		if (!n)
			continue;
		order_sort(values, n);
		row = table_next_row(&r->tables[TABLE_THREADS]);
		row[THREADS_WORKLOAD] = cell_text(s->workload);
		row[THREADS_PHASE] = cell_text(phase);
		row[THREADS_METRIC] = cell_text(s->metric);
		row[THREADS_UNIT] = cell_text(result_unit_word(s->unit));
		row[THREADS_ARM] = cell_text(r->bundle.info.arms[arm].name);
		row[THREADS_THREADS] = cell_count(threads);
		row[THREADS_BLOCKS] = cell_count(n);
		row[THREADS_LOW] = cell_number(type, values[0]);
		row[THREADS_MEDIAN] =
			cell_number(type, order_quantile_sorted(values, n, 0.5));
		row[THREADS_HIGH] = cell_number(type, values[n - 1]);
	}
}

int thread_table_make(struct report *r, struct err *e)
{
	const struct comparison *c = r->comparison;
	_cleanup_free_ double *values = NULL;
	size_t most = 0;
	int status =
		table_make(r, TABLE_THREADS, c->count * r->bundle.info.arm_count, e);

	for (size_t i = 0; i < c->count; i++)
		most = MAX(most, c->series[i]->count);
	values = calloc(most + 1, sizeof(*values));
	if (!values)
		return err_set(e, ENOMEM, "report");
	for (size_t i = 0; !status && i < c->count; i++)
		add_rows(r, c->series[i], values);
	return status;
}
