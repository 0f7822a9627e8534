/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The disks that an xfstests configuration names, so that they need not be named twice. */

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"

struct xfstests_disk {
	char *role;   /* the variable: "SCRATCH_DEV" */
	char *device; /* as it stands there */
};

struct xfstests_disks {
	struct xfstests_disk *items;
	size_t count;
};

/* From the variables of our environment; none is no error. */
int xfstests_from_environment(struct xfstests_disks *d, struct err *e);

/*
 * From a local.config: lines NAME=VALUE, also with "export" before them or in [sections].
 * No shell reads it: a value that only a shell could work out is ERR_USAGE, with its line,
 * and lines that set no variable of disks are passed over.
 */
int xfstests_from_file(struct xfstests_disks *d, const char *path, struct err *e);
void xfstests_deinit(struct xfstests_disks *d);

/* Does xfstests overwrite what has this role? */
bool xfstests_overwrites(const char *role);
