/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The first arm against itself, through everything that a cell does: its journal is moved
 * to the second arm's place and back before each cell.  A setup that shows a difference
 * where there is none cannot be believed when it shows one elsewhere.
 */

#include "run/session.h"

/* Phase of the run, before anything is measured: with calibrate = yes or warn.  Sets
 * s->calibration_failed when a difference was seen. */
int calibration_run(void *session, struct err *e);

/* Phase of a cell of it: the journal goes away first. */
int calibration_move_away(void *session, struct err *e);
