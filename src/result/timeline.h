/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What a trace of a phase showed: the transactions of the journal one by one, and one
 * fsync, of median length, taken apart into the requests that it waited for.  Plain data,
 * like the rest of a result; in a bundle a line of traces.jsonl.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "result/evidence.h"

/* Of a phase; what is beyond it is counted, not kept. */
enum { TIMELINE_TRANSACTIONS_MAX = 1000, TIMELINE_STEPS_MAX = 64 };

enum timeline_what {
	TIMELINE_DATA,	   /* a write outside of the journal: contents of files */
	TIMELINE_METADATA, /* of metadata to its place, outside of the journal */
	TIMELINE_JOURNAL,  /* blocks of a transaction */
	TIMELINE_COMMIT,   /* the commit record of a transaction */
	TIMELINE_JOURNAL_SUPERBLOCK,
	TIMELINE_FLUSH, /* of a disk's cache */
	TIMELINE_READ,
	TIMELINE_OTHER, /* outside of the volume, by somebody else; discards */
};

/* Consecutive requests of one sort to one disk. */
struct timeline_step {
	enum timeline_what what;
	char disk[EVIDENCE_NAME_BYTES]; /* kernel name */
	unsigned roles;			/* enum evidence_role, or-ed */
	uint64_t start_ns;    /* after the fsync was called; 0: was under way already */
	uint64_t duration_ns; /* first one issued to last one completed */
	uint64_t requests, bytes;
};

/* Times as jbd2 takes them (fs/jbd2/commit.c): how long a handle had to wait for it, how
 * long it took in changes, then the parts of its commit.  wait and running are as fine as
 * the kernel's tick; the others are taken between two events. */
struct timeline_transaction {
	uint64_t tid;
	uint64_t wait_ns, running_ns, locked_ns, flushing_ns, logging_ns;
	uint64_t handles, blocks, logged_blocks;
};

struct timeline {
	char *workload, *phase, *arm; /* of the run; NULL until it is known */
	uint32_t block;
	uint64_t events, lost_events;
	uint64_t transaction_count; /* seen; transactions[] holds the first of them */
	struct timeline_transaction *transactions;
	size_t kept_count;
	uint64_t fsync_count;  /* seen from beginning to end */
	uint64_t median_ns;    /* of their durations; 0 without any */
	uint64_t duration_ns;  /* of the one that is taken apart */
	bool data_only;	       /* that was fdatasync */
	uint64_t idle_ns;      /* of it, with no request under way */
	struct timeline_step steps[TIMELINE_STEPS_MAX];
	size_t step_count;
	uint64_t steps_left_out;
};

struct timeline *timeline_free(struct timeline *t);
DEFINE_CLEANUP(struct timeline *, timeline_free)

/* Says of which phase it is; texts are copied.  -ENOMEM. */
int timeline_label(struct timeline *t, const char *workload, const char *phase,
	const char *arm, uint32_t block, struct err *e);

/* "flush", "journal_superblock": as JSON and CSV have them. */
const char *timeline_what_word(enum timeline_what what);

/* For people: "flush data disk", "write commit record". */
const char *timeline_step_text(const struct timeline_step *step);

json_t *timeline_to_json(const struct timeline *t);

/* -EBADMSG with a text when it is none. */
int timeline_from_json(struct timeline **out, const json_t *json, struct err *e);
