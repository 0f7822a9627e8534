/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The process that made a scratch disk, as a word for its record.  While it lives (an
 * experiment does, "scratch create" does not) the disk is its own.
 */

#include <sys/types.h>

/* "PID:START:BOOT" of this process; caller frees.  NULL: cannot be told. */
char *owner_self(void);

/* The process that the word means, 0 when it is gone or it is ourselves. */
pid_t owner_alive(const char *word);
