/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Did the syncs of a phase reach the devices?  The counters of the ledger against what
 * the kernel must have sent, given the placement and the mount options.
 */

#include "result/evidence.h"
#include "result/result.h"

enum arm_placement { ARM_NO_JOURNAL, ARM_INLINE, ARM_EXTERNAL };
enum arm_data { ARM_ORDERED, ARM_WRITEBACK, ARM_JOURNAL };

struct evidence_arm {
	enum arm_placement placement;
	enum arm_data data;
	bool barrier;	   /* false: mounted with nobarrier or barrier=0 */
	bool async_commit; /* journal_async_commit */
	bool new_data;	   /* each sync of the phase follows a write of new data */
};

/* Commits and flushes that the kernel sends at least; see judge.c for the model. */
struct evidence_expected {
	double data_flushes, journal_flushes;
};

/* For a number of syncs by that many threads, and the commits that jbd2 counted. */
struct evidence_expected evidence_expect(const struct evidence_arm *arm,
	const struct result_evidence *v, uint64_t syncs, uint32_t threads);

/* A scratch disk whose model says itself that it did not carry out what it acknowledged:
 * fills v->verdict and v->reason and returns true, else false. */
bool evidence_judge_models(struct result_evidence *v);

/* Fills v->verdict and v->reason; asks the models first. */
void evidence_judge(struct result_evidence *v, const struct result_counters *c,
	const struct evidence_arm *arm);
