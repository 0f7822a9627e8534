/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The scratch disks of a run: made for it, taken up after a kill, destroyed at its end.
 * Phases; the context is a struct session. */

#include "run/session.h"

int disks_make(void *session, struct err *e);
int disks_take_up(void *session, struct err *e); /* those that are still there */
int disks_destroy(void *session, struct err *e);
