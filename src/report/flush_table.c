/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The flush ledger by device: what was asked of each in a phase, summed over the runs of an
 * arm, and for each sync of the workload. */

#include "report/tables.h"

#include <errno.h>
#include <math.h>
#include <string.h>

const struct report_column flushes_columns[FLUSHES_COLUMNS] = {
	[FLUSHES_WORKLOAD] = { "workload", "Workload",
		"name of the workload", TYPE_TEXT },
	[FLUSHES_PHASE] = { "phase", "Phase", "phase of the workload", TYPE_TEXT },
	[FLUSHES_ARM] = { "arm", "Arm", "name of the arm", TYPE_TEXT },
	[FLUSHES_ROLE] = { "role", "Role",
		"data, or journal when that is on a device of its own", TYPE_TEXT },
	[FLUSHES_DEVICE] = { "device", "Device", "kernel name", TYPE_TEXT },
	[FLUSHES_SYNCS] = { "syncs", "Syncs",
		"syncs that the workload asked for", TYPE_COUNT },
	[FLUSHES_FLUSHES] = { "flushes", "Flushes",
		"cache flushes that the device completed", TYPE_COUNT },
	[FLUSHES_PER_SYNC] = { "flushes_per_sync", "Per sync",
		"flushes for each sync", TYPE_RATIO },
	[FLUSHES_BYTES] = { "write_bytes", "Written", "bytes written to it", TYPE_BYTES },
	[FLUSHES_PER_BYTE] = { "bytes_per_byte", "Per byte",
		"bytes written to it for each byte that the workload wrote", TYPE_RATIO },
};

/* Names of the devices of a role themselves, joined; they are those of the first run that
 * says them. */
static const char *device_names(struct report *r, const struct result_evidence *v,
	unsigned role)
{
	const char *names = NULL;

	for (size_t i = 0; i < v->disk_count; i++)
		if (v->disks[i].roles & role && !v->disks[i].below)
			names = report_textf(r, "%s%s%s", names ? names : "",
				names ? "+" : "", v->disks[i].name);
	return names;
}

struct flush_sums {
	const char *names;
	uint64_t syncs, flushes, bytes, moved;
	bool reads;
};

static void add_phase(struct report *r, struct flush_sums *s, unsigned role,
	const struct result_phase *phase)
{
	const struct result_evidence *v = phase->evidence;

	if (!s->names)
		s->names = device_names(r, v, role);
	s->syncs += phase->counters.syncs;
	s->moved += phase->counters.bytes;
	s->reads = s->reads || v->process.read_bytes > 1 << 16;
	ledger_add_role(v, role, &s->bytes, &s->flushes);
}

static void add_row(struct report *r, const char *arm, const struct report_workload *w,
	const struct result_phase *merged, enum evidence_role role)
{
	struct flush_sums s = { 0 };
	struct report_cell *row;

	for (size_t i = 0; i < w->run_count; i++)
		for (size_t k = 0; k < w->runs[i].phase_count; k++)
			if (w->runs[i].phases[k].evidence &&
				!strcmp(w->runs[i].phases[k].name, merged->name))
				add_phase(r, &s, role, &w->runs[i].phases[k]);
	if (!s.names)
		return;
	row = table_next_row(&r->tables[TABLE_FLUSHES]);
	row[FLUSHES_WORKLOAD] = cell_text(w->name);
	row[FLUSHES_PHASE] = cell_text(merged->name);
	row[FLUSHES_ARM] = cell_text(arm);
	row[FLUSHES_ROLE] = cell_text(role == EVIDENCE_DATA ? "data" : "journal");
	row[FLUSHES_DEVICE] = cell_text(s.names);
	row[FLUSHES_SYNCS] = cell_count(s.syncs);
	row[FLUSHES_FLUSHES] = cell_count(s.flushes);
	row[FLUSHES_PER_SYNC] = cell_number(CELL_RATIO,
		s.syncs ? (double)s.flushes / (double)s.syncs : NAN);
	row[FLUSHES_BYTES] = cell_number(CELL_BYTES, (double)s.bytes);
	row[FLUSHES_PER_BYTE] = cell_number(CELL_RATIO,
		s.moved && !s.reads ? (double)s.bytes / (double)s.moved : NAN);
}

static void add_workload(struct report *r, const char *arm, const struct report_workload *w)
{
	for (size_t p = 0; p < w->merged.phase_count; p++) {
		add_row(r, arm, w, &w->merged.phases[p], EVIDENCE_DATA);
		add_row(r, arm, w, &w->merged.phases[p], EVIDENCE_JOURNAL);
	}
}

int flush_table_make(struct report *r, struct err *e)
{
	size_t phases = 0;
	int status;

	for (size_t a = 0; a < r->bundle.info.arm_count; a++)
		for (size_t i = 0; i < r->arms[a].workload_count; i++)
			phases += r->arms[a].workloads[i].merged.phase_count;
	status = table_make(r, TABLE_FLUSHES, 2 * phases, e);
	for (size_t a = 0; !status && a < r->bundle.info.arm_count; a++)
		for (size_t i = 0; i < r->arms[a].workload_count; i++)
			add_workload(r, r->bundle.info.arms[a].name,
				&r->arms[a].workloads[i]);
	return status;
}
