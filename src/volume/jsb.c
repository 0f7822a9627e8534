/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The jbd2 superblock between its disk form and struct journal_state.
 *
 * Only with the features CSUM_V2 or CSUM_V3 does the kernel look at the checksum, and
 * then it refuses to mount when it is wrong.  A superblock of version 1 ends behind the
 * error field: what lies there is not read.  The number of users comes from disk and
 * later bounds loops over an array, so that a number above the 48 that fit is treated as
 * damage, as e2fsprogs does.
 */

#include "volume/jsb.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include <ext2fs/ext2fs.h>

static bool demands_checksum(uint32_t incompat)
{
	return incompat & (JSB_INCOMPAT_CSUM_V2 | JSB_INCOMPAT_CSUM_V3);
}

static uint32_t checksum_of(const struct jsb_disk *disk)
{
	struct jsb_disk copy = *disk;

	copy.checksum = 0;
	return ext2fs_crc32c_le(~0u, (const unsigned char *)&copy, sizeof(copy));
}

static void decode_version_2(struct journal_state *s, const struct jsb_disk *disk)
{
	s->feature_compat = be32toh(disk->feature_compat);
	s->feature_incompat = be32toh(disk->feature_incompat);
	s->feature_ro_compat = be32toh(disk->feature_ro_compat);
	s->fast_commit_blocks = be32toh(disk->fast_commit_blocks);
	s->user_count = be32toh(disk->user_count);
	memcpy(s->uuid, disk->uuid, sizeof(s->uuid));
	memcpy(s->users, disk->users, sizeof(s->users));
	s->checksum_expected = demands_checksum(s->feature_incompat);
	s->checksum_valid = s->checksum_expected &&
			    disk->checksum_type == JSB_CHECKSUM_CRC32C &&
			    be32toh(disk->checksum) == checksum_of(disk);
}

int jsb_decode(struct journal_state *out, const void *bytes_1024)
{
	struct journal_state s = { .readable = true };
	struct jsb_disk disk;
	uint32_t type;

	memcpy(&disk, bytes_1024, sizeof(disk));
	memset(out, 0, sizeof(*out));
	type = be32toh(disk.block_type);
	if (be32toh(disk.magic) != JSB_MAGIC ||
		(type != JSB_SUPERBLOCK_V1 && type != JSB_SUPERBLOCK_V2))
		return -EUCLEAN;
	s.version = type == JSB_SUPERBLOCK_V2 ? 2 : 1;
	s.block_bytes = be32toh(disk.block_bytes);
	s.max_blocks = be32toh(disk.max_blocks);
	s.first = be32toh(disk.first);
	s.sequence = be32toh(disk.sequence);
	s.start = be32toh(disk.start);
	s.error = (int32_t)be32toh(disk.error);
	if (s.version == 2)
		decode_version_2(&s, &disk);
	if (s.user_count > JSB_USERS_MAX)
		return -EUCLEAN;
	*out = s;
	return 0;
}

void jsb_encode(void *bytes_1024, const struct journal_state *in)
{
	uint32_t users = MIN(in->user_count, (uint32_t)JSB_USERS_MAX);
	struct jsb_disk disk = {
		.magic = htobe32(JSB_MAGIC),
		.block_type = htobe32(JSB_SUPERBLOCK_V2),
		.block_bytes = htobe32(in->block_bytes),
		.max_blocks = htobe32(in->max_blocks),
		.first = htobe32(in->first),
		.sequence = htobe32(in->sequence),
		.start = htobe32(in->start),
		.error = htobe32((uint32_t)in->error),
		.feature_compat = htobe32(in->feature_compat),
		.feature_incompat = htobe32(in->feature_incompat),
		.feature_ro_compat = htobe32(in->feature_ro_compat),
		.user_count = htobe32(users),
		.fast_commit_blocks = htobe32(in->fast_commit_blocks),
	};

	memcpy(disk.uuid, in->uuid, sizeof(disk.uuid));
	memcpy(disk.users, in->users, sizeof(disk.users[0]) * users);
	if (demands_checksum(in->feature_incompat)) {
		disk.checksum_type = JSB_CHECKSUM_CRC32C;
		disk.checksum = htobe32(checksum_of(&disk));
	}
	memcpy(bytes_1024, &disk, sizeof(disk));
}
