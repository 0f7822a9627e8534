/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The sentinel: the same short reads and writes of each device at the start of each block.
 * They tell a device that drifts from an arm that does.  Devices are read as they are; of
 * a volume a file is written over, past the page cache.  A journal device is only read: it
 * holds the journal of a mounted volume.
 */

#include "core/err.h"

/* A phase of a cell, volumes being mounted; the context is a struct session.  What cannot
 * be had (no direct I/O, no space) is null in the record of the cell. */
int probe_devices(void *session, struct err *e);
