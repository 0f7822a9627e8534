/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What taking a journal out of a volume, or putting one in, changes on disk.  Computed by
 * libext2fs on an overlay; nothing is written here.
 *
 * The result separates what may be written at once from what must appear all at one
 * instant:
 *
 *	fresh     blocks that are free today: the new journal's superblock and tree
 *	inode     the bytes of inode 8 in the inode table, within one 512-byte sector
 *	metadata  bitmaps, group descriptors, and the table block of inode 8: for the log
 */

#include "core/err.h"
#include "volume/inode_runs.h"
#include "volume/transaction.h"

enum edit_position { EDIT_ANYWHERE, EDIT_START, EDIT_MIDDLE, EDIT_END, EDIT_BLOCK };

struct volume_edit_request {
	int fd;
	const char *name; /* for messages */
	const struct volume_info *info;
	bool drop;	  /* the inline journal that is there */
	bool add;	  /* an inline journal */
	uint64_t add_bytes; /* 0: the default for the volume */
	enum edit_position position;
	uint64_t block; /* with EDIT_BLOCK */
	uint32_t sequence; /* first sequence number of the new journal */
};

struct volume_edit {
	uint32_t block_bytes;
	bool wide; /* the volume has blocks beyond 2^32 */
	struct block_image *fresh, *metadata;
	size_t fresh_count, metadata_count;
	struct { /* bytes of inode 8 */
		uint64_t offset; /* on the device */
		uint32_t length;
		uint64_t block; /* that holds it */
		uint8_t *before, *after;
	} inode;
	uint64_t free_blocks;
	int64_t overhead_change; /* in clusters */
	uint32_t inode_backup[17]; /* for s_jnl_blocks */
	struct inode_runs added, dropped;
	uint32_t journal_blocks, fast_commit_blocks; /* of the new journal */
	uint64_t *backup_offsets; /* bytes: where the backup superblocks are */
	size_t backup_count;
};

/* No room: -ENOSPC with how much was wanted and how much there is. */
int volume_edit_compute(struct volume_edit *out, const struct volume_edit_request *q,
	struct err *e);
void volume_edit_deinit(struct volume_edit *d);

/* How large an inline journal of that many bytes (0: default) would be, in blocks, within
 * what jbd2 allows; -ERANGE outside. */
int volume_edit_journal_blocks(const struct volume_info *info, uint64_t bytes,
	uint32_t *blocks, struct err *e);
