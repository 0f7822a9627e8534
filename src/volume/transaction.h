/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * One jbd2 transaction, as it lies in the log: descriptor blocks, the images of the
 * changed blocks, a commit block.  The kernel, e2fsck and we ourselves replay it alike.
 * No feature of the log is used but 64-bit block numbers where a volume needs them:
 * recovery without checksums is what every kernel since ext3 knows, and the flush before
 * the switch makes them needless.
 *
 * Format: include/linux/jbd2.h of the kernel; all fields big endian.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

struct block_image {
	uint64_t block;	 /* number in the volume */
	uint8_t *before; /* block_bytes as on disk now; owned; NULL: free space */
	uint8_t *after;	 /* block_bytes; owned */
};

struct transaction {
	uint8_t *blocks; /* the log blocks in order, block_bytes each; owned */
	size_t block_count;
};

struct transaction_options {
	uint32_t block_bytes;
	bool wide;	    /* the journal has JBD2_FEATURE_INCOMPAT_64BIT */
	uint32_t sequence;
	const uint8_t *uuid; /* of the journal, 16 bytes */
	uint64_t commit_seconds;
};

/* Log blocks for count images. */
size_t transaction_block_count(size_t count, uint32_t block_bytes, bool wide);

int transaction_build(struct transaction *t, const struct transaction_options *o,
	const struct block_image *images, size_t count, struct err *e);
void transaction_deinit(struct transaction *t);
