/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Replaying the log of a volume that was not cleanly unmounted; never by our own code. */

#include <stdbool.h>

#include "core/err.h"
#include "volume/volume.h"

/* Is there something in the log, though the volume was cleanly unmounted?  A disk that has
 * lost writes leaves this; the kernel drops such a log when it mounts, and e2fsck asks.
 * journal: path of the external journal, which is read, or NULL. */
bool replay_log_is_stale(const struct volume_info *v, const char *journal);

/* journal: path of an external journal, or NULL.  Nothing may hold the devices.  -EUCLEAN
 * when somebody must look at the volume. */
int replay_volume(const char *path, const struct volume_info *v, const char *journal,
	struct err *e);
