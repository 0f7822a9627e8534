/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Keeping the machine from going to sleep or down while something is under way, where
 * systemd is there to be asked: an inhibitor lock, held by systemd-inhibit(1).  Without it
 * nothing happens, and nothing is said.
 */

#include <sys/types.h>

struct inhibit {
	int hold; /* the lock goes with the last one that has this open; -1: none */
	pid_t process;
};

#define INHIBIT_NONE ((struct inhibit){-1, 0})

/* why: shown to who wants to shut the machine down.  The lock ends with us, however we
 * end; processes that are forked after this and execute nothing must close hold. */
struct inhibit inhibit_begin(const char *why);
void inhibit_end(struct inhibit *i);
