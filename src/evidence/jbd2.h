/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * jbd2's account of a journal: /proc/fs/jbd2/NAME/info.  NAME is the device and inode of
 * an inline journal ("sdb1-8"), and of an external one the device of the journal alone
 * ("sdc1"): the name proves where the journal is.
 */

#include <stdint.h>

struct jbd2_info {
	uint64_t transactions, requested;
	/* Means over all transactions since the mount, as the kernel rounds them; the
	 * commit time is a sliding average. */
	uint64_t commit_us, handles, blocks, logged_blocks;
	/* Means again, each rounded down to a whole tick of the kernel (JBD2_TICK_MAX_MS at
	 * most): the phases of a commit. */
	uint64_t wait_ms, running_ms, locked_ms, flushing_ms, logging_ms;
};

/* The longest tick that a kernel is built with: 100 a second. */
#define JBD2_TICK_MAX_MS 10

/* The name of a journal below /proc/fs/jbd2; caller frees, NULL: no memory.  kernel_name is
 * of the device that carries it, inode that of an inline journal, 0 of an external one. */
char *jbd2_name(const char *kernel_name, uint32_t inode);

/* 0, or -ENOENT when there is no such journal, -EBADMSG when its text has another form. */
int jbd2_read(struct jbd2_info *info, const char *name);

/* The same from a text, for tests. */
int jbd2_parse(struct jbd2_info *info, const char *text);
