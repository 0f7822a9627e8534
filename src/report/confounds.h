/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What a careful reviewer would hold against an experiment: reasons for which a difference
 * between arms need not be one of the journal's place, or a rate not one of a disk.  One
 * table of checks over plain facts, which are taken from a plan before it is run, or from
 * a bundle.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/strbuf.h"

/* Facts.  What is not known is NULL, 0, NAN or "unknown", and no check speaks of it. */
enum confound_answer { CONFOUND_UNKNOWN, CONFOUND_NO, CONFOUND_YES };

struct confound_arm {
	const char *name;
	bool has_journal, external;
	uint64_t journal_bytes;
	const char *journal_features; /* space-separated */
	const char *mount;	      /* options in force */
	enum confound_answer same_disk; /* external: the journal is on a disk of the data */
	bool no_barrier;
	const char *lost_flushes; /* measured: a phase with fewer flushes than syncs */
};

struct confound_workload {
	const char *name;
	uint64_t file_bytes;
	bool dd_unsynced;  /* dd that ends without any sync */
	bool warm_reads;   /* its files are read without a cache drop before */
	double cache_share; /* measured: largest share of a phase's reads from the cache */
};

/* Mean place of a workload's files on the volume in an arm, as a fraction of its size. */
struct confound_place {
	const char *workload, *arm;
	double place;
};

struct confound_device {
	const char *label; /* "volume data (/dev/sdb1)" */
	bool journal;
	const char *scheduler;	 /* the one in brackets */
	const char *write_cache; /* "write back", "write through" */
	const char *saving;	 /* a power-saving setting, in words */
	bool is_virtual;	 /* a disk that a host provides */
};

struct confound_facts {
	struct confound_arm *arms;
	size_t arm_count;
	struct confound_workload *workloads;
	size_t workload_count;
	struct confound_place *places;
	size_t place_count;
	struct confound_device *devices;
	size_t device_count;
	size_t blocks;
	bool fixed_order; /* the same order in every block */
	uint64_t memory_bytes;
	const char *governor; /* of the processors' frequency */
	const char *laptop_mode, *pcie_policy;
	/* Lists of what was seen during the run, in words; "" or NULL: nothing. */
	const char *changes, *kernel, *foreign;
};

struct confound {
	const char *id;
	const char *sentence; /* what a reviewer would write, without full stop */
	/* Is there reason to say it?  If so, adds to detail what it is about. */
	bool (*found)(const struct confound_facts *f, struct strbuf *detail);
};

extern const struct confound confounds[]; /* ends with id NULL */
