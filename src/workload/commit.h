/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The workload `commit`, inside: its options, what one phase works with, and the table of
 * kinds.  commit.c holds keys and phases, commit_kinds.c the kinds that are one operation
 * repeated, commit_stream.c and commit_wal.c those in which threads do different things.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workload/engine.h"
#include "workload/payload.h"
#include "workload/syncing.h"
#include "workload/trees.h"
#include "workload/values.h"

struct commit {
	struct values kinds;   /* indices of commit_kinds[] */
	struct values threads; /* numbers */
	uint64_t count;	       /* operations of all threads in a phase */
	uint64_t block_bytes, file_bytes, sync_every;
	uint64_t stream_bytes, stream_block_bytes;
	uint64_t heap_bytes, record_bytes, checkpoint_ns;
	int direct;
	bool own_sync; /* as the kind says; else: */
	struct syncing sync;
	struct pace pace;
};

struct commit_kind;

/* One phase: a kind with a number of threads. */
struct commit_phase {
	const struct commit *o;
	const struct commit_kind *kind;
	const struct workload_env *env;
	const struct trees *trees; /* a directory for each thread */
	unsigned threads;
	uint64_t seed;
	struct syncing sync; /* of files; a directory is synced by a call, or not at all */
	char name[64];	     /* "append-fsync/t4" */
	void *shared;  /* of all its threads; the kind's own */
};

/* What a thread of the simple kinds has. */
struct commit_worker {
	const char *path; /* its directory */
	char name[32];	  /* of the file in work, for messages */
	int directory, fd;
	uint64_t operations; /* its share */
	struct payload payload;
};

/* One operation, the n-th of this thread; synced: this one is to be synced.  *moved gets
 * the bytes. */
typedef int commit_operation(struct engine_thread *t, struct commit_worker *w, uint64_t n,
	bool synced, uint64_t *moved, struct err *e);

struct commit_kind {
	const char *name, *title;
	/* The simple kinds: before the clock (may be NULL), and the operation. */
	int (*set_up)(struct engine_thread *t, struct commit_worker *w, struct err *e);
	commit_operation *operation;
	bool data_only;	 /* fdatasync, not fsync */
	bool fixed_sync; /* the key `sync` does not concern it */
	/* The others: the whole phase. */
	int (*run)(struct commit_phase *p, struct result_run *run, struct err *e);
	/* Bytes that the phase writes and reads, and that its files take. */
	uint64_t (*bytes)(const struct commit *o, unsigned threads);
	uint64_t (*space)(const struct commit *o, unsigned threads);
};

extern const struct commit_kind commit_kinds[];
size_t commit_kind_count(void);

/* The kinds in commit_stream.c and commit_wal.c. */
int commit_run_stream(struct commit_phase *p, struct result_run *run, struct err *e);
int commit_run_wal(struct commit_phase *p, struct result_run *run, struct err *e);
int commit_run_wal_readonly(struct commit_phase *p, struct result_run *run, struct err *e);

/* The simple kinds on the engine. */
extern const struct engine_ops commit_ops;
int commit_run_simple(struct commit_phase *p, struct result_run *run, struct err *e);

/* A worker in directory path, and back. */
int commit_worker_init(struct commit_worker *w, const struct commit_phase *p,
	struct engine_thread *t, struct err *e);
void commit_worker_deinit(struct commit_worker *w);

/* Appends a block and syncs: the operation of append-fsync. */
commit_operation commit_append;

/* One block at a place of fd; errors name directory and w->name. */
int commit_write(
	struct commit_worker *w, int fd, size_t bytes, uint64_t at, struct err *e);

/* Operations of thread i. */
uint64_t commit_share(const struct commit_phase *p, unsigned i);
