/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What was around a cell while it was measured: the environment before and after, what the
 * kernel said, where the files of the workloads and the journal lay, the superblocks, and
 * whether somebody else was at work on the disks.  All goes into the record of the cell.
 */

#include "run/session.h"

/* Phases of a cell. */
int surroundings_mark(void *session, struct err *e);   /* before anything is done */
int surroundings_before(void *session, struct err *e); /* mounted and settled */
int surroundings_after(void *session, struct err *e);  /* everything is measured */
int surroundings_forget(void *session, struct err *e);

/* The files that a workload has now; called after each of its timed parts. */
void surroundings_look_at_files(struct session *s);

/* A workload is done: its files go into the record under its name. */
int surroundings_end_workload(struct session *s, const char *workload, struct err *e);

/* {"host", "devices"} at this moment; a new reference, NULL: no memory. */
json_t *surroundings_snapshot(const struct session *s);
