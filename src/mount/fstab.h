/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The line of /etc/fstab that mounts a volume, and what it must say once the journal has
 * moved: journal_path= with a name that survives a reboot, or no such option at all.
 */

#include <stdbool.h>

#include "core/err.h"

/* /etc/fstab, or what the environment variable LIBMOUNT_FSTAB names. */
const char *fstab_path(void);

struct fstab_line {
	char *target;	    /* where it mounts; NULL: the volume is not in fstab */
	char *type, *options; /* as they stand */
	char *wanted_type, *wanted_options;
	bool is_root;	/* mounts / */
	bool unchecked; /* the sixth field is 0: e2fsck never runs on it at boot */
	bool differs;	/* as it stands it is not what is wanted */
};

/* device: canonical path of the volume.  journal_path: a stable name of the journal
 * device, or NULL when the journal is not external.  has_journal: false turns the type
 * ext3, which needs one, into ext2, and drops options like data=; true undoes the former.
 * path: the file, normally fstab_path(). */
int fstab_look(struct fstab_line *l, const char *device, const char *journal_path,
	bool has_journal, const char *path, struct err *e);

/* Changes that line to what is wanted, leaves all others as they are, and keeps the old
 * file as path.jbdlab.  The new file replaces the old one in one step. */
int fstab_write(const struct fstab_line *l, const char *device, const char *path,
	struct err *e);
void fstab_line_deinit(struct fstab_line *l);
