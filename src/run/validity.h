/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Watching the conditions of a cell, and judging by fixed rules whether it is valid; see
 * evidence/conditions.h. */

#include "run/session.h"

/* Phases of a cell; the context is a struct session. */
int validity_open(void *session, struct err *e);
int validity_close(void *session, struct err *e);
/* Writes what was broken into the cell's record and adds it to s->broken. */
int validity_judge(void *session, struct err *e);

/* A run of the cell with its evidence, judged. */
void validity_take_run(struct session *s, const struct result_run *run);
