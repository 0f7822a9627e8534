/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* One cell: one arm in one block, from placing the journal to unmounting. */

#include "run/session.h"

/* Runs the cell that s->block, s->position and s->arm name.  However it ends, nothing is
 * mounted after it. */
int cell_run(struct session *s, struct err *e);
