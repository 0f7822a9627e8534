/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * How errors travel.  A function that can fail takes a `struct err *` as its last
 * argument and returns 0 or a negative errno.  The place where the error begins fills
 * `e` with err_set(); each caller on the way up may add where it happened with
 * err_wrap(), so that the message reads from the outside in:
 * "move journal of /dev/sdb1: open /dev/sdc1: Permission denied".
 * Only cli prints it.  The kind decides the exit status of the program.
 */

#include "core/macros.h"

enum err_kind {
	ERR_FAILED,	   /* I/O, a program that failed, no memory: exit status 4 */
	ERR_USAGE,	   /* the user's words or file: exit status 2 */
	ERR_REFUSED,	   /* a guard, a lease or a check said no: exit status 3 */
	ERR_NEEDS_RECOVER, /* the volume is in the middle of a move: exit status 7 */
	ERR_INTERRUPTED,   /* SIGINT or SIGTERM, all cleaned up: exit status 130/143 */
};

struct err {
	int code;	    /* positive errno, 0 when nothing has failed */
	enum err_kind kind; /* meaningful when code is not 0 */
	char *msg;	    /* whole chain, owned */
};

/* Records the first cause; the text gets ": strerror(code)" appended.  Returns -code;
 * for a code of 0, as errno may be, -EIO: never success. */
int err_set(struct err *e, int code, const char *fmt, ...) _printf_(3, 4);

/* As err_set(), for causes that have no errno or whose text says it all.  The code is
 * kept for callers, but strerror() is not appended.  Returns -code. */
int err_say(struct err *e, int code, const char *fmt, ...) _printf_(3, 4);

/* The user's words are wrong.  Returns -EINVAL. */
int err_usage(struct err *e, const char *fmt, ...) _printf_(2, 3);

/* A guard refuses: say what, where and what to do.  Returns -EPERM. */
int err_refuse(struct err *e, const char *fmt, ...) _printf_(2, 3);

/* A signal asked us to end and all is cleaned up; code is the signal's number, for the exit
 * status.  Returns -EINTR. */
int err_interrupted(struct err *e, int signal_number);

/* Puts "fmt: " before the message and returns ret unchanged. */
int err_wrap(struct err *e, int ret, const char *fmt, ...) _printf_(3, 4);

/* Message or "" when nothing failed; never NULL. */
const char *err_message(const struct err *e);

/* Back to "nothing failed"; frees the message.  Also the cleanup function. */
void err_clear(struct err *e);
