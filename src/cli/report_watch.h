/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* report --watch: an experiment while it runs. */

#include "core/err.h"

/*
 * Follows the run of that bundle until it ends: on a terminal the overview of its report,
 * drawn anew at each result; elsewhere a line for each result, and the overview at the end.
 * A run that has ended is shown once.  ^C: ERR_INTERRUPTED; the run goes on.
 */
int report_watch(const char *bundle, struct err *e);
