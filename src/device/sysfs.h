/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The directories of block devices in sysfs.  Every function takes the root of the tree
 * ("/sys", or a captured tree in tests); results are owned by the caller, NULL when
 * sysfs does not know.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/macros.h"

#define SYSFS_ROOT "/sys"

/* Real path of the directory of a device: ".../block/sdb/sdb1". */
char *sysfs_device_dir(const char *root, dev_t devno);

/* The directory of the whole disk that a device directory belongs to; a copy of dir if
 * it is no partition. */
char *sysfs_whole_dir(const char *dir);
bool sysfs_is_partition(const char *dir);

/* Last part of a device directory, with '!' turned into '/': the kernel's name. */
char *sysfs_kernel_name(const char *dir);

/* Device number in dir/dev, 0 when there is none. */
dev_t sysfs_devno(const char *dir);

/* The file that a loop device lies on, as this process can see it; NULL when the device of
 * that directory is none.  A deleted file has " (deleted)" behind its name. */
char *sysfs_backing_file(const char *dir);

/* Names in a directory, sorted, without dot files; *count 0 when it cannot be read.
 * Free with sysfs_names_free(). */
char **sysfs_names(size_t *count, const char *dir_fmt, ...) _printf_(2, 3);
void sysfs_names_free(char **names, size_t count);

/* A node of this number below /dev: "/dev/mapper/NAME" for dm, else "/dev/KERNEL_NAME";
 * NULL when that node does not exist or is another device. */
char *sysfs_node(const char *dir);
