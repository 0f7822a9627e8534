/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The disks that this system runs from, which are never scratch disks. */

#include "core/err.h"
#include "device/identity.h"

/* ERR_REFUSED when the device, its disk or another part of that disk carries /, /boot,
 * /usr, /var, swap or our own records.  A loop device counts as itself, not as the disk
 * that its file lies on: writing to it changes that file only. */
int system_disks_refuse(const struct device_identity *device, struct err *e);
