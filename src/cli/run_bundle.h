/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The plan of a run that was begun. */

#include <stdbool.h>

#include "plan/experiment.h"

/*
 * Reads it from the bundle at path; x must be zero.  A plan that is not the one that the
 * run was begun with, in the bundle or in file (NULL: none), is refused.  *complete: there
 * is nothing left to do.
 */
int run_bundle_read(struct experiment *x, const char *path, const char *file,
	bool *complete, struct err *e);

/* Writes the report.txt that a process which was killed at its very end still owed. */
int run_bundle_add_report(const char *path, struct err *e);
