/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Questions to a process of ours and answers from it: one packet each over a local socket.
 * Both sides wait for a bounded time only.
 */

#include <stddef.h>

#include "core/err.h"

#define CONTROL_BYTES_MAX 65536 /* of a question or an answer */

/* Answers a question; the caller frees.  NULL: there is no answer. */
typedef char *control_function(void *user, const char *question);

struct control_server;

/* Listens at path (at most 107 bytes, must not exist) from a thread of its own. */
int control_server_new(struct control_server **out, const char *path,
	control_function *answer, void *user, struct err *e);
struct control_server *control_server_free(struct control_server *s); /* NULL allowed */
DEFINE_CLEANUP(struct control_server *, control_server_free)

/* Asks; the caller frees *answer.  Nobody listens: -ECONNREFUSED or -ENOENT; no answer
 * within some seconds: -ETIMEDOUT. */
int control_ask(const char *path, const char *question, char **answer, struct err *e);
