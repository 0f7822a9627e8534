/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Traces as tables: what each traced phase had, its transactions one by one, and the
 * steps of the fsync that was taken apart.  Of the blocks of a phase and arm the one whose
 * fsync is the median of theirs is shown, so that the picture is neither the best nor the
 * worst.
 */

#include "report/tables.h"

#include <errno.h>
#include <math.h>
#include <string.h>

const struct report_column traces_columns[TRACES_COLUMNS] = {
	[TRACES_WORKLOAD] = { "workload", "Workload", "name of the workload", TYPE_TEXT },
	[TRACES_PHASE] = { "phase", "Phase", "phase of the workload", TYPE_TEXT },
	[TRACES_ARM] = { "arm", "Arm", "name of the arm", TYPE_TEXT },
	[TRACES_BLOCK] = { "block", "Block", "number of the block, from 1", TYPE_COUNT },
	[TRACES_EVENTS] = { "events", "Events", "events that were recorded", TYPE_COUNT },
	[TRACES_LOST] = { "lost_events", "Lost",
		"events that were overwritten before they could be read", TYPE_COUNT },
	[TRACES_FSYNCS] = { "fsyncs", "Fsyncs", "syncs of files that were seen whole",
		TYPE_COUNT },
	[TRACES_MEDIAN] = { "fsync_median", "Median fsync", "median of their durations",
		TYPE_NANOSECONDS },
	[TRACES_DURATION] = { "fsync_duration", "Shown fsync", "duration of the one that is shown",
		TYPE_NANOSECONDS },
	[TRACES_IDLE] = { "fsync_idle", "Idle",
		"of it, with no request to a disk under way", TYPE_NANOSECONDS },
	[TRACES_DATA_ONLY] = { "fsync_data_only", "Data only", "it was fdatasync, or O_DSYNC",
		TYPE_YES_NO },
	[TRACES_TRANSACTIONS] = { "transactions", "Transactions",
		"transactions of the journal", TYPE_COUNT },
	[TRACES_WAIT] = { "wait", "Wait",
		"median: how long a change had to wait for its transaction",
		TYPE_NANOSECONDS },
	[TRACES_RUNNING] = { "running", "Running",
		"median: how long the transaction took in changes", TYPE_NANOSECONDS },
	[TRACES_LOCKED] = { "locked", "Locked",
		"median: how long its commit waited for changes under way",
		TYPE_NANOSECONDS },
	[TRACES_FLUSHING] = { "flushing", "Flushing",
		"median: how long its commit wrote data of files first",
		TYPE_NANOSECONDS },
	[TRACES_LOGGING] = { "logging", "Logging",
		"median: how long it wrote the transaction to the journal",
		TYPE_NANOSECONDS },
	[TRACES_LOGGED] = { "logged_blocks", "Blocks",
		"median: blocks that it wrote to the journal", TYPE_NUMBER },
	[TRACES_SHOWN] = { "shown", "Shown", "it stands for the blocks of its arm",
		TYPE_YES_NO },
};

const struct report_column transactions_columns[TRANSACTIONS_COLUMNS] = {
	[TRANSACTIONS_WORKLOAD] = { "workload", "Workload", "name of the workload",
		TYPE_TEXT },
	[TRANSACTIONS_PHASE] = { "phase", "Phase", "phase of the workload", TYPE_TEXT },
	[TRANSACTIONS_ARM] = { "arm", "Arm", "name of the arm", TYPE_TEXT },
	[TRANSACTIONS_BLOCK] = { "block", "Block", "number of the block, from 1",
		TYPE_COUNT },
	[TRANSACTIONS_TID] = { "tid", "Transaction", "its number", TYPE_COUNT },
	[TRANSACTIONS_WAIT] = { "wait", "Wait", "how long a change had to wait for it",
		TYPE_NANOSECONDS },
	[TRANSACTIONS_RUNNING] = { "running", "Running", "how long it took in changes",
		TYPE_NANOSECONDS },
	[TRANSACTIONS_LOCKED] = { "locked", "Locked",
		"how long its commit waited for changes under way", TYPE_NANOSECONDS },
	[TRANSACTIONS_FLUSHING] = { "flushing", "Flushing",
		"how long its commit wrote data of files first", TYPE_NANOSECONDS },
	[TRANSACTIONS_LOGGING] = { "logging", "Logging",
		"how long it was written to the journal", TYPE_NANOSECONDS },
	[TRANSACTIONS_HANDLES] = { "handles", "Handles", "changes that it took in",
		TYPE_COUNT },
	[TRANSACTIONS_BLOCKS] = { "blocks", "Blocks", "blocks that they changed",
		TYPE_COUNT },
	[TRANSACTIONS_LOGGED] = { "logged_blocks", "Logged", "blocks written to the journal",
		TYPE_COUNT },
};

const struct report_column steps_columns[STEPS_COLUMNS] = {
	[STEPS_WORKLOAD] = { "workload", "Workload", "name of the workload", TYPE_TEXT },
	[STEPS_PHASE] = { "phase", "Phase", "phase of the workload", TYPE_TEXT },
	[STEPS_ARM] = { "arm", "Arm", "name of the arm", TYPE_TEXT },
	[STEPS_BLOCK] = { "block", "Block", "number of the block, from 1", TYPE_COUNT },
	[STEPS_STEP] = { "step", "Number", "its number, from 1", TYPE_COUNT },
	[STEPS_START] = { "start", "At", "when it began, from the call of the fsync",
		TYPE_NANOSECONDS },
	[STEPS_DURATION] = { "duration", "Took",
		"from its first request to the end of the last", TYPE_NANOSECONDS },
	[STEPS_WHAT] = { "what", "What",
		"data, metadata, journal, commit_record, journal_superblock, flush, read or "
		"other", TYPE_TEXT },
	[STEPS_TEXT] = { "text", "Step", "the same for people", TYPE_TEXT },
	[STEPS_DISK] = { "disk", "Disk", "kernel name of the disk", TYPE_TEXT },
	[STEPS_REQUESTS] = { "requests", "Requests", "how many there were", TYPE_COUNT },
	[STEPS_BYTES] = { "bytes", "Size", "bytes of them", TYPE_BYTES },
};

static int compare_numbers(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The median of one number of each transaction; NAN without any. */
static double median_of(const struct timeline *t, size_t offset, double *scratch)
{
	for (size_t i = 0; i < t->kept_count; i++)
		scratch[i] = (double)*(const uint64_t *)((const char *)&t->transactions[i] +
			offset);
	qsort(scratch, t->kept_count, sizeof(*scratch), compare_numbers);
	return t->kept_count ? scratch[(t->kept_count - 1) / 2] : NAN;
}

static bool same_series(const struct timeline *a, const struct timeline *b)
{
	return !strcmp(a->workload, b->workload) && !strcmp(a->phase, b->phase) &&
		!strcmp(a->arm, b->arm);
}

/* Is its median, 0 without fsyncs, the median of those of all blocks? */
static bool is_shown(const struct report *r, const struct timeline *t)
{
	size_t below = 0, same = 0, all = 0;

	for (size_t i = 0; i < r->trace_count; i++) {
		const struct timeline *other = r->traces[i];

		if (!same_series(t, other))
			continue;
		all++;
		below += other->median_ns < t->median_ns;
		same += other->median_ns == t->median_ns && other->block < t->block;
	}
	return below + same == (all - 1) / 2 && (t->fsync_count || t->transaction_count);
}

static struct report_cell time_cell(uint64_t ns)
{
	return cell_number(CELL_NANOSECONDS, (double)ns);
}

static void add_trace(struct report *r, const struct timeline *t, double *scratch)
{
	static const struct {
		size_t column, offset;
	} medians[] = {
		{ TRACES_WAIT, offsetof(struct timeline_transaction, wait_ns) },
		{ TRACES_RUNNING, offsetof(struct timeline_transaction, running_ns) },
		{ TRACES_LOCKED, offsetof(struct timeline_transaction, locked_ns) },
		{ TRACES_FLUSHING, offsetof(struct timeline_transaction, flushing_ns) },
		{ TRACES_LOGGING, offsetof(struct timeline_transaction, logging_ns) },
	};
	struct report_cell *row = table_next_row(&r->tables[TABLE_TRACES]);

	row[TRACES_WORKLOAD] = cell_text(t->workload);
	row[TRACES_PHASE] = cell_text(t->phase);
	row[TRACES_ARM] = cell_text(t->arm);
	row[TRACES_BLOCK] = cell_count(t->block + UINT64_C(1));
	row[TRACES_EVENTS] = cell_count(t->events);
	row[TRACES_LOST] = cell_count(t->lost_events);
	row[TRACES_FSYNCS] = cell_count(t->fsync_count);
	if (t->fsync_count) {
		row[TRACES_MEDIAN] = time_cell(t->median_ns);
		row[TRACES_DURATION] = time_cell(t->duration_ns);
		row[TRACES_IDLE] = time_cell(t->idle_ns);
		row[TRACES_DATA_ONLY] = cell_yes_no(t->data_only);
	}
	row[TRACES_TRANSACTIONS] = cell_count(t->transaction_count);
	for (size_t i = 0; i < ARRAY_SIZE(medians); i++)
		row[medians[i].column] = cell_number(CELL_NANOSECONDS,
			median_of(t, medians[i].offset, scratch));
	row[TRACES_LOGGED] = cell_number(CELL_NUMBER,
		median_of(t, offsetof(struct timeline_transaction, logged_blocks), scratch));
	row[TRACES_SHOWN] = cell_yes_no(is_shown(r, t));
}

static void add_transactions(struct report *r, const struct timeline *t)
{
	for (size_t i = 0; i < t->kept_count; i++) {
		const struct timeline_transaction *x = &t->transactions[i];
		struct report_cell *row = table_next_row(&r->tables[TABLE_TRANSACTIONS]);

		row[TRANSACTIONS_WORKLOAD] = cell_text(t->workload);
		row[TRANSACTIONS_PHASE] = cell_text(t->phase);
		row[TRANSACTIONS_ARM] = cell_text(t->arm);
		row[TRANSACTIONS_BLOCK] = cell_count(t->block + UINT64_C(1));
		row[TRANSACTIONS_TID] = cell_count(x->tid);
		row[TRANSACTIONS_WAIT] = time_cell(x->wait_ns);
		row[TRANSACTIONS_RUNNING] = time_cell(x->running_ns);
		row[TRANSACTIONS_LOCKED] = time_cell(x->locked_ns);
		row[TRANSACTIONS_FLUSHING] = time_cell(x->flushing_ns);
		row[TRANSACTIONS_LOGGING] = time_cell(x->logging_ns);
		row[TRANSACTIONS_HANDLES] = cell_count(x->handles);
		row[TRANSACTIONS_BLOCKS] = cell_count(x->blocks);
		row[TRANSACTIONS_LOGGED] = cell_count(x->logged_blocks);
	}
}

static void add_steps(struct report *r, const struct timeline *t)
{
	for (size_t i = 0; i < t->step_count; i++) {
		const struct timeline_step *s = &t->steps[i];
		struct report_cell *row = table_next_row(&r->tables[TABLE_STEPS]);

		row[STEPS_WORKLOAD] = cell_text(t->workload);
		row[STEPS_PHASE] = cell_text(t->phase);
		row[STEPS_ARM] = cell_text(t->arm);
		row[STEPS_BLOCK] = cell_count(t->block + UINT64_C(1));
		row[STEPS_STEP] = cell_count(i + 1);
		row[STEPS_START] = time_cell(s->start_ns);
		row[STEPS_DURATION] = time_cell(s->duration_ns);
		row[STEPS_WHAT] = cell_text(timeline_what_word(s->what));
		row[STEPS_TEXT] = cell_text(timeline_step_text(s));
		row[STEPS_DISK] = cell_text(s->disk);
		row[STEPS_REQUESTS] = cell_count(s->requests);
		if (s->bytes)
			row[STEPS_BYTES] = cell_number(CELL_BYTES, (double)s->bytes);
	}
}

int trace_tables_make(struct report *r, struct err *e)
{
	_cleanup_free_ double *scratch =
		calloc(TIMELINE_TRANSACTIONS_MAX, sizeof(*scratch));
	size_t transactions = 0, steps = 0;
	int status;

	if (!scratch)
		return err_set(e, ENOMEM, "traces");
	for (size_t i = 0; i < r->trace_count; i++) {
		transactions += r->traces[i]->kept_count;
		steps += r->traces[i]->step_count;
	}
	status = table_make(r, TABLE_TRACES, r->trace_count, e);
	if (!status)
		status = table_make(r, TABLE_TRANSACTIONS, transactions, e);
	if (!status)
		status = table_make(r, TABLE_STEPS, steps, e);
	for (size_t i = 0; !status && i < r->trace_count; i++) {
		add_trace(r, r->traces[i], scratch);
		add_transactions(r, r->traces[i]);
		add_steps(r, r->traces[i]);
	}
	return status;
}
