/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Work as a table of phases.  Each phase does one thing and knows how to undo it; the
 * runner goes through the table and, however it ends, undoes what was done, last first.
 * So whatever a phase opened, mounted or made is put back on every way out, and a phase
 * contains no cleanup of others.
 */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"
#include "core/log.h"

struct phase {
	const char *name; /* "mount the volumes", for messages */
	int (*run)(void *context, struct err *e);
	/* Called once if run was begun, also when it failed half way; NULL: nothing to
	 * undo.  It must cope with a phase that did nothing. */
	int (*undo)(void *context, struct err *e);
};

/* Told of every run and undo that begins. */
typedef void phase_begun(void *context, const char *name, bool undo);

/*
 * Runs all phases, then undoes all.  When one fails, or *stop is set (ERR_INTERRUPTED),
 * the rest is not begun.  The first error is the one that is returned; errors of later
 * undos are logged as warnings, or returned when there was no other.  begun_one may be NULL.
 */
int phases_run(const struct phase *phases, size_t count, void *context,
	phase_begun *begun_one, const volatile sig_atomic_t *stop, const struct log *log,
	struct err *e);
