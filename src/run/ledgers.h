/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The flush ledger of a cell: which devices it watches, and what it makes of a run. */

#include "run/session.h"
#include "workload/workload.h"

/* Phases of a cell; the context is a struct session. */
int ledgers_open(void *session, struct err *e);
int ledgers_close(void *session, struct err *e);

/* For workload_env; valid until ledgers_close(). */
struct workload_observer ledgers_observer(struct session *s);

/* Judges every phase of a run, and remembers in the session whether one failed. */
void ledgers_judge(struct session *s, struct result_run *run);
