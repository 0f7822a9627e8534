/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Directories of block devices in sysfs; see sysfs.h.
 *
 * /sys/dev/block/MAJOR:MINOR is a link to the real directory.  That of a partition lies
 * within that of its disk and has a file "partition"; attributes of the hardware exist
 * only at the disk.
 */

#include "device/sysfs.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/fileio.h"

char *sysfs_device_dir(const char *root, dev_t devno)
{
	_cleanup_free_ char *link = NULL;

	if (asprintf(&link, "%s/dev/block/%u:%u", root, major(devno), minor(devno)) < 0) {
		link = NULL;
		return NULL;
	}
	return realpath(link, NULL);
}

bool sysfs_is_partition(const char *dir)
{
	_cleanup_free_ char *line = fileio_read_line("%s/partition", dir);

	return line != NULL;
}

char *sysfs_whole_dir(const char *dir)
{
	const char *slash = strrchr(dir, '/');

	if (!sysfs_is_partition(dir) || !slash)
		return strdup(dir);
	return strndup(dir, (size_t)(slash - dir));
}

char *sysfs_kernel_name(const char *dir)
{
	const char *slash = strrchr(dir, '/');
	char *name = strdup(slash ? slash + 1 : dir);

	for (char *p = name; p && *p; p++)
		if (*p == '!')
			*p = '/';
	return name;
}

/* Can the file be there?  Of one that was deleted the directory is left. */
static bool can_be(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(path), k = strlen(deleted);
	_cleanup_free_ char *directory = NULL;

	if (n < k || strcmp(path + n - k, deleted))
		return !access(path, F_OK);
	directory = strndup(path, (size_t)(strrchr(path, '/') - path));
	return directory && *directory && !access(directory, F_OK);
}

/*
 * The kernel gives the path from the root of the process, if the file's mount can be
 * reached from there, else from the root of the mount namespace that has it: in a chroot
 * with a mount namespace of its own the path then has the chroot's path in front.
 */
char *sysfs_backing_file(const char *dir)
{
	_cleanup_free_ char *path = fileio_read_line("%s/loop/backing_file", dir);

	for (const char *p = path; p && *p == '/'; p = strchr(p + 1, '/'))
		if (can_be(p))
			return strdup(p);
	return take_ptr(path);
}

dev_t sysfs_devno(const char *dir)
{
	_cleanup_free_ char *line = fileio_read_line("%s/dev", dir);
	unsigned int high, low;

	if (!line || sscanf(line, "%u:%u", &high, &low) != 2)
		return 0;
	return makedev(high, low);
}

static int no_dot(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int by_version(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

char **sysfs_names(size_t *count, const char *dir_fmt, ...)
{
	_cleanup_free_ char *dir = NULL;
	_cleanup_free_ struct dirent **entries = NULL;
	char **names = NULL;
	va_list ap;
	int n;

	*count = 0;
	va_start(ap, dir_fmt);
	n = vasprintf(&dir, dir_fmt, ap);
	va_end(ap);
	if (n < 0) {
		dir = NULL;
		return NULL;
	}
	n = scandir(dir, &entries, no_dot, by_version);
	if (n > 0)
		names = calloc((size_t)n, sizeof(*names));
	for (int i = 0; i < n; i++) {
		if (names && (names[*count] = strdup(entries[i]->d_name)))
			(*count)++;
		free(entries[i]);
	}
	return names;
}

void sysfs_names_free(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

static bool is_node_of(const char *path, dev_t devno)
{
	struct stat st;

	return !stat(path, &st) && S_ISBLK(st.st_mode) && st.st_rdev == devno;
}

char *sysfs_node(const char *dir)
{
	_cleanup_free_ char *mapper = fileio_read_line("%s/dm/name", dir);
	_cleanup_free_ char *name = sysfs_kernel_name(dir);
	_cleanup_free_ char *path = NULL;
	dev_t devno = sysfs_devno(dir);

	if (!name || !devno)
		return NULL;
	if (mapper && asprintf(&path, "/dev/mapper/%s", mapper) >= 0) {
		if (is_node_of(path, devno))
			return take_ptr(path);
		free(take_ptr(path));
	}
	if (asprintf(&path, "/dev/%s", name) < 0) {
		path = NULL;
		return NULL;
	}
	return is_node_of(path, devno) ? take_ptr(path) : NULL;
}
