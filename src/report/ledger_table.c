/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The flush ledger as tables: for each phase of each run, and summed over the runs of an
 * arm.  A device's own counters are used; for a partition, which has no count of flushes,
 * those of the disk below it.
 */

#include "report/tables.h"

#include <math.h>
#include <string.h>

#include "result/evidence_json.h"

const struct report_column ledger_columns[LEDGER_COLUMNS] = {
	[LEDGER_WORKLOAD] = { "workload", "Workload", "name of the workload", TYPE_TEXT },
	[LEDGER_PHASE] = { "phase", "Phase", "phase of the workload", TYPE_TEXT },
	[LEDGER_ARM] = { "arm", "Arm", "name of the arm", TYPE_TEXT },
	[LEDGER_BLOCK] = { "block", "Block", "number of the block, from 1", TYPE_COUNT },
	[LEDGER_RUNS] = { "runs", "Runs", "how many runs are summed", TYPE_COUNT },
	[LEDGER_SYNCS] = { "syncs", "Syncs", "syncs that the workload asked for",
		TYPE_COUNT },
	[LEDGER_COMMITS] = { "commits", "Commits", "transactions that jbd2 committed",
		TYPE_COUNT },
	[LEDGER_DATA_FLUSHES] = { "data_flushes", "Data flushes",
		"cache flushes that the data disk completed", TYPE_COUNT },
	[LEDGER_JOURNAL_FLUSHES] = { "journal_flushes", "Journal flushes",
		"cache flushes that the journal device completed", TYPE_COUNT },
	[LEDGER_BYTES] = { "bytes", "Bytes", "bytes that the workload moved",
		TYPE_BYTES },
	[LEDGER_DATA_BYTES] = { "data_write_bytes", "Data written",
		"bytes written to the data disk", TYPE_BYTES },
	[LEDGER_JOURNAL_BYTES] = { "journal_write_bytes", "Journal written",
		"bytes written to the journal device", TYPE_BYTES },
	[LEDGER_AMPLIFICATION] = { "write_amplification", "Amplification",
		"bytes written to both devices for each byte that the workload wrote",
		TYPE_RATIO },
	[LEDGER_CACHE_SHARE] = { "cache_share", "From cache",
		"share of the bytes read that came from the page cache", TYPE_FRACTION },
	[LEDGER_VERDICT] = { "verdict", "Verdict",
		"ok, suspect, implausible, failed, not_applicable or unknown",
		TYPE_TEXT },
	[LEDGER_REASON] = { "reason", "Reason", "why, in a sentence", TYPE_TEXT },
};

/* Sums of one or several runs. */
struct sums {
	uint64_t runs, syncs, commits, data_flushes, journal_flushes;
	uint64_t bytes, data_bytes, journal_bytes, read_bytes, device_read_bytes;
	bool has_journal, external;
	const struct result_evidence *worst;
};

/* Sums over the devices of a role themselves (below = false) or the disks under them;
 * false when none of them has a count of flushes. */
static bool add_flushes(const struct result_evidence *v, unsigned role, bool below,
	uint64_t *flushes)
{
	bool counted = false;

	for (size_t i = 0; i < v->disk_count; i++) {
		const struct evidence_disk *d = &v->disks[i];

		if (d->roles & role && d->below == below && d->flushes_counted &&
			(!below || d->counts)) {
			*flushes += d->flushes;
			counted = true;
		}
	}
	return counted;
}

void ledger_add_role(const struct result_evidence *v, unsigned role, uint64_t *bytes,
	uint64_t *flushes)
{
	for (size_t i = 0; i < v->disk_count; i++)
		if (v->disks[i].roles & role && !v->disks[i].below)
			*bytes += v->disks[i].write_bytes;
	if (!add_flushes(v, role, false, flushes))
		add_flushes(v, role, true, flushes);
}

static bool has_role(const struct result_evidence *v, unsigned role)
{
	for (size_t i = 0; i < v->disk_count; i++)
		if (!v->disks[i].below && v->disks[i].roles & role)
			return true;
	return false;
}

static void add_phase(struct sums *s, const struct result_phase *phase)
{
	const struct result_evidence *v = phase->evidence;

	s->runs++;
	s->syncs += phase->counters.syncs;
	s->bytes += phase->counters.bytes;
	s->commits += v->journal.transactions;
	s->has_journal = s->has_journal || v->journal.name[0];
	s->external = s->external || has_role(v, EVIDENCE_JOURNAL);
	s->read_bytes += v->process.read_bytes;
	s->device_read_bytes += v->process.device_read_bytes;
	ledger_add_role(v, EVIDENCE_DATA, &s->data_bytes, &s->data_flushes);
	ledger_add_role(v, EVIDENCE_JOURNAL, &s->journal_bytes, &s->journal_flushes);
	if (!s->worst || v->verdict > s->worst->verdict)
		s->worst = v;
}

static void put_row(struct report_cell *row, const struct result_phase *phase,
	const struct report_workload *w, const char *arm, const struct sums *s)
{
	double written = (double)(s->data_bytes + s->journal_bytes);
	/* Page-sized reads of metadata are not worth a share. */
	bool reads = s->read_bytes > 1 << 16;

	row[LEDGER_WORKLOAD] = cell_text(w->name);
	row[LEDGER_PHASE] = cell_text(phase->name);
	row[LEDGER_ARM] = cell_text(arm);
	row[LEDGER_RUNS] = cell_count(s->runs);
	row[LEDGER_SYNCS] = cell_count(s->syncs);
	if (s->has_journal)
		row[LEDGER_COMMITS] = cell_count(s->commits);
	row[LEDGER_DATA_FLUSHES] = cell_count(s->data_flushes);
	if (s->external)
		row[LEDGER_JOURNAL_FLUSHES] = cell_count(s->journal_flushes);
	row[LEDGER_BYTES] = cell_number(CELL_BYTES, (double)s->bytes);
	row[LEDGER_DATA_BYTES] = cell_number(CELL_BYTES, (double)s->data_bytes);
	if (s->external)
		row[LEDGER_JOURNAL_BYTES] = cell_number(CELL_BYTES, (double)s->journal_bytes);
	row[LEDGER_AMPLIFICATION] = cell_number(CELL_RATIO,
		s->bytes && !reads ? written / (double)s->bytes : NAN);
	row[LEDGER_CACHE_SHARE] = cell_number(CELL_FRACTION,
		reads ? fmax(0, 1 - (double)s->device_read_bytes / (double)s->read_bytes)
		      : NAN);
	row[LEDGER_VERDICT] = cell_text(evidence_verdict_word(s->worst->verdict));
	row[LEDGER_REASON] = cell_text(s->worst->reason);
}

static void add_workload(struct report *r, const char *arm, const struct report_workload *w)
{
	for (size_t i = 0; i < w->run_count; i++)
		for (size_t k = 0; k < w->runs[i].phase_count; k++) {
			const struct result_phase *phase = &w->runs[i].phases[k];
			struct report_cell *row;
			struct sums s = { 0 };

			if (!phase->evidence)
				continue;
			add_phase(&s, phase);
			row = table_next_row(&r->tables[TABLE_LEDGER]);
			put_row(row, phase, w, arm, &s);
			row[LEDGER_BLOCK] = cell_count(w->runs[i].block + UINT64_C(1));
		}
}

static void add_sums(struct report *r, const char *arm, const struct report_workload *w)
{
	for (size_t p = 0; p < w->merged.phase_count; p++) {
		const struct result_phase *merged = &w->merged.phases[p];
		struct sums s = { 0 };

		for (size_t i = 0; i < w->run_count; i++)
			for (size_t k = 0; k < w->runs[i].phase_count; k++)
				if (w->runs[i].phases[k].evidence &&
					!strcmp(w->runs[i].phases[k].name, merged->name))
					add_phase(&s, &w->runs[i].phases[k]);
		if (s.runs)
			put_row(table_next_row(&r->tables[TABLE_AUDIT]), merged, w, arm, &s);
	}
}

int ledger_tables_make(struct report *r, struct err *e)
{
	size_t rows = 0, sums = 0;
	int status;

	for (size_t a = 0; a < r->bundle.info.arm_count; a++)
		for (size_t i = 0; i < r->arms[a].workload_count; i++) {
			const struct report_workload *w = &r->arms[a].workloads[i];

			sums += w->merged.phase_count;
			for (size_t k = 0; k < w->run_count; k++)
				rows += w->runs[k].phase_count;
		}
	status = table_make(r, TABLE_LEDGER, rows, e);
	if (!status)
		status = table_make(r, TABLE_AUDIT, sums, e);
	for (size_t a = 0; !status && a < r->bundle.info.arm_count; a++)
		for (size_t i = 0; i < r->arms[a].workload_count; i++) {
			add_workload(r, r->bundle.info.arms[a].name, &r->arms[a].workloads[i]);
			add_sums(r, r->bundle.info.arms[a].name, &r->arms[a].workloads[i]);
		}
	return status;
}

bool report_audit_failed(const struct report *r)
{
	const struct report_table *t = &r->tables[TABLE_AUDIT];

	for (size_t i = 0; i < t->row_count; i++)
		if (!strcmp(t->cells[i * t->column_count + LEDGER_VERDICT].text,
			    evidence_verdict_word(EVIDENCE_FAILED)))
			return true;
	return false;
}
