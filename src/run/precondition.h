/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Preconditioning.  An SSD that was empty is faster than it will be in use, and becomes
 * slower while an experiment runs.  So every device that the plan overwrites as a whole
 * anyway, and that has no moving parts, is written sequentially twice and then at random
 * places, in rounds of equal length, until it is in its steady state: once, before
 * anything is made on it, and the same for all arms.
 */

#include "core/err.h"

/* A phase; needs volumes that were looked at. */
int precondition_devices(void *session, struct err *e);
