/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The primary superblock as 1024 bytes on disk, changed in ways that survive a torn
 * write.
 *
 * A superblock spans two 512-byte sectors, and with metadata_csum its checksum lies at
 * the end of the second.  A disk with 512-byte sectors may lose power between the two.
 * So each image that is written differs from the one before in one sector only:
 *
 *  - Everything that a move changes in the meaning of the superblock lies in the first
 *    sector.  superblock_seal_first() makes that change neutral to the checksum: four
 *    bytes that nobody reads are chosen so that crc32c stays what it was, and the second
 *    sector need not change.
 *  - s_overhead_clusters, which only df(1) looks at, lies in the second sector, together
 *    with the checksum; superblock_seal_second() computes it anew.
 *
 * The four bytes are the last of s_last_mounted (64 bytes), unless a mount point is
 * longer than 59 characters; then s_snapshot_list, a field of no released kernel.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"

#define SUPERBLOCK_OFFSET_BYTES 1024
#define SUPERBLOCK_BYTES 1024

struct superblock {
	uint8_t bytes[SUPERBLOCK_BYTES];
};

/* The journal's place as the superblock states it. */
struct superblock_journal {
	bool present;		  /* has_journal */
	uint32_t inode;		  /* inline: 8; else 0 */
	uint32_t device_number;	  /* external: as the kernel encodes it; else 0 */
	uint8_t uuid[16];	  /* external; else zeros */
	uint32_t inode_backup[17]; /* inline: i_block, size_high, size; else zeros */
};

/* Reads at offset (SUPERBLOCK_OFFSET_BYTES for the primary one) and checks the magic. */
int superblock_read(struct superblock *sb, int fd, uint64_t offset, const char *name,
	struct err *e);

bool superblock_checksum_valid(const struct superblock *sb);

void superblock_uuid(const struct superblock *sb, uint8_t uuid[static 16]);
void superblock_get_journal(const struct superblock *sb, struct superblock_journal *j);
void superblock_set_journal(struct superblock *sb, const struct superblock_journal *j);
void superblock_set_device_number(struct superblock *sb, uint32_t number);
bool superblock_needs_recovery(const struct superblock *sb);
void superblock_set_needs_recovery(struct superblock *sb, bool on);
void superblock_set_valid(struct superblock *sb, bool on); /* "cleanly unmounted" */
void superblock_set_free_blocks(struct superblock *sb, uint64_t blocks);
void superblock_set_write_time(struct superblock *sb, uint32_t seconds);

uint32_t superblock_overhead(const struct superblock *sb);
void superblock_set_overhead(struct superblock *sb, uint32_t clusters);

/* Journal devices only: how many blocks they have. */
void superblock_set_block_count(struct superblock *sb, uint64_t blocks);

/* After changes in the first sector of sb, which was equal to before: makes the checksum
 * right without touching the second sector.  -EUCLEAN when before itself has a wrong
 * checksum; -EINVAL when the second sector differs. */
int superblock_seal_first(struct superblock *sb, const struct superblock *before,
	struct err *e);

/* After changes in the second sector: computes the checksum.  Also for a whole new or a
 * backup superblock, where tearing is harmless. */
void superblock_seal_second(struct superblock *sb);
