/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Loop devices: attached to a file with direct I/O, found by their file, detached. */

#include <stddef.h>

#include "core/err.h"
#include "core/log.h"

/* Attaches a free loop device to file; *device is "/dev/loopN", the caller frees.
 * Without loop devices: ERR_REFUSED with what is missing. */
int loopdev_attach(char **device, const char *file, const struct log *log, struct err *e);

/* Devices whose backing file the kernel calls by this name, also when it was removed
 * since, or by one that fits the pattern of fnmatch(3); *count 0: none. */
int loopdev_find(char ***devices, size_t *count, const char *file, const char *pattern,
	struct err *e);
void loopdev_list_free(char **devices, size_t count);

/* ERR_REFUSED with the name of the user when the device is in use. */
int loopdev_refuse_used(const char *device, struct err *e);

/* Detaches and waits until it is gone.  In use: ERR_REFUSED with the name of the user. */
int loopdev_detach(const char *device, struct err *e);

/* Tells the block layer that seeks cost something, as far as the kernel allows it. */
void loopdev_set_rotational(const char *device);
