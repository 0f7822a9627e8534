/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What our own process asked for and what was fetched for it: /proc/self/io (proc(5)). */

#include <stdint.h>

struct procio {
	uint64_t read_bytes, write_bytes; /* by system calls (rchar, wchar) */
	uint64_t read_calls, write_calls;
	uint64_t device_read_bytes; /* fetched from devices (read_bytes) */
	uint64_t dirtied_bytes; /* pages made dirty, and direct writes (write_bytes) */
	uint64_t cancelled_bytes; /* of these, truncated before they were written */
};

/* 0, or -ENOENT when the kernel keeps no such account. */
int procio_read(struct procio *p);
int procio_parse(struct procio *p, const char *text);
