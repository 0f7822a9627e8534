/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The flush ledger: kernel counters of all devices of an arm, read right before the
 * threads of a phase are released and right after the last one has ended, outside the
 * measured time.
 */

#include <sys/types.h>

#include "core/err.h"
#include "result/evidence.h"

struct ledger; /* opaque */

struct ledger_disk {
	dev_t devno;
	const char *name; /* kernel name */
	unsigned roles;	  /* enum evidence_role, or-ed */
	bool below;	  /* not the device itself but a disk under it */
	bool counts;	  /* below: the one that counts flushes for what is above */
	/* File of two uint64_t in memory's order: the time that its model charged, ns, and
	 * how many requests it acknowledged and did not carry out.  NULL: a disk without a
	 * model */
	const char *busy;
};

struct ledger_setup {
	const struct ledger_disk *disks;
	size_t disk_count; /* what is beyond EVIDENCE_DISKS_MAX is left out */
	const char *journal_name; /* below /proc/fs/jbd2; NULL: no journal */
};

/* Copies the setup. */
int ledger_new(struct ledger **out, const struct ledger_setup *setup, struct err *e);
struct ledger *ledger_free(struct ledger *l);
DEFINE_CLEANUP(struct ledger *, ledger_free)

/* Reads all counters: the start of a phase. */
void ledger_begin(struct ledger *l);

/* Reads them again and adds the differences to *sum, which is zero at first.  A phase
 * that consists of several timed parts adds each of them. */
void ledger_end(struct ledger *l, struct result_evidence *sum);
