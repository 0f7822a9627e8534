/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Mounting and unmounting, through libmount; the kernel's own reason is in the error
 * text.  /etc/fstab is never consulted and no helper program is run.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "core/err.h"

/* type "ext3", "ext4"...; options as for mount -o, NULL for none.  target must exist.
 * A device that can only be read is never silently mounted read-only: say "ro".
 * -EOPNOTSUPP: the kernel says that it can mount no such volume at all. */
int mount_volume(const char *device, const char *target, const char *type,
	const char *options, struct err *e);

/* Mounts a small empty file system in memory on target, which must exist, for root only. */
int mount_memory(const char *target, struct err *e);

/* Unmounts target, retrying for a short time while it is busy; never lazily.  Still busy:
 * -EBUSY. */
int mount_unmount(const char *target, struct err *e);

/* Where a device is mounted in our namespace; NULL when it is not.  Caller frees. */
char *mount_find_target(dev_t devno);

/* Can a device be unmounted, and mounted again as mount_state says, and all be as it was?
 * Refused when it is mounted twice, in part, with mapped users, or below another mount.  0
 * also when it is not mounted in our namespace. */
int mount_check_alone(dev_t devno, struct err *e);

/* How a device is mounted, so that it can be mounted again in the same way. */
struct mount_state {
	char *target, *type, *options; /* options as for mount_volume(); owned */
};

/* The first mount of the device in our namespace.  -ENOENT without message: none. */
int mount_state_read(struct mount_state *m, dev_t devno, struct err *e);
void mount_state_deinit(struct mount_state *m);

/* Options without those that name a journal device (all = false), or without all that a
 * volume without journal refuses (all = true): data=, commit=, journal_*.  "defaults"
 * when nothing is left.  Caller frees; NULL: no memory. */
char *mount_options_strip_journal(const char *options, bool all);

/*
 * Mounts on a new private directory (below /run, else $TMPDIR or /tmp), read-only and
 * then read-write, unmounts and removes the directory: the kernel's word that the volume
 * is whole.  This happens in a mount namespace of its own, so that nobody can take a copy
 * of the mount along and nothing stays mounted if we are killed.  options may be NULL. To
 * be called while the process has one thread.
 */
int mount_trial(const char *device, const char *type, const char *options, struct err *e);

/* Mounts read-write and unmounts, in the same way: the kernel replays the log.  (Mounted
 * read-only, Linux 6.18 fails to replay fast commits.) */
int mount_replay(const char *device, const char *type, const char *options, struct err *e);
