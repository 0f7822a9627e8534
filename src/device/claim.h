/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Holding a device.  O_EXCL on a block device is the one complete test for "in use": it
 * fails for mounts in any namespace, swap, dm, md, LVM and the external journal of a
 * mounted volume, and while it is held none of these can begin.  All later writes go
 * through the descriptor of the claim, never through the name again.
 *
 * Loop devices claim nothing of what they lie on.  So a loop device is also refused when
 * another one shows the same bytes, or when what it lies on is in use.
 *
 * A regular file (an image) is held by an exclusive flock, which only protects against
 * another jbdlab; one that is open for writing elsewhere is refused.
 */

#include <stdbool.h>

#include "core/err.h"
#include "device/identity.h"

struct claim; /* opaque */

/*
 * Opens path (also through symbolic links) and holds it.  writable: for reading and
 * writing, else read-only but still exclusive.  Errors: busy -> ERR_REFUSED with the
 * names of the users ("/dev/sdb1 is mounted on /srv", "is swap space", "is the journal of
 * the mounted volume /dev/sdc1", "is held by dm-0", "backs the loop device /dev/loop0",
 * "is opened exclusively by another program"); read-only device asked writable ->
 * ERR_REFUSED; not a block device or file -> ERR_REFUSED; missing -> -ENOENT.
 */
int claim_take(struct claim **out, const char *path, bool writable, struct err *e);

/*
 * The same for reading, without holding a block device: for a look at disks that somebody
 * else may be about to mount, whom a claim would turn away.  So it does not see a program
 * that holds the device and has no other use of it, and proves nothing for later.
 */
int claim_look(struct claim **out, const char *path, struct err *e);

struct claim *claim_release(struct claim *c); /* closes; NULL allowed; returns NULL */
DEFINE_CLEANUP(struct claim *, claim_release)

int claim_fd(const struct claim *c); /* owned by the claim */
const struct device_identity *claim_identity(const struct claim *c);
const char *claim_path(const struct claim *c); /* canonical path */

/*
 * Who uses a device, as a phrase to put behind its name ("is mounted on /srv, is held by
 * dm-0"), or NULL when nobody is found.  Looks at the mount tables of all processes,
 * swap, holders, loop devices that lie on it and jbd2 threads; of a whole disk also at
 * its partitions.  Caller frees.
 */
char *claim_describe_users(dev_t devno);

/* The same for a descriptor of a block device or of an image file; of a file only loop
 * devices and swap can be found. */
char *claim_describe_users_of(int fd);

/* Why path could not be opened, from errno: ERR_REFUSED for a disk that only root may open. */
int claim_cannot_open(const char *path, struct err *e);
