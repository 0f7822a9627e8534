/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A run under watch.  The run lives in a child process, because a process that waits for a
 * device that does not answer can neither be ended nor go on; this one stays out of that,
 * prints what the child has to say, keeps BUNDLE/status.json, passes signals on, keeps the
 * machine awake, and says what hangs.
 */

#include "run/run.h"

/*
 * As run_experiment().  When something hangs (see hang.h; the bound is that of the
 * experiment) what and where is said as a warning, and the child is told to end, then
 * killed, then left: -ETIMEDOUT, and the run can be resumed when the device answers.
 * o->question set: says where the run is, as a note, and resets it.
 * o->observer must be NULL.
 */
int run_supervised(
	const struct run_options *o, struct run_outcome *outcome, struct err *e);
