/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Running another program: mke2fs, e2fsck, gnuplot.  No shell is ever involved.  Standard
 * input is /dev/null, the language is C, and standard output and error are collected
 * together in the order in which they came.
 */

#include "core/err.h"

struct process_outcome {
	int status;   /* exit status; 128 + signal number when it was killed */
	char *output; /* both streams, NUL-terminated, owned */
};

/*
 * Runs argv[0], found through PATH with /usr/sbin and /sbin added, with NULL-terminated
 * argv, and waits.  environment: NULL, or NULL-terminated "NAME=value" strings added to
 * ours.  Returns 0 when the program ran, whatever its status; -errno when it could not be
 * started (-ENOENT: not installed).
 */
int process_run(const char *const argv[], const char *const environment[],
	struct process_outcome *out, struct err *e);

/* As process_run(), and a status other than 0 is an error that shows the last lines of
 * the output. */
int process_run_ok(const char *const argv[], struct err *e);

/* Last lines of text (at most count), for messages; points into text. */
const char *process_tail(const char *text, int count);

void process_outcome_deinit(struct process_outcome *o);
