/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What speaks against a comparison. */

#include "report/match.h"

/* Fills notes from the rows and sides.  -ENOMEM. */
int match_notes_make(struct match *m, struct err *e);
