/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Directories of a workload that makes many files: named so that they cannot be taken for
 * anybody else's, spread over the directories of the environment in turn, and removed
 * with all that is in them on every way out.
 */

#include <stddef.h>
#include <sys/types.h>

#include "core/err.h"
#include "workload/workload.h"

struct trees {
	char **paths;
	size_t count;
	const struct log *log; /* told when something cannot be removed */
};

/* Makes count directories.  type goes into their names.  -errno; nothing is left then. */
int trees_new(struct trees **out, const struct workload_env *env, const char *type,
	size_t count, struct err *e);

/* Gives them to another user. */
int trees_give(const struct trees *t, uid_t uid, gid_t gid, struct err *e);

/* Removes them with their content, and the list. */
struct trees *trees_free(struct trees *t);
DEFINE_CLEANUP(struct trees *, trees_free)

/* syncfs(2) of each directory's file system: what was made before is on the device and
 * no part of what is measured next. */
int trees_settle(const struct workload_env *env, struct err *e);
