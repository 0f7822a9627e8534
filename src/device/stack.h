/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Devices that are made of others: device mapper, md, bcache, loop devices on devices. */

#include <stdbool.h>
#include <sys/types.h>

/* Is `below` itself, not only its disk, one of the devices that `top` is made of, at any
 * depth?  A device is not made of itself. */
bool stack_is_made_of(dev_t top, dev_t below);

/* The same for a tree below sysfs_root. */
bool stack_is_made_of_sysfs(const char *sysfs_root, dev_t top, dev_t below);
