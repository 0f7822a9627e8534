/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The files that a workload makes: one for each thread, spread over the directories in
 * turn, named so that they cannot be taken for anybody else's, and removed with
 * files_free() on every way out.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "result/result.h"
#include "workload/workload.h"

struct files {
	char **paths;
	size_t count;
	bool keep; /* they are devices: not removed */
	const struct log *log; /* told when a file cannot be removed */
};

/* Names for count files; nothing is created.  type goes into the names. */
int files_new(struct files **out, const struct workload_env *env, const char *type,
	size_t count, struct err *e);

/*
 * The block devices that stand in env->directories, in turn, for count threads; refused
 * with a usage error when one is no block device or has less than slice_bytes for each of
 * the threads that share it.  They are neither created nor removed.
 */
int files_of_devices(struct files **out, const struct workload_env *env, size_t count,
	uint64_t slice_bytes, struct err *e);

/* Removes those that exist, and the list. */
struct files *files_free(struct files *f);
DEFINE_CLEANUP(struct files *, files_free)

/*
 * What belongs between two phases and outside the clock: everything written goes to the
 * device, then the page cache is dropped, as root and if env->drop_caches for the whole
 * machine, else for these files by fsync and posix_fadvise.  *how says which.  Files that
 * do not exist yet are passed over.
 */
int files_settle(const struct files *f, const struct workload_env *env,
	enum result_cache *how, struct err *e);

/* The same for a workload that has no list of its files: as root and if env->drop_caches
 * the whole cache is dropped, else nothing is done. */
int files_drop_caches(
	const struct workload_env *env, enum result_cache *how, struct err *e);

/* Share (0..1) of the files' bytes that the page cache holds now. */
int files_cached_fraction(const struct files *f, double *fraction, struct err *e);

/*
 * After writes with O_DIRECT: were they buffered nevertheless, as ext4 does with
 * data=journal?  The page cache tells: it holds what was buffered.  Warns through the
 * log, once, in the name of what.
 */
int files_warn_if_buffered(const struct files *f, const char *what, struct err *e);
