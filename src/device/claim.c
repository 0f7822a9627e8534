/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Holding a device; see claim.h.
 *
 * The order matters: what is named is first looked at (so that a pipe or a directory is
 * never opened), then opened with O_EXCL, and the identity is read from that descriptor,
 * so that what was checked is what is held even when the name changes meanwhile.
 *
 * Loop devices are the hole in O_EXCL: two of them over one file do not know of each other,
 * and one over a block device does not claim it.  So what a loop device shares its bytes
 * with, and who uses what it lies on, is asked for as well.  Of an image file only the
 * kernel's leases tell whether somebody else has it open for writing.
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

enum { LOOPS_DEEP = 8 };

/* Users of what a loop device lies on, and other loop devices over the same bytes. */
static void add_users_below(struct strbuf *b, dev_t devno, int depth)
{
	_cleanup_free_ char *dir = sysfs_device_dir(SYSFS_ROOT, devno);
	_cleanup_free_ char *disk = dir ? sysfs_whole_dir(dir) : NULL;
	_cleanup_free_ char *name = disk ? sysfs_kernel_name(disk) : NULL;
	_cleanup_free_ char *below_dir = NULL, *below_name = NULL;
	dev_t file_devno = 0, below;
	ino_t inode = 0;

	if (!name || !depth)
		return;
	users_add_twins(b, name);
	below = users_loop_below(name, &file_devno, &inode);
	if (inode)
		users_add_swap(b, file_devno, inode);
	if (!below)
		return;
	below_dir = sysfs_device_dir(SYSFS_ROOT, below);
	below_name = below_dir ? sysfs_kernel_name(below_dir) : NULL;
	if (below_name) {
		_cleanup_(strbuf_deinit) struct strbuf users = { 0 };

		users_add_mounts(&users, below);
		users_add_swap(&users, below, 0);
		users_add_holders(&users, below_dir);
		users_add_journal(&users, below_name);
		if (users.length)
			strbuf_addf(b, "%slies on /dev/%s, which %s", b->length ? ", " : "",
				below_name, strbuf_text(&users));
	}
	add_users_below(b, below, depth - 1);
}

static void describe(struct strbuf *b, dev_t devno);

/* Of a whole disk also the users of its partitions: these make the disk busy. */
static void add_partition_users(struct strbuf *b, const char *disk_dir)
{
	size_t count;
	char **names = sysfs_names(&count, "%s", disk_dir);

	for (size_t i = 0; i < count; i++) {
		_cleanup_(strbuf_deinit) struct strbuf users = { 0 };
		_cleanup_free_ char *dir = NULL;
		dev_t devno;

		if (asprintf(&dir, "%s/%s", disk_dir, names[i]) < 0) {
			dir = NULL;
			break;
		}
		devno = sysfs_is_partition(dir) ? sysfs_devno(dir) : 0;
		if (devno)
			describe(&users, devno);
		if (users.length)
			strbuf_addf(b, "%shas the partition %s, which %s",
				b->length ? ", " : "", names[i], strbuf_text(&users));
	}
	sysfs_names_free(names, count);
}

static void describe(struct strbuf *b, dev_t devno)
{
	_cleanup_free_ char *dir = sysfs_device_dir(SYSFS_ROOT, devno);
	_cleanup_free_ char *disk = dir ? sysfs_whole_dir(dir) : NULL;
	_cleanup_free_ char *name = dir ? sysfs_kernel_name(dir) : NULL;

	users_add_mounts(b, devno);
	users_add_swap(b, devno, 0);
	users_add_loops(b, devno, 0);
	if (dir)
		users_add_holders(b, dir);
	if (name)
		users_add_journal(b, name);
	if (disk && strcmp(dir, disk))
		users_add_holders(b, disk); /* md or multipath over the whole disk */
	else if (disk)
		add_partition_users(b, disk);
}

char *claim_describe_users(dev_t devno)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	describe(&b, devno);
	add_users_below(&b, devno, LOOPS_DEEP);
	return b.length ? strbuf_take(&b) : NULL;
}

int claim_cannot_open(const char *path, struct err *e)
{
	int code = errno;
	struct stat st;

	if ((code == EACCES || code == EPERM) && geteuid() && !stat(path, &st) &&
		S_ISBLK(st.st_mode))
		return err_refuse(e, "open %s: %s: it takes root to open this disk", path,
			strerror(code));
	return err_set(e, code, "open %s", path);
}

static int refuse_busy(const char *path, dev_t devno, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf programs = { 0 };

	users_add_programs(&programs, devno, 0);
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
			return claim_cannot_open(path, e);
		users = claim_describe_users(devno);
		if (users)
			return err_refuse(e, "%s %s", path, users);
		nanosleep(&pause, NULL);
	}
	return refuse_busy(path, devno, e);
}

/* Without holding it: then those who have it must be asked for before. */
static int look_at_block(struct claim *c, const char *path, dev_t devno, struct err *e)
{
	_cleanup_free_ char *users = claim_describe_users(devno);

	if (users)
		return err_refuse(e, "%s %s", path, users);
	c->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return c->fd < 0 ? claim_cannot_open(path, e) : 0;
}

static int check_writable(const char *path, struct err *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	int read_only = 0;

	if (fd < 0)
		return claim_cannot_open(path, e);
	if (ioctl(fd, BLKROGET, &read_only))
		return err_set(e, errno, "ask whether %s is read-only", path);
	if (read_only)
		return err_refuse(e, "%s is a read-only device", path);
	return 0;
}

/* What a loop device or a swap file lies on is not guarded by O_EXCL, nor is a loop device
 * guarded against what it lies on. */
static char *users_above(const struct stat *st)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	dev_t devno = S_ISBLK(st->st_mode) ? st->st_rdev : st->st_dev;
	ino_t inode = S_ISBLK(st->st_mode) ? 0 : st->st_ino;

	users_add_loops(&b, devno, inode);
	users_add_swap(&b, devno, inode);
	if (!inode)
		add_users_below(&b, devno, LOOPS_DEEP);
	return b.length ? strbuf_take(&b) : NULL;
}

char *claim_describe_users_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return NULL;
	return S_ISBLK(st.st_mode) ? claim_describe_users(st.st_rdev) : users_above(&st);
}

static int lock_file(int fd, const char *path, struct err *e)
{
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return 0;
	if (errno == EWOULDBLOCK)
		return err_refuse(e, "%s is locked by another program", path);
	return err_set(e, errno, "lock %s", path);
}

/* A read lease is only given for a file that nobody has open for writing.  File systems
 * without leases give another error than EAGAIN. */
static int refuse_writers(int fd, const char *path, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf programs = { 0 };
	struct stat st;

	if (!fcntl(fd, F_SETLEASE, F_RDLCK)) {
		fcntl(fd, F_SETLEASE, F_UNLCK);
		return 0;
	}
	if (errno != EAGAIN)
		return 0;
	if (!fstat(fd, &st))
		users_add_programs(&programs, st.st_dev, st.st_ino);
	if (programs.length)
		return err_refuse(e, "%s is open for writing in another program, one of: %s",
			path, strbuf_text(&programs));
	return err_refuse(e, "%s is open for writing in another program", path);
}

/* The lock is first taken on a descriptor for reading: one for writing of our own would
 * stand in the way of the lease. */
static int look_for_writers(const char *path, struct err *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? err_set(e, errno, "open %s", path) : lock_file(fd, path, e);

	return r ? r : refuse_writers(fd, path, e);
}

static int open_file(struct claim *c, const char *path, bool writable, struct err *e)
{
	int r = writable ? look_for_writers(path, e) : 0;

	if (r)
		return r;
	c->fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (c->fd < 0 && writable && (errno == EROFS || errno == ETXTBSY))
		return err_refuse(e, "%s cannot be written: %s", path, strerror(errno));
	if (c->fd < 0)
		return err_set(e, errno, "open %s", path);
	return lock_file(c->fd, path, e);
}

enum intent { LOOK, READ, WRITE };

static int open_claimed(struct claim *c, const char *path, enum intent intent, struct err *e)
{
	bool writable = intent == WRITE;
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
	users = S_ISREG(before.st_mode) ? users_above(&before) : NULL;
	if (users)
		return err_refuse(e, "%s %s", path, users);
	if (S_ISBLK(before.st_mode) && intent == LOOK)
		r = look_at_block(c, path, before.st_rdev, e);
	else if (S_ISBLK(before.st_mode))
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

static int make_claim(struct claim **out, const char *path, enum intent intent, struct err *e)
{
	_cleanup_(claim_releasep) struct claim *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_set(e, ENOMEM, "open %s", path);
	c->fd = -1;
	r = open_claimed(c, path, intent, e);
	if (!r)
		r = device_identity_read(&c->identity, c->fd, path, e);
	if (!r && c->identity.is_block && !c->identity.size_bytes)
		r = err_refuse(e, "%s has no bytes: nothing is connected to it", path);
	if (r)
		return r;
	*out = take_ptr(c);
	return 0;
}

int claim_take(struct claim **out, const char *path, bool writable, struct err *e)
{
	return make_claim(out, path, writable ? WRITE : READ, e);
}

int claim_look(struct claim **out, const char *path, struct err *e)
{
	return make_claim(out, path, LOOK, e);
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
