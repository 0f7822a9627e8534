/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the process that carries out a run tells the one that watches it: one packet for
 * each message, over a pair of local sockets. */

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"

enum packet_kind {
	PACKET_LOG,    /* number: enum log_level; text: the line */
	PACKET_BUNDLE, /* text: path of the bundle, which is there to stay */
	PACKET_STEP,   /* text: a status, see status.h */
	PACKET_ERROR,  /* text: why it ended, which may be empty */
	PACKET_END,    /* text: how it ended, as JSON; the last one */
};

struct packet {
	enum packet_kind kind;
	int number;
	char *text; /* owned by who received it */
};

/* [0] is for the watcher, [1] for the other. */
int packets_open(int pair[2], struct err *e);

/* Waits while there is no room.  A packet that nobody receives any more is lost. */
void packets_send(int fd, enum packet_kind kind, int number, const char *text);

/* Without waiting; false: there is none now.  The caller frees p->text. */
bool packets_receive(int fd, struct packet *p);
