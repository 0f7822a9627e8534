/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A mount namespace of our own; see namespace.h.  All mounts in it are made slaves:
 * unmounting elsewhere reaches us, mounting here reaches nobody.
 *
 * setns(2) puts the root and the working directory of the process at the root of the
 * namespace.  For a process in a chroot that is another directory, so both are kept open
 * and taken again.  It also helps: how mounts propagate can only be set at mounts, and the
 * root of a chroot need not be one.
 */

#include "mount/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <libmount/libmount.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>

/* Detaches what is mounted below a directory, from this namespace alone.  What cannot be
 * detached only stays longer than it could. */
static void forget_below(const char *directory)
{
	struct libmnt_table *table = mnt_new_table_from_file("/proc/self/mountinfo");
	struct libmnt_iter *it = mnt_new_iter(MNT_ITER_BACKWARD);
	size_t n = strlen(directory);
	struct libmnt_fs *fs;

	while (table && it && !mnt_table_next_fs(table, it, &fs)) {
		const char *target = mnt_fs_get_target(fs);

		if (target && !strncmp(target, directory, n) && target[n] == '/')
			umount2(target, MNT_DETACH);
	}
	mnt_free_iter(it);
	mnt_unref_table(table);
}

static int open_directory(const char *path)
{
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int return_to(int root, int directory)
{
	return fchdir(root) || chroot(".") || fchdir(directory) ? -errno : 0;
}

/* In the new namespace: nothing that is mounted here shall be seen elsewhere. */
static int stop_propagation(void)
{
	_cleanup_close_ int self = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int root = open_directory("/"), directory = open_directory(".");
	int r = 0, back;

	if (self < 0 || root < 0 || directory < 0 || setns(self, CLONE_NEWNS))
		return -errno;
	if (mount("none", "/", "none", MS_REC | MS_SLAVE, ""))
		r = -errno;
	back = return_to(root, directory);
	return r ? r : back;
}

static int open_present(struct mount_namespace *ns)
{
	ns->previous = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	ns->root = open_directory("/");
	ns->directory = open_directory(".");
	return ns->previous < 0 || ns->root < 0 || ns->directory < 0 ? -errno : 0;
}

static void forget(struct mount_namespace *ns)
{
	closep(&ns->previous);
	closep(&ns->root);
	closep(&ns->directory);
	*ns = MOUNT_NAMESPACE_NONE;
}

int mount_namespace_enter(
	struct mount_namespace *ns, const char *without, struct err *e)
{
	struct mount_namespace present = MOUNT_NAMESPACE_NONE;
	int r = open_present(&present);

	if (r) {
		forget(&present);
		return err_set(e, -r, "open the mount namespace");
	}
	if (unshare(CLONE_NEWNS)) {
		r = -errno;
		forget(&present);
		return err_set(e, -r, "make a mount namespace");
	}
	*ns = present;
	r = stop_propagation();
	if (r) {
		/* Back to where mounts may propagate as they always did. */
		mount_namespace_leave(ns, NULL);
		return err_set(e, -r, "make the mount namespace private");
	}
	if (without)
		forget_below(without);
	return 0;
}

int mount_namespace_leave(struct mount_namespace *ns, struct err *e)
{
	int r = 0;

	if (ns->previous < 0)
		return 0;
	if (setns(ns->previous, CLONE_NEWNS))
		r = -errno;
	else
		r = return_to(ns->root, ns->directory);
	forget(ns);
	return r ? err_set(e, -r, "leave the mount namespace") : 0;
}
