/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Superblock images; see superblock.h.
 *
 * Choosing four bytes so that a CRC becomes a wanted value: a CRC is linear over GF(2),
 * so each of the 32 free bits flips a fixed pattern of the result.  Which bits to set is
 * a system of 32 equations, solved by elimination.  It always has exactly one solution,
 * because four consecutive bytes determine a 32-bit CRC one to one.
 */

#include "volume/superblock.h"

#include <errno.h>
#include <ext2fs/ext2fs.h>
#include <stddef.h>
#include <string.h>

#include "core/fileio.h"

#define SECTOR_BYTES 512
#define LAST_MOUNTED_SPARE 60 /* the spare bytes begin here in s_last_mounted */

_Static_assert(sizeof(struct ext2_super_block) == SUPERBLOCK_BYTES, "superblock size");
_Static_assert(offsetof(struct ext2_super_block, s_snapshot_list) + 4 <= SECTOR_BYTES,
	"the spare field lies in the first sector");
_Static_assert(offsetof(struct ext2_super_block, s_free_blocks_hi) + 4 <= SECTOR_BYTES,
	"what a move changes lies in the first sector");
_Static_assert(offsetof(struct ext2_super_block, s_overhead_clusters) >= SECTOR_BYTES,
	"the overhead lies in the second sector");

static struct ext2_super_block *fields(struct superblock *sb)
{
	return (struct ext2_super_block *)sb->bytes;
}

static const struct ext2_super_block *fields_const(const struct superblock *sb)
{
	return (const struct ext2_super_block *)sb->bytes;
}

static bool has_checksum(const struct superblock *sb)
{
	return ext2fs_le32_to_cpu(fields_const(sb)->s_feature_ro_compat) &
		EXT4_FEATURE_RO_COMPAT_METADATA_CSUM;
}

static uint32_t compute(const struct superblock *sb)
{
	return ext2fs_crc32c_le(~0U, sb->bytes,
		offsetof(struct ext2_super_block, s_checksum));
}

int superblock_read(struct superblock *sb, int fd, uint64_t offset, const char *name,
	struct err *e)
{
	int r = fileio_pread_full(fd, sb->bytes, sizeof(sb->bytes), (off_t)offset, name, e);

	if (r)
		return r;
	if (ext2fs_le16_to_cpu(fields(sb)->s_magic) != EXT2_SUPER_MAGIC)
		return err_say(e, EMEDIUMTYPE, "%s has no ext2/ext3/ext4 superblock", name);
	return 0;
}

bool superblock_checksum_valid(const struct superblock *sb)
{
	return !has_checksum(sb) ||
		ext2fs_le32_to_cpu(fields_const(sb)->s_checksum) == compute(sb);
}

void superblock_uuid(const struct superblock *sb, uint8_t uuid[static 16])
{
	memcpy(uuid, fields_const(sb)->s_uuid, 16);
}

void superblock_get_journal(const struct superblock *sb, struct superblock_journal *j)
{
	const struct ext2_super_block *s = fields_const(sb);

	*j = (struct superblock_journal){
		.present = ext2fs_le32_to_cpu(s->s_feature_compat) &
			EXT3_FEATURE_COMPAT_HAS_JOURNAL,
		.inode = ext2fs_le32_to_cpu(s->s_journal_inum),
		.device_number = ext2fs_le32_to_cpu(s->s_journal_dev),
	};
	memcpy(j->uuid, s->s_journal_uuid, sizeof(j->uuid));
	for (size_t i = 0; i < ARRAY_SIZE(j->inode_backup); i++)
		j->inode_backup[i] = ext2fs_le32_to_cpu(s->s_jnl_blocks[i]);
}

static void set_bit(__u32 *field, uint32_t bit, bool on)
{
	uint32_t value = ext2fs_le32_to_cpu(*field);

	*field = ext2fs_cpu_to_le32(on ? value | bit : value & ~bit);
}

void superblock_set_journal(struct superblock *sb, const struct superblock_journal *j)
{
	struct ext2_super_block *s = fields(sb);

	set_bit(&s->s_feature_compat, EXT3_FEATURE_COMPAT_HAS_JOURNAL, j->present);
	s->s_journal_inum = ext2fs_cpu_to_le32(j->inode);
	s->s_journal_dev = ext2fs_cpu_to_le32(j->device_number);
	memcpy(s->s_journal_uuid, j->uuid, sizeof(j->uuid));
	for (size_t i = 0; i < ARRAY_SIZE(j->inode_backup); i++)
		s->s_jnl_blocks[i] = ext2fs_cpu_to_le32(j->inode_backup[i]);
	s->s_jnl_backup_type = j->inode ? EXT3_JNL_BACKUP_BLOCKS : 0;
}

void superblock_set_device_number(struct superblock *sb, uint32_t number)
{
	fields(sb)->s_journal_dev = ext2fs_cpu_to_le32(number);
}

bool superblock_needs_recovery(const struct superblock *sb)
{
	return ext2fs_le32_to_cpu(fields_const(sb)->s_feature_incompat) &
		EXT3_FEATURE_INCOMPAT_RECOVER;
}

void superblock_set_needs_recovery(struct superblock *sb, bool on)
{
	set_bit(&fields(sb)->s_feature_incompat, EXT3_FEATURE_INCOMPAT_RECOVER, on);
}

void superblock_set_valid(struct superblock *sb, bool on)
{
	uint16_t state = ext2fs_le16_to_cpu(fields(sb)->s_state);

	state = (uint16_t)(on ? state | EXT2_VALID_FS : state & ~EXT2_VALID_FS);
	fields(sb)->s_state = ext2fs_cpu_to_le16(state);
}

void superblock_set_free_blocks(struct superblock *sb, uint64_t blocks)
{
	struct ext2_super_block *s = fields(sb);

	s->s_free_blocks_count = ext2fs_cpu_to_le32((uint32_t)blocks);
	if (ext2fs_le32_to_cpu(s->s_feature_incompat) & EXT4_FEATURE_INCOMPAT_64BIT)
		s->s_free_blocks_hi = ext2fs_cpu_to_le32((uint32_t)(blocks >> 32));
}

void superblock_set_write_time(struct superblock *sb, uint32_t seconds)
{
	fields(sb)->s_wtime = ext2fs_cpu_to_le32(seconds);
}

uint32_t superblock_overhead(const struct superblock *sb)
{
	return ext2fs_le32_to_cpu(fields_const(sb)->s_overhead_clusters);
}

void superblock_set_overhead(struct superblock *sb, uint32_t clusters)
{
	fields(sb)->s_overhead_clusters = ext2fs_cpu_to_le32(clusters);
}

void superblock_set_block_count(struct superblock *sb, uint64_t blocks)
{
	fields(sb)->s_blocks_count = ext2fs_cpu_to_le32((uint32_t)blocks);
}

static uint8_t *spare_bytes(struct superblock *sb)
{
	struct ext2_super_block *s = fields(sb);

	if (!s->s_last_mounted[LAST_MOUNTED_SPARE - 1])
		return s->s_last_mounted + LAST_MOUNTED_SPARE;
	return (uint8_t *)&s->s_snapshot_list;
}

/* Sets the 32 spare bits so that compute(sb) becomes wanted. */
static bool solve(struct superblock *sb, uint32_t wanted)
{
	uint8_t *spare = spare_bytes(sb);
	uint32_t effect[32], bits[32], solution = 0, rest;

	memset(spare, 0, 4);
	rest = compute(sb) ^ wanted;
	for (int i = 0; i < 32; i++) {
		spare[i / 8] = (uint8_t)(1U << i % 8);
		effect[i] = compute(sb);
		spare[i / 8] = 0;
		effect[i] ^= rest ^ wanted; /* what this bit alone flips */
		bits[i] = UINT32_C(1) << i;
	}
	for (int column = 0; column < 32; column++) {
		uint32_t mask = UINT32_C(1) << column;
		int pivot = column;

		while (pivot < 32 && !(effect[pivot] & mask))
			pivot++;
		if (pivot == 32)
			return false;
		for (int i = 0; i < 2; i++) {
			uint32_t *row = i ? bits : effect, swap = row[column];

			row[column] = row[pivot];
			row[pivot] = swap;
		}
		for (int i = column + 1; i < 32; i++)
			if (effect[i] & mask) {
				effect[i] ^= effect[column];
				bits[i] ^= bits[column];
			}
		if (rest & mask) {
			rest ^= effect[column];
			solution ^= bits[column];
		}
	}
	for (int i = 0; i < 4; i++)
		spare[i] = (uint8_t)(solution >> 8 * i);
	return rest == 0;
}

int superblock_seal_first(struct superblock *sb, const struct superblock *before,
	struct err *e)
{
	if (memcmp(sb->bytes + SECTOR_BYTES, before->bytes + SECTOR_BYTES, SECTOR_BYTES))
		return err_say(e, EINVAL, "superblock change crosses a sector");
	if (!superblock_checksum_valid(before))
		return err_say(e, EUCLEAN, "superblock has a wrong checksum");
	if (!has_checksum(sb))
		return 0;
	if (!solve(sb, ext2fs_le32_to_cpu(fields_const(before)->s_checksum)))
		return err_say(e, EINVAL, "superblock checksum cannot be kept");
	return 0;
}

void superblock_seal_second(struct superblock *sb)
{
	if (has_checksum(sb))
		fields(sb)->s_checksum = ext2fs_cpu_to_le32(compute(sb));
}
