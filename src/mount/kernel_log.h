/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What the kernel logs while something is done: the reasons of file systems, which
 * mount(2) reduces to one errno. */

/* A descriptor at the present end of the kernel's log, or -1 when it cannot be read
 * (no right, no /dev/kmsg).  Close it after use. */
int kernel_log_mark(void);

/*
 * Lines since the mark that file systems and jbd2 wrote about the device of this kernel
 * name ("loop3"), joined by "; ".  NULL when there are none; caller frees.
 */
char *kernel_log_since(int mark, const char *kernel_name);

/*
 * Errors and resets of these devices (kernel names) that were logged since the mark, by
 * whatever driver, joined by "; ", the first few of them.  NULL when there are none.
 */
char *kernel_log_errors(int mark, const char *const *kernel_names, size_t count);

/* The first of these lines of each device into lines[], which is NULL at first; the texts are
 * the caller's.  True if there was one. */
bool kernel_log_first_errors(int mark, const char *const *kernel_names, size_t count,
	char **lines);

/* Is this line such an error of that device? */
bool kernel_log_is_error(const char *text, const char *kernel_name);

/* Do such lines say that the kernel lacks what the volume needs (a feature that it does not
 * know or was built without, larger blocks than it can handle)? */
bool kernel_log_tells_lack(const char *lines);
