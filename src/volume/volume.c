/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A volume or a journal device as it is on disk; see volume.h.
 *
 * The superblock is decoded here rather than by ext2fs_open(), so that a volume with
 * features which the installed libext2fs does not know can still be shown.  libext2fs is
 * only asked for the blocks of an inline journal.
 *
 * A mounted volume changes while it is read: its superblock and the checksum in it may
 * not belong together for a moment.  A wrong checksum is therefore read again before it
 * counts as damage.
 *
 * The volume must not be larger than what holds it.  This catches truncated images, and
 * it bounds everything that is computed from the superblock by the size of the device.
 */

#include "volume/volume.h"

#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <uuid/uuid.h>

#include <ext2fs/ext2fs.h>

#include "core/fileio.h"
#include "volume/journal_map.h"
#include "volume/jsb.h"

#define SUPERBLOCK_BYTES 1024
#define CHECKSUM_TRIES 5
#define CHECKSUM_WAIT_NS 5000000L

/* Takes the name once more. */
#define TRY_A_COPY "; \"e2fsck -f %s\" may mend it from a copy of the superblock"

#define EXT3_INCOMPAT                                                                    \
	(EXT2_FEATURE_INCOMPAT_FILETYPE | EXT3_FEATURE_INCOMPAT_RECOVER |                \
		EXT2_FEATURE_INCOMPAT_META_BG)
#define EXT3_RO_COMPAT                                                                   \
	(EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER | EXT2_FEATURE_RO_COMPAT_LARGE_FILE | 0x4u)

static void problem(struct volume_info *v, const char *fmt, ...) _printf_(2, 3);
static void problem(struct volume_info *v, const char *fmt, ...)
{
	va_list ap;

	if (v->journal_problem)
		return;
	va_start(ap, fmt);
	if (vasprintf(&v->journal_problem, fmt, ap) < 0)
		v->journal_problem = NULL;
	va_end(ap);
}

static bool checksum_is_right(const struct ext2_super_block *sb)
{
	if (!(le32toh(sb->s_feature_ro_compat) & EXT4_FEATURE_RO_COMPAT_METADATA_CSUM))
		return true;
	return le32toh(sb->s_checksum) ==
	       ext2fs_crc32c_le(~0u, (const unsigned char *)sb,
		       offsetof(struct ext2_super_block, s_checksum));
}

static int read_superblock(struct ext2_super_block *sb, int fd, const char *name,
	struct err *e)
{
	const struct timespec pause = { .tv_nsec = CHECKSUM_WAIT_NS };
	off_t end = lseek(fd, 0, SEEK_END);
	int r;

	if (end < 0)
		return err_set(e, errno, "find the size of %s", name);
	if (end < SUPERBLOCK_OFFSET + SUPERBLOCK_BYTES)
		return err_say(e, EMEDIUMTYPE,
			"%s is too small to hold an ext2, ext3 or ext4 volume", name);
	for (int i = 0; i < CHECKSUM_TRIES; i++) {
		r = fileio_pread_full(fd, sb, SUPERBLOCK_BYTES, SUPERBLOCK_OFFSET, name,
			e);
		if (r)
			return r;
		if (le16toh(sb->s_magic) != EXT2_SUPER_MAGIC)
			return err_say(e, EMEDIUMTYPE,
				"%s holds no ext2, ext3 or ext4 volume and no journal",
				name);
		if (checksum_is_right(sb))
			return 0;
		nanosleep(&pause, NULL);
	}
	return err_say(e, EUCLEAN, "%s: the checksum of the superblock is wrong" TRY_A_COPY,
		name, name);
}

static int decode_geometry(struct volume_info *v, const struct ext2_super_block *sb,
	uint64_t device_bytes, const char *name, struct err *e)
{
	uint32_t log_block = le32toh(sb->s_log_block_size);
	uint64_t free_blocks = le32toh(sb->s_free_blocks_count);

	v->block_count = le32toh(sb->s_blocks_count);
	if (v->feature_incompat & EXT4_FEATURE_INCOMPAT_64BIT) {
		v->block_count |= (uint64_t)le32toh(sb->s_blocks_count_hi) << 32;
		free_blocks |= (uint64_t)le32toh(sb->s_free_blocks_hi) << 32;
	}
	if (log_block > EXT2_MAX_BLOCK_LOG_SIZE - EXT2_MIN_BLOCK_LOG_SIZE)
		return err_say(e, EUCLEAN,
			"%s: the superblock has an impossible block size" TRY_A_COPY, name,
			name);
	v->block_bytes = EXT2_MIN_BLOCK_SIZE << log_block;
	v->first_data_block = le32toh(sb->s_first_data_block);
	if (!v->block_count || v->first_data_block > 1 ||
		v->first_data_block >= v->block_count)
		return err_say(e, EUCLEAN,
			"%s: the superblock has impossible block numbers" TRY_A_COPY, name,
			name);
	if (v->block_count > device_bytes / v->block_bytes)
		return err_say(e, EUCLEAN,
			"%s: the superblock speaks of %llu blocks of %u bytes, but %s ends "
			"after %llu bytes; it is truncated or the superblock is damaged: copy "
			"it again, or, if that is all of it, try \"e2fsck -f %s\"",
			name, (unsigned long long)v->block_count, v->block_bytes, name,
			(unsigned long long)device_bytes, name);
	v->size_bytes = v->block_count * v->block_bytes;
	/* Blocks here, also with bigalloc; only the groups count clusters. */
	v->free_blocks = MIN(free_blocks, v->block_count);
	return 0;
}

static const char *type_of(const struct volume_info *v)
{
	if (v->kind == VOLUME_JOURNAL_DEVICE)
		return "journal";
	if (v->feature_incompat & ~EXT3_INCOMPAT ||
		v->feature_ro_compat & ~EXT3_RO_COMPAT)
		return "ext4";
	return v->feature_compat & EXT3_FEATURE_COMPAT_HAS_JOURNAL ? "ext3" : "ext2";
}

static void decode_state(struct volume_info *v, const struct ext2_super_block *sb)
{
	uint16_t state = le16toh(sb->s_state);

	v->state_valid = state & EXT2_VALID_FS;
	v->state_error = state & EXT2_ERROR_FS;
	v->needs_recovery = v->feature_incompat & EXT3_FEATURE_INCOMPAT_RECOVER;
	v->orphan_present = sb->s_last_orphan ||
			    v->feature_ro_compat & EXT4_FEATURE_RO_COMPAT_ORPHAN_PRESENT;
	v->last_mount_time = le32toh(sb->s_mtime);
	v->write_time = le32toh(sb->s_wtime);
	memcpy(v->last_mounted, sb->s_last_mounted, sizeof(v->last_mounted) - 1);
	memcpy(v->label, sb->s_volume_name, sizeof(v->label) - 1);
	uuid_unparse_lower(sb->s_uuid, v->uuid);
}

static void decode_features(struct volume_info *v, const struct ext2_super_block *sb)
{
	/* Superblocks of revision 0 have no feature fields. */
	v->revision = le32toh(sb->s_rev_level);
	if (v->revision == EXT2_GOOD_OLD_REV)
		return;
	v->feature_compat = le32toh(sb->s_feature_compat);
	v->feature_incompat = le32toh(sb->s_feature_incompat);
	v->feature_ro_compat = le32toh(sb->s_feature_ro_compat);
	if (v->feature_incompat & EXT3_FEATURE_INCOMPAT_JOURNAL_DEV)
		v->kind = VOLUME_JOURNAL_DEVICE;
}

static void decode_place(struct volume_info *v, const struct ext2_super_block *sb)
{
	bool has_uuid = !uuid_is_null(sb->s_journal_uuid);

	if (!(v->feature_compat & EXT3_FEATURE_COMPAT_HAS_JOURNAL) ||
		v->kind == VOLUME_JOURNAL_DEVICE)
		return;
	v->journal_inode = le32toh(sb->s_journal_inum);
	v->journal_device_number = le32toh(sb->s_journal_dev);
	if (has_uuid)
		uuid_unparse_lower(sb->s_journal_uuid, v->journal_uuid);
	if (v->journal_inode)
		v->place = JOURNAL_INLINE;
	else if (has_uuid || v->journal_device_number)
		v->place = JOURNAL_EXTERNAL;
	else
		problem(v, "the superblock says that there is a journal, but not where");
	if (v->journal_inode && (has_uuid || v->journal_device_number))
		problem(v, "the superblock names both an inode and a device as journal");
}

/* Reads the journal superblock at a byte offset; the journal has room for limit_blocks. */
static void read_journal(struct volume_info *v, int fd, uint64_t offset,
	uint64_t limit_blocks)
{
	_cleanup_(err_clear) struct err e = { 0 };
	unsigned char bytes[JSB_BYTES];

	if (fileio_pread_full(fd, bytes, sizeof(bytes), (off_t)offset, "the journal",
		    &e)) {
		problem(v, "%s", err_message(&e));
		return;
	}
	if (jsb_decode(&v->journal, bytes)) {
		problem(v, "the journal has no valid superblock");
		return;
	}
	if (v->journal.block_bytes != v->block_bytes)
		problem(v, "the journal has blocks of %u bytes, where %u belong",
			v->journal.block_bytes, v->block_bytes);
	else if (v->journal.max_blocks > limit_blocks)
		problem(v,
			"the journal says that it has %u blocks, but there are only %llu",
			v->journal.max_blocks, (unsigned long long)limit_blocks);
	else if (v->journal.first >= v->journal.max_blocks ||
		 v->journal.start >= v->journal.max_blocks)
		problem(v, "the journal starts behind its end");
	else if (v->journal.checksum_expected && !v->journal.checksum_valid)
		problem(v, "the checksum of the journal superblock is wrong");
	if (v->journal.block_bytes != v->block_bytes ||
		v->journal.max_blocks > limit_blocks)
		v->journal = (struct journal_state){ 0 };
}

static void read_inline(struct volume_info *v, int fd)
{
	_cleanup_free_ char *why = journal_map_read(v, fd);
	uint64_t blocks = 0;

	if (why || !v->run_count) {
		problem(v, "the journal cannot be read: %s", why ? why : "no memory");
		return;
	}
	for (uint32_t i = 0; i < v->run_count; i++)
		blocks += v->runs[i].count;
	read_journal(v, fd, v->runs[0].first * v->block_bytes, blocks);
}

static void read_journal_device(struct volume_info *v, int fd)
{
	uint64_t block = ext2fs_journal_sb_start((int)v->block_bytes);
	uuid_t own;

	if (block >= v->block_count) {
		problem(v, "there is no room for a journal superblock");
		return;
	}
	read_journal(v, fd, block * v->block_bytes, v->block_count);
	if (v->journal.readable && !uuid_parse(v->uuid, own) &&
		memcmp(own, v->journal.uuid, sizeof(own)))
		problem(v,
			"the two superblocks of the journal device have different UUIDs");
}

int volume_info_read(struct volume_info *v, int fd, const char *name, struct err *e)
{
	_cleanup_(volume_info_deinit) struct volume_info found = { 0 };
	struct ext2_super_block sb;
	off_t end;
	int r = read_superblock(&sb, fd, name, e);

	if (r)
		return r;
	end = lseek(fd, 0, SEEK_END);
	if (end < 0)
		return err_set(e, errno, "find the size of %s", name);
	decode_features(&found, &sb);
	r = decode_geometry(&found, &sb, (uint64_t)end, name, e);
	if (r)
		return r;
	decode_state(&found, &sb);
	decode_place(&found, &sb);
	found.type = type_of(&found);
	if (found.kind == VOLUME_JOURNAL_DEVICE)
		read_journal_device(&found, fd);
	else if (found.place == JOURNAL_INLINE)
		read_inline(&found, fd);
	*v = found;
	found = (struct volume_info){ 0 };
	return 0;
}

void volume_info_deinit(struct volume_info *v)
{
	free(v->runs);
	free(v->journal_problem);
	*v = (struct volume_info){ 0 };
}

uint64_t volume_journal_bytes(const struct volume_info *v)
{
	if (!v->journal.readable)
		return 0;
	return (uint64_t)v->journal.max_blocks * v->journal.block_bytes;
}

dev_t volume_journal_devno(const struct volume_info *v)
{
	uint32_t number = v->journal_device_number;

	/* The kernel's encoding: 12 bits of minor number above the major number. */
	return makedev(number >> 8 & 0xfff, (number & 0xff) | (number >> 12 & 0xfff00));
}
