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
};

/* 0, or -ENOENT when there is no such journal, -EBADMSG when its text has another form. */
int jbd2_read(struct jbd2_info *info, const char *name);

/* The same from a text, for tests. */
int jbd2_parse(struct jbd2_info *info, const char *text);
