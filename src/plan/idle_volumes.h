/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Files and threads of a workload are spread over the volumes in turn, so that one with
 * fewer threads than there are volumes leaves some of them idle. */

#include "plan/experiment.h"

/* Adds a sentence to x->notes for each such workload.  -ENOMEM. */
int plan_note_idle_volumes(struct experiment *x, struct err *e);
