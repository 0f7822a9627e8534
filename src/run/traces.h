/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The tracer of a cell, when the plan asks for one. */

#include "run/session.h"

/* Phases of a cell; the context is a struct session.  Where the kernel cannot trace, this
 * is said once and the run goes on without. */
int traces_open(void *session, struct err *e);
int traces_close(void *session, struct err *e);

/* Writes the timelines of a run's phases to the bundle. */
int traces_keep(struct session *s, const struct result_run *run, struct err *e);
