/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Replaying the log of a volume that was not cleanly unmounted; never by our own code. */

#include "core/err.h"
#include "volume/volume.h"

/* journal: path of an external journal, or NULL.  Nothing may hold the devices.  -EUCLEAN
 * when somebody must look at the volume. */
int replay_volume(const char *path, const struct volume_info *v, const char *journal,
	struct err *e);
