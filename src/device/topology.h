/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Which whole disks lie below a device: through partitions, dm, md and loop devices (by
 * the device of the backing file's file system).
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/err.h"
#include "device/identity.h"

struct topology {
	char **disks; /* kernel names of the whole disks at the bottom, sorted, unique */
	size_t count;
	bool complete; /* false: a part lies on what is no disk or cannot be seen, such as
			* a file on tmpfs, overlayfs, FUSE or the network; the last device
			* before that is among the disks then */
};

/* A device that sysfs does not know: -ENOENT. */
int topology_read(struct topology *t, dev_t devno, struct err *e);

/* The same for a tree below sysfs_root. */
int topology_read_sysfs(struct topology *t, const char *sysfs_root, dev_t devno,
	struct err *e);

/* The disks below a regular file, by the device of its file system. */
int topology_read_file(struct topology *t, int fd, const char *name, struct err *e);
void topology_deinit(struct topology *t);

/* Do both lie on a common whole disk?  Unknown when there is none in common but one of
 * them cannot be followed. */
enum device_answer topology_shared(dev_t a, dev_t b);
enum device_answer topology_compare(const struct topology *a, const struct topology *b);
