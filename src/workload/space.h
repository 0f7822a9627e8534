/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Is there room for a workload's files?  Asked before anything is written. */

#include "workload/workload.h"

/*
 * Refuses, with numbers, when a file system below the directories has less free than its
 * share of workload_space() and a tenth more; the share follows from how many of the
 * directories lie on it.  Directories that do not exist or are none are a usage error.
 */
int workload_check_space(const struct workload *w, const char *const *directories,
	size_t count, struct err *e);
