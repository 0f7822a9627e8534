/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A mount namespace of our own.  What is mounted in it is seen by nobody else: no service
 * that starts meanwhile takes a copy of the mount with it and keeps the volume busy after
 * we have unmounted it, and everything goes when we die.  What others unmount goes here,
 * too.
 */

#include "core/err.h"

struct mount_namespace {
	int previous; /* -1: not entered */
	int root, directory; /* of the process there */
};

#define MOUNT_NAMESPACE_NONE ((struct mount_namespace){ -1, -1, -1 })

/*
 * Enters a new namespace, a copy of the present one.  Mounts below the directory without
 * (NULL: none) are not taken along: a copy would keep them busy for their owner.  To be
 * called while the process has one thread.
 */
int mount_namespace_enter(struct mount_namespace *ns, const char *without,
	struct err *e);

/* Goes back, also to the working directory; nothing to do when not entered. */
int mount_namespace_leave(struct mount_namespace *ns, struct err *e);
