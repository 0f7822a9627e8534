/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The machine on which something was measured, as facts for a bundle: what a careful
 * reader asks first.  A fact that cannot be had is null, never guessed.
 */

#include <jansson.h>

#include "core/err.h"

/*
 * Kernel, command line, taint, e2fsprogs, processors and their power saving, memory and its
 * writeback settings, and the time; below "readings" what never stands still: load,
 * pressure, memory that is free or dirty.  version: of this program.  A new reference;
 * NULL: no memory.
 */
json_t *environment_host(const char *version);

/*
 * Settings of the request queue of a block device, by its kernel name ("sdb1", "dm-0");
 * for a partition those of its disk: scheduler, write cache, FUA, rotational, queue
 * depth, read-ahead, sector sizes.  A new reference; NULL: no memory.
 */
json_t *environment_queue(const char *kernel_name);

/*
 * What differs between two snapshots, as [{"fact": "host/cpu_governor", "before": ...,
 * "after": ...}]; "time" and what is below "readings" is left out.  Elements of arrays are
 * named by their "role" and "name" where they have these.  A new reference; NULL: no
 * memory.
 */
json_t *environment_differences(const json_t *before, const json_t *after);

/*
 * The mount at a target as the kernel describes it: device, type, and options in force,
 * those of the mount and of the file system joined.  *options is the caller's to free.
 * Not mounted: -ENOENT.
 */
int environment_mount(const char *target, char **options, struct err *e);
