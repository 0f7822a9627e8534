/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Running a program that is not trusted to behave: it may hang, print without end, leave
 * processes behind, or outlive us.  When supervise_run() has returned, or when this
 * program has died, nothing of it runs any more.
 */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/err.h"
#include "core/privilege.h"

/* Whose rights a program has. */
struct supervise_user {
	const char *name; /* NULL: ours */
	uid_t uid;
	gid_t gid;
};

struct supervise_job {
	const char *const *argv;	/* NULL-ended; found through PATH and the sbin's */
	const char *const *environment; /* NULL-ended "NAME=value", added to ours */
	const char *directory;		/* to work in */
	struct supervise_user user;	/* another than ours needs root */
	uint64_t rights;		/* capabilities that it may keep: PRIVILEGE_* */
	uint64_t timeout_ns;
	size_t output_limit; /* bytes of each stream; whoever prints more is ended */
	const volatile sig_atomic_t *stop; /* set by a signal: end it; may be NULL */
};

enum supervise_end {
	SUPERVISE_EXITED,   /* by itself: see status and signal */
	SUPERVISE_TIMEOUT,  /* ended by us, and so are the next two */
	SUPERVISE_FLOODED,  /* it printed more than output_limit */
	SUPERVISE_STOPPED,  /* *stop was set */
};

struct supervise_outcome {
	enum supervise_end end;
	int status;	    /* exit status, when signal is 0 */
	int signal;	    /* that killed it */
	unsigned left_over; /* processes that it left and that were killed */
	uint64_t wall_ns;   /* from its start to its end, without those */
	uint64_t user_ns, system_ns;
	char *output, *errors; /* the two streams, NUL-ended; owned */
	size_t output_bytes, errors_bytes;
};

/* Returns 0 when the program ran, however it ended; -errno when it could not be started
 * (-ENOENT: not installed) or cannot be ended (-ETIMEDOUT). */
int supervise_run(
	const struct supervise_job *job, struct supervise_outcome *out, struct err *e);

void supervise_outcome_deinit(struct supervise_outcome *o);
