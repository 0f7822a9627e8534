/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Locks that keep other experiments away from what an experiment uses.  They are bound to
 * the identity of a device, not to its name or node, and the kernel drops them with the
 * process, however it ends.
 */

#include <stdbool.h>

#include "core/err.h"
#include "device/identity.h"

struct locks {
	struct lock {
		char *name;
		int fd;
	} *items;
	size_t count;
};

/*
 * Locks the device and, unless it is a loop device, the whole disks that it lies on: two
 * experiments on one disk would measure each other.  What this set holds already is no
 * obstacle.  Held by another experiment: ERR_REFUSED, after some seconds when patient.
 */
int locks_take(struct locks *l, const struct device_identity *id, bool patient,
	struct err *e);
void locks_release(struct locks *l);
