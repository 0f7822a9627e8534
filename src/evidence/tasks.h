/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a process, with all that it has started, is doing, as /proc tells it. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/strbuf.h"

struct tasks {
	uint64_t cpu_ns; /* spent on processors, also by those that were waited for */
	bool stopped;	 /* the process itself is, by a signal or a debugger */
};

void tasks_look(struct tasks *t, pid_t process);

/* Adds a line for each thread that waits uninterruptibly (state D): who it is and where in
 * the kernel, the innermost function first; a few of them. */
void tasks_describe_waiting(pid_t process, struct strbuf *out);
