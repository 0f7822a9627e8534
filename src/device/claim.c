/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Holding a device; see claim.h.
 *
 * The order matters: what is named is first looked at (so that a pipe or a directory is
 * never opened), then opened with O_EXCL, and the identity is read from that descriptor,
 * so that what was checked is what is held even when the name changes meanwhile.
 *
 * EBUSY without a user that can be named is tried again for a short time: the kernel
 * finishes some unmounts after umount(2) has returned.
 */

#include "device/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>

#include "core/strbuf.h"
#include "device/sysfs.h"
#include "device/users.h"

#define BUSY_TRIES 20
#define BUSY_WAIT_NS 50000000L

struct claim {
	int fd;
	struct device_identity identity;
};

/* Of a whole disk also the users of its partitions: these make the disk busy. */
static void add_partition_users(struct strbuf *b, const char *disk_dir)
{
	size_t count;
	char **names = sysfs_names(&count, "%s", disk_dir);

	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *dir = NULL;
		_cleanup_free_ char *users = NULL;
		dev_t devno;

		if (asprintf(&dir, "%s/%s", disk_dir, names[i]) < 0) {
			dir = NULL;
			break;
		}
		devno = sysfs_is_partition(dir) ? sysfs_devno(dir) : 0;
		users = devno ? claim_describe_users(devno) : NULL;
		if (users)
			strbuf_addf(b, "%shas the partition %s, which %s",
				b->length ? ", " : "", names[i], users);
	}
	sysfs_names_free(names, count);
}

char *claim_describe_users(dev_t devno)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	_cleanup_free_ char *dir = sysfs_device_dir(SYSFS_ROOT, devno);
	_cleanup_free_ char *disk = dir ? sysfs_whole_dir(dir) : NULL;
	_cleanup_free_ char *name = dir ? sysfs_kernel_name(dir) : NULL;

	users_add_mounts(&b, devno);
	users_add_swap(&b, devno, 0);
	users_add_loops(&b, devno, 0);
	if (dir)
		users_add_holders(&b, dir);
	if (name)
		users_add_journal(&b, name);
	if (disk && strcmp(dir, disk))
		users_add_holders(&b, disk); /* md or multipath over the whole disk */
	else if (disk)
		add_partition_users(&b, disk);
	return b.length ? strbuf_take(&b) : NULL;
}

static int refuse_busy(const char *path, dev_t devno, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf programs = { 0 };

	users_add_programs(&programs, devno);
	if (programs.length)
		return err_refuse(e, "%s is opened exclusively, by one of: %s", path,
			strbuf_text(&programs));
	return err_refuse(e, "%s is opened exclusively by another program", path);
}

static int open_block(struct claim *c, const char *path, dev_t devno, bool writable,
	struct err *e)
{
	const struct timespec pause = { .tv_nsec = BUSY_WAIT_NS };
	int flags = (writable ? O_RDWR : O_RDONLY) | O_EXCL | O_CLOEXEC;

	for (int i = 0; i < BUSY_TRIES; i++) {
		_cleanup_free_ char *users = NULL;

		c->fd = open(path, flags);
		if (c->fd >= 0)
			return 0;
		if (errno != EBUSY)
			return err_set(e, errno, "open %s", path);
		users = claim_describe_users(devno);
		if (users)
			return err_refuse(e, "%s %s", path, users);
		nanosleep(&pause, NULL);
	}
	return refuse_busy(path, devno, e);
}

static int check_writable(const char *path, struct err *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	int read_only = 0;

	if (fd < 0)
		return err_set(e, errno, "open %s", path);
	if (ioctl(fd, BLKROGET, &read_only))
		return err_set(e, errno, "ask whether %s is read-only", path);
	if (read_only)
		return err_refuse(e, "%s is a read-only device", path);
	return 0;
}

/* What a loop device or a swap file lies on is not guarded by O_EXCL. */
static char *users_above(const struct stat *st)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	dev_t devno = S_ISBLK(st->st_mode) ? st->st_rdev : st->st_dev;
	ino_t inode = S_ISBLK(st->st_mode) ? 0 : st->st_ino;

	users_add_loops(&b, devno, inode);
	users_add_swap(&b, devno, inode);
	return b.length ? strbuf_take(&b) : NULL;
}

char *claim_describe_users_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return NULL;
	return S_ISBLK(st.st_mode) ? claim_describe_users(st.st_rdev) : users_above(&st);
}

static int open_file(struct claim *c, const char *path, bool writable, struct err *e)
{
	c->fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (c->fd < 0 && writable && (errno == EROFS || errno == ETXTBSY))
		return err_refuse(e, "%s cannot be written: %s", path, strerror(errno));
	if (c->fd < 0)
		return err_set(e, errno, "open %s", path);
	if (!flock(c->fd, LOCK_EX | LOCK_NB))
		return 0;
	if (errno == EWOULDBLOCK)
		return err_refuse(e, "%s is locked by another program", path);
	return err_set(e, errno, "lock %s", path);
}

static int open_claimed(struct claim *c, const char *path, bool writable, struct err *e)
{
	_cleanup_free_ char *users = NULL;
	struct stat before, now;
	int r;

	if (stat(path, &before))
		return err_set(e, errno, "open %s", path);
	if (!S_ISBLK(before.st_mode) && !S_ISREG(before.st_mode))
		return err_refuse(e, "%s is neither a block device nor an image file",
			path);
	r = writable && S_ISBLK(before.st_mode) ? check_writable(path, e) : 0;
	if (r)
		return r;
	if (S_ISBLK(before.st_mode))
		r = open_block(c, path, before.st_rdev, writable, e);
	else
		r = open_file(c, path, writable, e);
	if (r)
		return r;
	if (fstat(c->fd, &now))
		return err_set(e, errno, "look at %s", path);
	if (now.st_mode != before.st_mode || now.st_rdev != before.st_rdev ||
		now.st_ino != before.st_ino || now.st_dev != before.st_dev)
		return err_refuse(e, "%s became another device while it was opened",
			path);
	users = users_above(&now);
	return users ? err_refuse(e, "%s %s", path, users) : 0;
}

int claim_take(struct claim **out, const char *path, bool writable, struct err *e)
{
	_cleanup_(claim_releasep) struct claim *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_set(e, ENOMEM, "open %s", path);
	c->fd = -1;
	r = open_claimed(c, path, writable, e);
	if (!r)
		r = device_identity_read(&c->identity, c->fd, path, e);
	if (r)
		return r;
	*out = take_ptr(c);
	return 0;
}

struct claim *claim_release(struct claim *c)
{
	if (!c)
		return NULL;
	closep(&c->fd);
	device_identity_deinit(&c->identity);
	free(c);
	return NULL;
}

int claim_fd(const struct claim *c)
{
	return c->fd;
}

const struct device_identity *claim_identity(const struct claim *c)
{
	return &c->identity;
}

const char *claim_path(const struct claim *c)
{
	return c->identity.path;
}
