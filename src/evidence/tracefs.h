/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * An own instance of the kernel's tracer: buffers, filters and clock of its own, so that
 * whoever else traces this machine is not disturbed and does not disturb us.  Described
 * in the kernel's Documentation/trace/ftrace.rst.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/err.h"

struct tracefs; /* opaque */

/*
 * Makes the instance jbdlab-PROCESS below tracefs, wherever that is mounted; where it is not,
 * a mount of it that nobody else sees and that ends with us is used.  Instances that dead
 * runs left are removed on the way.  Its clock is CLOCK_MONOTONIC and it is switched off.
 * No tracefs in this kernel: -ENOENT; no right to use it: -EACCES or -EPERM.
 */
int tracefs_open(struct tracefs **out, pid_t process, struct err *e);

/* Removes the instance.  NULL is no error. */
struct tracefs *tracefs_close(struct tracefs *t);
DEFINE_CLEANUP(struct tracefs *, tracefs_close)

/* Enables an event ("jbd2/jbd2_run_stats") for what matches the filter; NULL: for all.
 * An event that this kernel does not have: -ENOENT. */
int tracefs_enable(struct tracefs *t, const char *event, const char *filter, struct err *e);

/* Empties the buffers and records; stops recording. */
int tracefs_start(struct tracefs *t, struct err *e);
int tracefs_stop(struct tracefs *t, struct err *e);

/* What the buffers could not hold: the oldest events make room for new ones. */
struct tracefs_loss {
	uint64_t events;
	uint64_t complete_from_ns; /* from here on nothing is missing; 0: nothing is at all */
};
int tracefs_loss(struct tracefs *t, struct tracefs_loss *loss, struct err *e);

/* Hands every recorded line, the oldest first, without newline, to visit until it returns
 * other than 0, which is then returned. */
int tracefs_each_line(struct tracefs *t,
	int (*visit)(void *data, const char *line, struct err *e), void *data,
	struct err *e);
