/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * What a device is made of; see stack.h.  Unlike topology.c it stops at the device that is
 * asked for and does not take a partition for its disk: another partition of the same
 * disk belongs to somebody else.
 */

#include "device/stack.h"

#include <stdio.h>
#include <sys/stat.h>

#include "device/sysfs.h"

enum { DEPTH_MAX = 8 };

struct search {
	const char *root;
	dev_t below;
	int depth;
};

static bool look_below(struct search *s, dev_t devno);

static bool found_in(struct search *s, dev_t devno)
{
	bool found;

	if (!devno)
		return false;
	if (devno == s->below)
		return true;
	if (s->depth == DEPTH_MAX)
		return false;
	s->depth++;
	found = look_below(s, devno);
	s->depth--;
	return found;
}

static bool found_in_slave(struct search *s, const char *disk, const char *name)
{
	_cleanup_free_ char *link = NULL, *dir = NULL;

	if (asprintf(&link, "%s/slaves/%s", disk, name) < 0) {
		link = NULL;
		return false;
	}
	dir = realpath(link, NULL);
	return dir && found_in(s, sysfs_devno(dir));
}

static bool look_below(struct search *s, dev_t devno)
{
	_cleanup_free_ char *dir = sysfs_device_dir(s->root, devno);
	_cleanup_free_ char *disk = dir ? sysfs_whole_dir(dir) : NULL;
	_cleanup_free_ char *backing = disk ? sysfs_backing_file(disk) : NULL;
	bool found = false;
	char **slaves;
	struct stat st;
	size_t count;

	if (!disk)
		return false;
	if (backing && !stat(backing, &st) && S_ISBLK(st.st_mode))
		return found_in(s, st.st_rdev);
	slaves = sysfs_names(&count, "%s/slaves", disk);
	for (size_t i = 0; !found && i < count; i++)
		found = found_in_slave(s, disk, slaves[i]);
	sysfs_names_free(slaves, count);
	return found;
}

bool stack_is_made_of_sysfs(const char *sysfs_root, dev_t top, dev_t below)
{
	struct search s = {.root = sysfs_root, .below = below};

	return top != below && look_below(&s, top);
}

bool stack_is_made_of(dev_t top, dev_t below)
{
	return stack_is_made_of_sysfs(SYSFS_ROOT, top, below);
}
