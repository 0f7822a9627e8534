/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The kernel's log as records: /dev/kmsg, described in the kernel's
 * Documentation/ABI/testing/dev-kmsg.  A record is
 * "priority,sequence,microseconds,flags;text\n KEY=value...".
 */

#include <stdbool.h>
#include <stdint.h>

struct kmsg_record {
	unsigned level; /* 0 emergency ... 3 error, 4 warning ... 7 debug */
	uint64_t time_us; /* since the kernel's start */
	char text[1024]; /* first line, cut where it is longer */
};

/* A descriptor at the present end of the log, or -1 when it cannot be read (no right, no
 * /dev/kmsg).  Close it after use. */
int kmsg_open_end(void);

/* The next record since then; false when there is none now.  Records that the kernel has
 * overwritten meanwhile are left out.  fd may be -1. */
bool kmsg_next(int fd, struct kmsg_record *record);

/* The same from the text of a record, for tests; false: it has another form. */
bool kmsg_parse(struct kmsg_record *record, const char *text);
