/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Who uses a device; see users.h.
 *
 * Mounts are sought in the mount tables of all processes, one for each mount namespace,
 * because a container or a service with private mounts keeps a volume in use that our own
 * table does not show.  The external journal of a mounted volume appears in no mount
 * table and has no holder in sysfs: its traces are /proc/fs/jbd2/NAME and the name of the
 * kernel thread, jbd2/NAME, whose number /sys/fs/ext4/VOLUME/journal_task tells.  A loop
 * device does not claim what it lies on, so that O_EXCL alone would not see it.
 */

#include "device/users.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "core/fileio.h"
#include "device/sysfs.h"

static void separate(struct strbuf *b)
{
	if (b->length)
		strbuf_add(b, ", ");
}

/* Octal escapes of the mount tables, in place. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		unsigned value;

		if (*from == '\\' && sscanf(from + 1, "%3o", &value) == 1) {
			*to = (char)value;
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* Is this line of a mountinfo about the device?  Then its mount point is in target. */
static bool line_is_about(const char *line, dev_t devno, bool own,
	char target[static 4096])
{
	unsigned high, low;
	char source[4096] = "";
	const char *rest;
	struct stat st;

	if (sscanf(line, "%*d %*d %u:%u %*s %4095s", &high, &low, target) != 3)
		return false;
	unescape(target);
	if (makedev(high, low) == devno)
		return true;
	/* btrfs and others give a device number of their own: look at the source. */
	rest = strstr(line, " - ");
	if (high || !own || !rest || sscanf(rest, " - %*s %4095s", source) != 1)
		return false;
	unescape(source);
	return *source == '/' && !stat(source, &st) && S_ISBLK(st.st_mode) &&
	       st.st_rdev == devno;
}

static bool add_mounts_of(struct strbuf *b, dev_t devno, const char *pid)
{
	_cleanup_(err_clear) struct err e = { 0 };
	_cleanup_free_ char *table = NULL;
	_cleanup_free_ char *comm = NULL;
	bool own = !strcmp(pid, "self"), found = false;
	char path[64], target[4096];
	char *save = NULL;

	snprintf(path, sizeof(path), "/proc/%s/mountinfo", pid);
	if (fileio_read(path, &table, NULL, &e))
		return false;
	for (char *line = strtok_r(table, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		if (!line_is_about(line, devno, own, target))
			continue;
		separate(b);
		strbuf_addf(b, "is mounted on %s", target);
		if (!own) {
			free(take_ptr(comm));
			comm = fileio_read_line("/proc/%s/comm", pid);
			strbuf_addf(b, " in another mount namespace (process %s, %s)",
				pid, comm ? comm : "?");
		}
		found = true;
	}
	return found;
}

static ino_t namespace_of(const char *pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", pid);
	return stat(path, &st) ? 0 : st.st_ino;
}

static bool seen_before(ino_t **seen, size_t *count, ino_t inode)
{
	ino_t *more;

	for (size_t i = 0; i < *count; i++)
		if ((*seen)[i] == inode)
			return true;
	more = realloc(*seen, (*count + 1) * sizeof(**seen));
	if (more) {
		*seen = more;
		more[(*count)++] = inode;
	}
	return false;
}

void users_add_mounts(struct strbuf *b, dev_t devno)
{
	_cleanup_free_ ino_t *seen = NULL;
	size_t names_count, seen_count = 0;
	char **names;

	seen_before(&seen, &seen_count, namespace_of("self"));
	/* Other namespaces are often copies of ours; they matter only where ours is
	 * silent. */
	if (add_mounts_of(b, devno, "self"))
		return;
	names = sysfs_names(&names_count, "/proc");
	for (size_t i = 0; i < names_count; i++) {
		ino_t inode;

		if (!isdigit((unsigned char)names[i][0]))
			continue;
		inode = namespace_of(names[i]);
		if (inode && !seen_before(&seen, &seen_count, inode) &&
			add_mounts_of(b, devno, names[i]))
			break;
	}
	sysfs_names_free(names, names_count);
}

static bool is_that(const struct stat *st, dev_t devno, ino_t inode)
{
	if (inode)
		return S_ISREG(st->st_mode) && st->st_dev == devno && st->st_ino == inode;
	return S_ISBLK(st->st_mode) && st->st_rdev == devno;
}

void users_add_swap(struct strbuf *b, dev_t devno, ino_t inode)
{
	_cleanup_(err_clear) struct err e = { 0 };
	_cleanup_free_ char *table = NULL;
	char *save = NULL;

	if (fileio_read("/proc/swaps", &table, NULL, &e))
		return;
	for (char *line = strtok_r(table, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		struct stat st;

		line[strcspn(line, " \t")] = '\0';
		unescape(line);
		if (*line == '/' && !stat(line, &st) && is_that(&st, devno, inode)) {
			separate(b);
			strbuf_add(b, "is swap space");
			return;
		}
	}
}

void users_add_holders(struct strbuf *b, const char *sysfs_dir)
{
	size_t count;
	char **names = sysfs_names(&count, "%s/holders", sysfs_dir);

	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *mapper =
			fileio_read_line("%s/holders/%s/dm/name", sysfs_dir, names[i]);

		separate(b);
		strbuf_addf(b, "is held by %s", names[i]);
		if (mapper)
			strbuf_addf(b, " (%s)", mapper);
	}
	sysfs_names_free(names, count);
}

/* Older kernels cut the names of threads to 15 characters. */
static bool is_thread_of(const char *comm, const char *kernel_name)
{
	_cleanup_free_ char *want = NULL;

	if (asprintf(&want, "jbd2/%s", kernel_name) < 0) {
		want = NULL;
		return false;
	}
	for (char *p = want + 5; *p; p++)
		if (*p == '/')
			*p = '!';
	return !strcmp(comm, want) ||
	       (strlen(comm) == 15 && strlen(want) > 15 && !strncmp(comm, want, 15));
}

/* The name of the thread of a volume's journal; NULL: it has none, or cannot be seen. */
static char *thread_of(const char *volume)
{
	_cleanup_free_ char *pid = fileio_read_line("/sys/fs/ext4/%s/journal_task", volume);

	return pid ? fileio_read_line("/proc/%s/comm", pid) : NULL;
}

enum device_answer users_is_journal_of(const char *kernel_name, const char *volume)
{
	_cleanup_free_ char *name = strdup(volume), *comm = NULL;

	for (char *p = name; p && *p; p++)
		if (*p == '/')
			*p = '!';
	comm = name ? thread_of(name) : NULL;
	if (!comm)
		return DEVICE_UNKNOWN;
	return is_thread_of(comm, kernel_name) ? DEVICE_YES : DEVICE_NO;
}

void users_add_journal(struct strbuf *b, const char *kernel_name)
{
	size_t count, before = b->length;
	char **names = sysfs_names(&count, "/sys/fs/ext4");
	char path[300];

	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *comm = thread_of(names[i]);

		if (comm && is_thread_of(comm, kernel_name)) {
			separate(b);
			strbuf_addf(b, "is the journal of the mounted volume /dev/%s",
				names[i]);
		}
	}
	sysfs_names_free(names, count);
	snprintf(path, sizeof(path), "/proc/fs/jbd2/%s", kernel_name);
	if (b->length == before && !access(path, F_OK)) {
		separate(b);
		strbuf_add(b, "is the journal of a mounted volume");
	}
}

/* By the numbers in the driver, else (without rights for that) by the path it tells. */
static bool loop_lies_on(const char *name, const char *backing, dev_t devno, ino_t inode)
{
	_cleanup_close_ int fd = -1;
	struct loop_info64 info = { 0 };
	char path[300];
	struct stat st;

	snprintf(path, sizeof(path), "/dev/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && !ioctl(fd, LOOP_GET_STATUS64, &info)) {
		if (inode)
			return info.lo_device == devno && info.lo_inode == inode;
		if (info.lo_rdevice)
			return info.lo_rdevice == devno;
	}
	return !stat(backing, &st) && is_that(&st, devno, inode);
}

void users_add_loops(struct strbuf *b, dev_t devno, ino_t inode)
{
	size_t count;
	char **names = sysfs_names(&count, "/sys/block");

	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *backing = NULL, *dir = NULL;

		if (strncmp(names[i], "loop", 4))
			continue;
		if (asprintf(&dir, SYSFS_ROOT "/block/%s", names[i]) < 0) {
			dir = NULL;
			continue;
		}
		backing = sysfs_backing_file(dir);
		if (backing && loop_lies_on(names[i], backing, devno, inode)) {
			separate(b);
			strbuf_addf(b, "backs the loop device /dev/%s", names[i]);
		}
	}
	sysfs_names_free(names, count);
}

/* What a loop device says of itself; false: it is none, or it cannot be asked. */
static bool read_loop(const char *name, struct loop_info64 *info)
{
	_cleanup_close_ int fd = -1;
	char path[300];

	if (strncmp(name, "loop", 4))
		return false;
	snprintf(path, sizeof(path), "/dev/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd >= 0 && !ioctl(fd, LOOP_GET_STATUS64, info);
}

/* Do both lie on the same bytes?  Without a limit a loop device goes to the end. */
static bool overlap(const struct loop_info64 *a, const struct loop_info64 *b)
{
	uint64_t a_end = a->lo_sizelimit ? a->lo_offset + a->lo_sizelimit : UINT64_MAX;
	uint64_t b_end = b->lo_sizelimit ? b->lo_offset + b->lo_sizelimit : UINT64_MAX;
	bool same = a->lo_rdevice || b->lo_rdevice
		? a->lo_rdevice == b->lo_rdevice
		: a->lo_device == b->lo_device && a->lo_inode == b->lo_inode;

	return same && a->lo_offset < b_end && b->lo_offset < a_end;
}

void users_add_twins(struct strbuf *b, const char *kernel_name)
{
	struct loop_info64 mine = { 0 };
	size_t count;
	char **names;

	if (!read_loop(kernel_name, &mine))
		return;
	names = sysfs_names(&count, "/sys/block");
	for (size_t i = 0; i < count; i++) {
		struct loop_info64 other = { 0 };

		if (!strcmp(names[i], kernel_name) || !read_loop(names[i], &other) ||
			!overlap(&mine, &other))
			continue;
		separate(b);
		strbuf_addf(b, "lies on the same bytes as the loop device /dev/%s", names[i]);
	}
	sysfs_names_free(names, count);
}

dev_t users_loop_below(const char *kernel_name, dev_t *file_devno, ino_t *file_inode)
{
	struct loop_info64 info = { 0 };

	*file_devno = 0;
	*file_inode = 0;
	if (!read_loop(kernel_name, &info))
		return 0;
	if (!info.lo_rdevice) {
		*file_devno = info.lo_device;
		*file_inode = info.lo_inode;
	}
	return info.lo_rdevice;
}

static bool has_open(const char *pid, dev_t devno, ino_t inode)
{
	size_t count;
	char **names = sysfs_names(&count, "/proc/%s/fd", pid);
	bool found = false;

	for (size_t i = 0; i < count && !found; i++) {
		char path[128];
		struct stat st;

		snprintf(path, sizeof(path), "/proc/%s/fd/%s", pid, names[i]);
		found = !stat(path, &st) && is_that(&st, devno, inode);
	}
	sysfs_names_free(names, count);
	return found;
}

void users_add_programs(struct strbuf *b, dev_t devno, ino_t inode)
{
	size_t count;
	char **names = sysfs_names(&count, "/proc");

	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *comm = NULL;

		if (!isdigit((unsigned char)names[i][0]) || atoi(names[i]) == getpid() ||
			!has_open(names[i], devno, inode))
			continue;
		comm = fileio_read_line("/proc/%s/comm", names[i]);
		separate(b);
		strbuf_addf(b, "%s (process %s)", comm ? comm : "a program", names[i]);
	}
	sysfs_names_free(names, count);
}
