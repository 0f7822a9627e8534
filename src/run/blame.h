/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Which device was it?  A workload that fails knows the path of its file only. */

#include "run/session.h"

/*
 * Adds to the message of a run that failed what the kernel has logged since the mark (of
 * kernel_log_mark(), -1: unknown) about errors of its devices.  If that is nothing, and the
 * error is one that devices cause, adds which devices there were.  Code and kind stay, and
 * devices that the message names already are left out.
 */
void blame_devices(const struct session *s, int mark, struct err *e);
