/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Programs of an arm: "setup" before anything else of its cell, "teardown" after
 * everything, also when setup or what followed has failed.  They get JBDLAB_* variables,
 * in the environment and in their words; see jbdlab.ini(5).
 *
 * A setup that puts another device over that of a volume (dm-writecache, bcache) prints a
 * line "volume NAME DEVICE"; the volume is then made, placed, checked and mounted there
 * for the rest of the cell.
 */

#include "run/session.h"

/* Phase of a cell and its undo; the context is a struct session. */
int arm_set_up(void *session, struct err *e);
int arm_tear_down(void *session, struct err *e);

/* A phase of the run: the teardown of an arm that a killed process had set up. */
int arm_tear_down_old(void *session, struct err *e);
