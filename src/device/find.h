/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Finding devices: what a person may type instead of a path, and all devices that there
 * are.  libblkid is used without its cache, which is stale for minutes on machines
 * without udev, and what it returns is probed again.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"

/*
 * A path, "UUID=...", "LABEL=...", "PARTUUID=..." or "PARTLABEL=..." to a canonical path;
 * caller frees.  None: -ENOENT, of the kind ERR_REFUSED, with the candidates of a similar kind in
 * the text.  More
 * than one device with the tag: ERR_REFUSED, naming all of them.
 */
int device_find(const char *spec, char **path, struct err *e);

/* Paths of all block devices that may hold a file system (partitions, whole disks, dm,
 * md, loop with a backing file, ...), sorted; caller frees with device_list_free(). */
int device_list(char ***paths, size_t *count, struct err *e);
void device_list_free(char **paths, size_t count);

/* Is another device (device mapper, md, bcache) made of this one?  What looks like a
 * volume on it then belongs to that device. */
bool device_is_part(const char *path);
