/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a move means for /etc/fstab and for booting. */

#include "placement/move.h"

/* Fills out->fstab with what to change in fstab, or changes it when o->fstab names the
 * file, and warns about a root file system and a volume that is never checked. */
int fstab_advice(const struct move_options *o, struct move_outcome *out, struct err *e);
