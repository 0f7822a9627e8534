/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The disks that this system runs from; see system_disks.h.
 *
 * That a device is in use is found by holding it exclusively.  This is for what is not in
 * use itself but lies beside something that is: an unused partition of the system's disk,
 * or that whole disk.  What lies below a directory is found from the file system that
 * carries it; where that cannot be followed (a container's root), nothing is refused.
 */

#include "scratch/system_disks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fileio.h"
#include "device/sysfs.h"
#include "device/topology.h"

static const char *const directories[] = {
	"/", "/boot", "/boot/efi", "/etc", "/usr", "/var", "/var/lib/jbdlab",
};

/* Kernel name of the whole disk that a device number is a part of; NULL: none. */
static char *whole_disk(dev_t devno)
{
	_cleanup_free_ char *dir = sysfs_device_dir(SYSFS_ROOT, devno);
	_cleanup_free_ char *disk = dir ? sysfs_whole_dir(dir) : NULL;

	return disk ? sysfs_kernel_name(disk) : NULL;
}

/* Does something on file (a directory, swap file or block device) lie on the device? */
static bool carries(const struct device_identity *device, const char *file)
{
	_cleanup_(topology_deinit) struct topology below = { 0 }, mine = { 0 };
	_cleanup_(err_clear) struct err ignored = { 0 };
	_cleanup_free_ char *disk = NULL, *own = whole_disk(device->devno);
	_cleanup_close_ int fd = -1;
	struct stat st;
	dev_t devno;

	if (stat(file, &st))
		return false;
	devno = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	disk = whole_disk(devno);
	if (disk && own && !strcmp(disk, own))
		return true;
	if (device->backing_file)
		return false;
	if (S_ISBLK(st.st_mode)) {
		if (topology_read(&below, devno, &ignored))
			return false;
	} else {
		fd = open(file, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || topology_read_file(&below, fd, file, &ignored))
			return false;
	}
	if (topology_read(&mine, device->devno, &ignored))
		return false;
	return topology_compare(&below, &mine) == DEVICE_YES;
}

static int refuse(const struct device_identity *device, const char *what, struct err *e)
{
	return err_refuse(e, "%s lies on a disk of this system (%s is on it): never a scratch "
			     "disk",
		device->path, what);
}

static int refuse_swap(const struct device_identity *device, struct err *e)
{
	_cleanup_(err_clear) struct err ignored = { 0 };
	_cleanup_free_ char *table = NULL;
	char *rest = NULL, *line;

	if (fileio_read("/proc/swaps", &table, NULL, &ignored))
		return 0;
	strtok_r(table, "\n", &rest); /* titles */
	while ((line = strtok_r(NULL, "\n", &rest))) {
		line[strcspn(line, " \t")] = '\0';
		if (carries(device, line))
			return refuse(device, "swap space", e);
	}
	return 0;
}

int system_disks_refuse(const struct device_identity *device, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		if (carries(device, directories[i]))
			return refuse(device, directories[i], e);
	return refuse_swap(device, e);
}
