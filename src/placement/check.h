/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Every reason why a move would be refused.  Each is one function in a table: to add a
 * check, write the function and its row.  A check looks and adds sentences; it changes
 * nothing.
 */

#include "placement/subject.h"

/* Adds to s->reasons and s->warnings. */
void check_all(struct subject *s);

/* Is the journal where it shall be already? */
bool check_nothing_to_do(const struct subject *s);
