/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Which whole disks lie below a device; see topology.h.
 *
 * From a partition the way leads to its disk, from a device mapper, md or bcache device
 * to every name in slaves/, from a loop device to the file system of its backing file.
 * The end is a disk with nothing below.  A file system with a device number of its own
 * (btrfs) is looked up in the mount table for the device that it was mounted from.  Where
 * the way cannot be followed, the last device that was seen counts as a disk, so that two
 * partitions of it are known to share it, and the answer is marked as incomplete.
 */

#include "device/topology.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "core/fileio.h"
#include "device/sysfs.h"

#define DEPTH_MAX 32

struct descent {
	struct topology *t;
	const char *root;
	int depth;
	int failure;
};

static void descend(struct descent *d, const char *dir);

static void add_disk(struct descent *d, const char *dir)
{
	struct topology *t = d->t;
	_cleanup_free_ char *name = sysfs_kernel_name(dir);
	char **more;
	size_t at = 0;

	if (!name)
		goto no_memory;
	while (at < t->count && strverscmp(t->disks[at], name) < 0)
		at++;
	if (at < t->count && !strcmp(t->disks[at], name))
		return;
	more = reallocarray(t->disks, t->count + 1, sizeof(*more));
	if (!more)
		goto no_memory;
	t->disks = more;
	memmove(more + at + 1, more + at, (t->count - at) * sizeof(*more));
	more[at] = take_ptr(name);
	t->count++;
	return;
no_memory:
	d->failure = -ENOMEM;
}

/* last: the directory of the device that was seen last, NULL when there was none. */
static void give_up(struct descent *d, const char *last)
{
	d->t->complete = false;
	if (last)
		add_disk(d, last);
}

static void descend_devno(struct descent *d, dev_t devno, const char *last)
{
	_cleanup_free_ char *dir = sysfs_device_dir(d->root, devno);

	if (dir)
		descend(d, dir);
	else
		give_up(d, last);
}

/* What a file system with an anonymous device number was mounted from; 0: no device. */
static dev_t source_of(dev_t anonymous)
{
	_cleanup_(err_clear) struct err e = { 0 };
	_cleanup_free_ char *table = NULL;
	char *save = NULL;

	if (fileio_read("/proc/self/mountinfo", &table, NULL, &e))
		return 0;
	for (char *line = strtok_r(table, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		unsigned high, low;
		char type[64], source[4096];
		const char *rest = strstr(line, " - ");
		struct stat st;

		if (rest && sscanf(line, "%*d %*d %u:%u", &high, &low) == 2 &&
			makedev(high, low) == anonymous &&
			sscanf(rest, " - %63s %4095s", type, source) == 2 &&
			!strcmp(type, "btrfs") && !stat(source, &st) &&
			S_ISBLK(st.st_mode))
			return st.st_rdev;
	}
	return 0;
}

static void descend_file(struct descent *d, const struct stat *st, const char *last)
{
	dev_t devno = st->st_dev;

	if (!major(devno)) {
		devno = source_of(devno);
		/* btrfs may lie on more devices than the one it was mounted from. */
		d->t->complete = false;
	}
	if (devno)
		descend_devno(d, devno, last);
	else
		give_up(d, last);
}

static void descend_backing(struct descent *d, const char *path, const char *disk)
{
	struct stat st;

	if (stat(path, &st))
		give_up(d, disk);
	else if (S_ISBLK(st.st_mode))
		descend_devno(d, st.st_rdev, disk);
	else
		descend_file(d, &st, disk);
}

static void descend_slaves(struct descent *d, const char *disk, char **slaves,
	size_t count)
{
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *link = NULL;
		_cleanup_free_ char *dir = NULL;

		if (asprintf(&link, "%s/slaves/%s", disk, slaves[i]) < 0) {
			link = NULL;
			d->failure = -ENOMEM;
			return;
		}
		dir = realpath(link, NULL);
		if (dir)
			descend(d, dir);
		else
			give_up(d, disk);
	}
}

static void descend(struct descent *d, const char *dir)
{
	_cleanup_free_ char *disk = sysfs_whole_dir(dir);
	_cleanup_free_ char *backing = NULL;
	char **slaves;
	size_t count;

	if (!disk || d->depth >= DEPTH_MAX) {
		give_up(d, disk);
		return;
	}
	d->depth++;
	backing = sysfs_backing_file(disk);
	slaves = sysfs_names(&count, "%s/slaves", disk);
	if (backing)
		descend_backing(d, backing, disk);
	else if (count)
		descend_slaves(d, disk, slaves, count);
	else
		add_disk(d, disk);
	sysfs_names_free(slaves, count);
	d->depth--;
}

int topology_read_sysfs(struct topology *t, const char *sysfs_root, dev_t devno,
	struct err *e)
{
	_cleanup_(topology_deinit) struct topology found = { .complete = true };
	_cleanup_free_ char *dir = sysfs_device_dir(sysfs_root, devno);
	struct descent d = { .t = &found, .root = sysfs_root };

	if (!dir)
		return err_set(e, ENOENT, "device %u:%u", major(devno), minor(devno));
	descend(&d, dir);
	if (d.failure)
		return err_set(e, -d.failure, "device %u:%u", major(devno), minor(devno));
	*t = found;
	found = (struct topology){ 0 };
	return 0;
}

int topology_read(struct topology *t, dev_t devno, struct err *e)
{
	return topology_read_sysfs(t, SYSFS_ROOT, devno, e);
}

int topology_read_file(struct topology *t, int fd, const char *name, struct err *e)
{
	_cleanup_(topology_deinit) struct topology found = { .complete = true };
	struct descent d = { .t = &found, .root = SYSFS_ROOT };
	struct stat st;

	if (fstat(fd, &st))
		return err_set(e, errno, "look at %s", name);
	descend_file(&d, &st, NULL);
	if (d.failure)
		return err_set(e, -d.failure, "look at %s", name);
	*t = found;
	found = (struct topology){ 0 };
	return 0;
}

void topology_deinit(struct topology *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->disks[i]);
	free(t->disks);
	*t = (struct topology){ 0 };
}

enum device_answer topology_compare(const struct topology *a, const struct topology *b)
{
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++)
			if (!strcmp(a->disks[i], b->disks[j]))
				return DEVICE_YES;
	return a->complete && b->complete ? DEVICE_NO : DEVICE_UNKNOWN;
}

enum device_answer topology_shared(dev_t a, dev_t b)
{
	_cleanup_(topology_deinit) struct topology below_a = { 0 };
	_cleanup_(topology_deinit) struct topology below_b = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };

	if (a == b)
		return DEVICE_YES;
	if (topology_read(&below_a, a, &e) || topology_read(&below_b, b, &e))
		return DEVICE_UNKNOWN;
	return topology_compare(&below_a, &below_b);
}
