/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The work that tiobench and dd have in common: each thread writes or reads a file of its
 * own in blocks of one size, in order or at random places.
 */

#include <stdbool.h>
#include <stdint.h>

#include "workload/engine.h"
#include "workload/files.h"

enum blockio_end { BLOCKIO_END_NONE, BLOCKIO_END_FSYNC, BLOCKIO_END_FDATASYNC };

struct blockio {
	const struct files *files; /* thread i works on paths[i] */
	unsigned first_file;	   /* added to i */
	uint64_t block_bytes;
	uint64_t file_blocks; /* size of each file; the range of random places */
	uint64_t operations;  /* of all threads: the first ones do the remainder */
	uint64_t seed;	      /* of data and places */
	unsigned threads;

	bool write, random;
	bool create;	      /* the file must not exist yet */
	unsigned devices;     /* paths are so many devices in turn, and the threads on one
				 share it slice by slice; 0: they are files */
	bool preset_size;     /* as tiotest: set the size first, then fill the hole */
	bool mapped;	      /* through a map; then each write is synced by msync(2) where
				 open_flags have O_SYNC or O_DSYNC */
	int open_flags;	      /* O_SYNC, O_DSYNC, O_DIRECT */
	enum blockio_end end; /* before close, timed */
	uint64_t sync_every;  /* also after each n-th write of a thread; 0: only there */
	struct pace pace;
};

extern const struct engine_ops blockio_ops;

/* Operations of one thread. */
uint64_t blockio_share(const struct blockio *b, unsigned thread);

/*
 * Runs it on the engine with b->threads threads; adds to *o.  one_by_one: one thread
 * after another, each starting when the one before has ended (tiobench's --nofrag).
 */
int blockio_run(const struct blockio *b, const char *title, bool one_by_one,
	const struct workload_env *env, struct engine_outcome *o, struct err *e);
