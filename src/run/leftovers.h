/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a run that was killed has left behind in its mount namespace. */

#include "core/log.h"
#include "run/session.h"

#define RUN_TARGET_DIRECTORY "/run/jbdlab/run" /* volumes are mounted below it */
#define RUN_WORK_DIRECTORY "jbdlab-work"	/* of the workloads, in a volume */

/*
 * Ends the processes in whose mount namespace the device is mounted below
 * RUN_TARGET_DIRECTORY, which are programs that a workload has started; the mount goes
 * with the last of them.  The caller holds the lock of the device, so that no run which
 * still lives has it mounted.  -EBUSY: they do not end.
 */
int leftovers_end(const struct session_device *d, const struct log *log, struct err *e);
