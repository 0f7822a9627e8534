/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a reviewer will hold against an experiment that is about to be run, as far as the
 * plan and the devices tell it; see report/confounds.h. */

#include "run/session.h"
#include "result/bundle.h"

/* A phase of the run, before anything is written: warns of each confound; with strict in
 * the plan, ERR_REFUSED with all of them. */
int weigh_confounds(void *session, struct err *e);
