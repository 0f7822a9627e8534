/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The blocks of a run, one after another, until it is over; see plan/schedule.h. */

#include "run/session.h"

/* A phase; the context is a struct session. */
int blocks_measure(void *session, struct err *e);
