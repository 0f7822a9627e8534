/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Evidence of a phase: what the devices, the journal and our own process did between its
 * start and its end, as differences of kernel counters.  Plain data, like the rest of a
 * result.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EVIDENCE_DISKS_MAX = 24, EVIDENCE_NAME_BYTES = 64 };

enum evidence_role {
	EVIDENCE_DATA = 1,    /* carries the volume */
	EVIDENCE_JOURNAL = 2, /* carries its journal */
};

struct evidence_disk {
	char name[EVIDENCE_NAME_BYTES]; /* kernel name: "sdb", "loop3" */
	unsigned roles;		 /* enum evidence_role, or-ed */
	bool below; /* not the device itself but a disk under it */
	bool flushes_counted; /* false: a partition, dm or md: the kernel counts none there */
	bool counts; /* below: its count of flushes stands for what is above it */
	char counted_on[EVIDENCE_NAME_BYTES]; /* a partition: its disk, which counts; or "" */
	bool write_back;	 /* has a volatile write cache */
	bool rotational;
	bool fua;
	uint64_t reads, read_bytes;
	uint64_t writes, write_bytes;
	uint64_t flushes, flush_ns;
	bool modelled;		/* a scratch disk with a model, which knows: */
	uint64_t model_busy_ns; /* the time that it charged for requests of the phase, */
	uint64_t model_untrue;	/* and how many it acknowledged and did not carry out */
};

/* jbd2's own account; names the journal by its device, which proves the placement. */
struct evidence_journal {
	char name[EVIDENCE_NAME_BYTES]; /* "sdb1-8" inline, "sdc1" external; "" unknown */
	uint64_t transactions, requested;
	/* Means over the transactions of the phase. */
	double handles, blocks, logged_blocks; /* for each transaction */
	double commit_ns;
};

struct evidence_process { /* /proc/self/io */
	uint64_t read_calls, write_calls;
	uint64_t read_bytes, write_bytes;	/* asked for by system calls */
	uint64_t device_read_bytes;		/* fetched from devices for us */
	bool known;
};

enum evidence_verdict {
	EVIDENCE_UNKNOWN,	 /* could not be judged; the reason says why */
	EVIDENCE_NOT_APPLICABLE, /* nothing was synced, or no cache needs a flush */
	EVIDENCE_OK,
	EVIDENCE_SUSPECT,
	EVIDENCE_IMPLAUSIBLE, /* a rate that such a disk cannot have */
	EVIDENCE_FAILED,      /* syncs did not reach the device */
};

struct result_evidence {
	struct evidence_disk disks[EVIDENCE_DISKS_MAX];
	size_t disk_count;
	struct evidence_journal journal;
	struct evidence_process process;
	/* CLOCK_MONOTONIC, between the readings of the counters: for laying them beside
	 * another record of the machine.  0: unknown. */
	uint64_t begun_ns, ended_ns;
	enum evidence_verdict verdict;
	char reason[256]; /* one sentence, for people */
	uint32_t trace;	  /* number of the timeline of its last part; 0: none; not kept */
};

/* Adds evidence of the same disks and journal that was taken later.  The verdict stays;
 * it has to be made anew. */
void evidence_add(struct result_evidence *sum, const struct result_evidence *more);
