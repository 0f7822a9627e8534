/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The process of a disk model: started from this program's own file, in a session of its
 * own, found again by a lock that the kernel drops with it, whatever ends it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/err.h"

#define MODEL_SERVE_COMMAND "model-serve"

struct model_process {
	const char *name;     /* of the scratch disk */
	const char *model;    /* as given */
	const char *file;     /* data file of size_bytes */
	const char *disk;     /* name of the served file below the mount point */
	const char *run_dir;  /* existing directory; mount/ in it exists, the others are made */
	uint64_t size_bytes;
};

#define MODEL_MOUNT "mount" /* below run_dir */
#define MODEL_LOCK "lock"
#define MODEL_SOCKET "socket"
#define MODEL_BUSY "busy" /* the time charged so far: nanoseconds, a uint64_t as in memory */

/* Starts it and waits until it serves.  Errors carry what it said. */
int model_process_start(const struct model_process *p, struct err *e);

/* The process that serves below run_dir, 0 when there is none. */
pid_t model_process_find(const char *run_dir);

/* Kills it, for when it does not answer.  Nothing to kill is no error. */
int model_process_kill(const char *run_dir, struct err *e);

/* Waits up to timeout_ms for its end, then kills it.  -ETIMEDOUT when even that fails. */
int model_process_end(const char *run_dir, unsigned timeout_ms, struct err *e);

/* In the started process: what MODEL_SERVE_COMMAND does.  Serves until unmounted;
 * "ready" goes to standard output when it does, errors to the caller. */
int model_process_main(const struct model_process *p, struct err *e);
