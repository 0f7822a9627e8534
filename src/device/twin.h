/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Devices that cannot be told apart: a disk and its clone, two ways to one disk, two loop
 * devices over one file.  What was allowed for one of them could hit the other.
 */

#include "core/err.h"
#include "device/identity.h"

/* Path of another connected device of the same identity; NULL: there is none, or the
 * device has nothing that identifies it.  Caller frees. */
char *device_twin(const struct device_identity *id);

/* ERR_REFUSED when there is such a device, naming both. */
int device_refuse_twin(const struct device_identity *id, struct err *e);
