/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A move of a mounted volume: unmount, move, mount again in the same way. */

#include "placement/move.h"

/* As move_run(), for a volume that may be mounted.  It is mounted again, with the options
 * it had, whether the move succeeded or was refused; not if it needs recover first. */
int remount_move(const struct move_options *o, struct move_outcome *out, struct err *e);
