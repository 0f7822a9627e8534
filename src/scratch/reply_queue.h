/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Answers that wait for their time.  One thread sleeps until the earliest is due, spins
 * over the last microseconds, which no timer hits, and hands it out.
 */

#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

struct reply_queue;

struct reply {
	uint64_t due_ns; /* monotonic */
	void *context;	 /* of whom it goes to */
	void *data;	 /* heap; freed after delivery.  NULL: none */
	size_t bytes;	 /* length of data, or what the answer says */
	int error;	 /* positive errno, 0: none */
};

/* Delivers one answer; late_ns is how much after its time. */
typedef void reply_function(void *user, const struct reply *r, uint64_t late_ns);

/* Starts the thread.  room: most answers that wait at once. */
int reply_queue_new(struct reply_queue **out, size_t room, reply_function *deliver,
	void *user, struct err *e);
/* Answers that still wait are delivered at once; ends the thread.  Returns NULL. */
struct reply_queue *reply_queue_free(struct reply_queue *q);
DEFINE_CLEANUP(struct reply_queue *, reply_queue_free)

/* Takes r->data.  Without room the answer is given at once, by the caller's thread. */
void reply_queue_add(struct reply_queue *q, const struct reply *r);

/* Those that are due at from_ns or later are due now. */
void reply_queue_hurry(struct reply_queue *q, uint64_t from_ns);
