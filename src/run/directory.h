/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The same evidence for a workload in a directory as for one in an experiment: the volume
 * and the journal below the directory are found, watched, and become a bundle in memory,
 * which was never on disk, with one arm called "here".
 */

#include "core/log.h"
#include "result/bundle.h"
#include "workload/workload.h"

struct directory_watch; /* opaque */

struct directory_setup {
	const char *directory;
	const char *version; /* of the program */
	bool trace;	     /* record transactions and requests as well */
	const struct log *log;     /* is told what cannot be traced */
};

/*
 * Begins to watch.  No block device below the directory, no ext2, ext3 or ext4: ERR_REFUSED;
 * so is a journal that only root could find.  What the setup points to must outlive it.
 */
int directory_watch_begin(struct directory_watch **out, const struct directory_setup *setup,
	struct err *e);
struct directory_watch *directory_watch_free(struct directory_watch *w);
DEFINE_CLEANUP(struct directory_watch *, directory_watch_free)

/* For the environment of the workload. */
struct workload_observer directory_watch_observer(struct directory_watch *w);

/* The workload is done: judges its phases, labels it, and makes the bundle. */
int directory_watch_end(struct directory_watch *w, struct result_run *run,
	struct bundle *bundle, struct err *e);
