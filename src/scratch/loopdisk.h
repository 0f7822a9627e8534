/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Scratch disks: a sparse file under a loop device with direct I/O, plain or behind the
 * disk model.  Each is described by a small file in /var/lib/jbdlab/scratch, written
 * before anything is created, so that destroy finds what a crash of ours left behind.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "core/log.h"

struct scratch_disk {
	char *name;
	char *model;  /* "none", "hdd-7200", ... as given; NULL: its record is damaged */
	char *device; /* /dev/loopN; NULL when the loop device is gone */
	char *file;   /* data file; NULL: record damaged */
	uint64_t size_bytes;
	bool running; /* loop device attached and model process alive */
};

struct scratch_options {
	const char *name;
	uint64_t size_bytes;
	const char *model;     /* "hdd-7200", "ssd,flush=1ms", "none" */
	const char *directory; /* where the file goes; NULL: /var/tmp */
	const struct log *log;
};

/* Creates and attaches; the device is in *out.  A name in use: ERR_REFUSED. */
int scratch_create(const struct scratch_options *o, struct scratch_disk *out,
	struct err *e);

/*
 * Makes a disk that an earlier process left behind this process's own, attached as it was;
 * what went down with a process or with the system is started again over its data file.
 * No such disk, or its data file is gone: -ENOENT.  Its process still runs: ERR_REFUSED.
 */
int scratch_adopt(const char *name, const struct log *log, struct scratch_disk *out,
	struct err *e);

/* Everything that was created under that name goes away, also after a crash.  None: -ENOENT.
 * In use, or made by another process that still runs: ERR_REFUSED. */
int scratch_destroy(const char *name, const struct log *log, struct err *e);

int scratch_list(struct scratch_disk **disks, size_t *count, struct err *e);
void scratch_disk_deinit(struct scratch_disk *d);
void scratch_list_free(struct scratch_disk *disks, size_t count);

/* The file with the time that the disk's model charged so far, in ns, a uint64_t as in
 * memory; caller frees.  NULL: it has no model, or no memory. */
char *scratch_busy_file(const struct scratch_disk *d);

/* Is this device (canonical path) a scratch disk of ours?  Checks that the loop device's
 * backing file is the recorded one, not the name only. */
bool scratch_is_ours(const char *device);
