/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Images of a superblock, and what a disk with 512-byte sectors may make of them when it
 * loses power in the middle of one.
 */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <ext2fs/ext2fs.h>

#include "volume/superblock.h"

#define SECTOR 512

static struct ext2_super_block *fields(struct superblock *sb)
{
	return (struct ext2_super_block *)sb->bytes;
}

/* Random bytes but for what says that it is a superblock. */
static struct superblock random_superblock(bool checksum, bool long_mount_point)
{
	struct superblock sb;
	struct ext2_super_block *s = fields(&sb);

	for (size_t i = 0; i < sizeof(sb.bytes); i++)
		sb.bytes[i] = (uint8_t)random();
	s->s_magic = ext2fs_cpu_to_le16(EXT2_SUPER_MAGIC);
	s->s_feature_ro_compat = ext2fs_cpu_to_le32(
		checksum ? EXT4_FEATURE_RO_COMPAT_METADATA_CSUM : 0);
	s->s_feature_incompat = ext2fs_cpu_to_le32(EXT4_FEATURE_INCOMPAT_64BIT);
	memset(s->s_last_mounted, 0, sizeof(s->s_last_mounted));
	memset(s->s_last_mounted, 'm', long_mount_point ? 64 : random() % 60);
	superblock_seal_second(&sb);
	return sb;
}

static struct superblock_journal random_journal(bool inline_journal)
{
	struct superblock_journal j = { .present = true };

	if (inline_journal) {
		j.inode = 8;
		for (size_t i = 0; i < ARRAY_SIZE(j.inode_backup); i++)
			j.inode_backup[i] = (uint32_t)random();
	} else {
		j.device_number = (uint32_t)random();
		for (size_t i = 0; i < sizeof(j.uuid); i++)
			j.uuid[i] = (uint8_t)random();
	}
	return j;
}

/* The images that one move writes one after the other, as placement/compile.c does. */
enum { IMAGES = 5 };

static void make_images(struct superblock image[static IMAGES], bool checksum,
	bool long_mount_point)
{
	struct superblock_journal j = random_journal(random() % 2);
	struct superblock *at = image;

	*at = random_superblock(checksum, long_mount_point);
	at[1] = at[0];
	superblock_set_valid(&at[1], false);
	superblock_set_write_time(&at[1], (uint32_t)random());
	assert_int_equal(superblock_seal_first(&at[1], &at[0], NULL), 0);
	at[2] = at[1];
	superblock_set_journal(&at[2], &j);
	superblock_set_free_blocks(&at[2], (uint64_t)random() << 20);
	superblock_set_needs_recovery(&at[2], true);
	assert_int_equal(superblock_seal_first(&at[2], &at[1], NULL), 0);
	at[3] = at[2];
	superblock_set_needs_recovery(&at[3], false);
	superblock_set_valid(&at[3], true);
	assert_int_equal(superblock_seal_first(&at[3], &at[2], NULL), 0);
	at[4] = at[3];
	superblock_set_overhead(&at[4], (uint32_t)random());
	superblock_seal_second(&at[4]);
}

static void each_image_differs_in_one_sector_only(void **state _unused_)
{
	struct superblock image[IMAGES];

	for (int round = 0; round < 400; round++) {
		make_images(image, round & 1, round & 2);
		for (size_t i = 1; i < IMAGES; i++) {
			bool last = i == IMAGES - 1;

			assert_memory_equal(image[i].bytes + (last ? 0 : SECTOR),
				image[i - 1].bytes + (last ? 0 : SECTOR), SECTOR);
		}
	}
}

static void any_mix_of_old_and_new_sectors_has_a_right_checksum(void **state _unused_)
{
	struct superblock image[IMAGES], torn;

	for (int round = 0; round < 400; round++) {
		make_images(image, true, round & 1);
		/* Not only neighbours: several images may wait for one flush. */
		for (size_t a = 0; a < IMAGES; a++)
			for (size_t b = 0; b < IMAGES; b++) {
				torn = image[a];
				memcpy(torn.bytes + SECTOR, image[b].bytes + SECTOR, SECTOR);
				assert_true(superblock_checksum_valid(&torn));
			}
	}
}

static void the_checksum_is_the_one_of_libext2fs(void **state _unused_)
{
	struct superblock image[IMAGES];
	struct struct_ext2_filsys fs;

	for (int round = 0; round < 50; round++) {
		make_images(image, true, round & 1);
		for (size_t i = 0; i < IMAGES; i++) {
			memset(&fs, 0, sizeof(fs));
			fs.super = fields(&image[i]);
			assert_int_equal(ext2fs_superblock_csum_verify(&fs, fs.super), 1);
		}
	}
}

/* Only these bytes may serve as filling. */
static void only_bytes_that_nobody_reads_are_used(void **state _unused_)
{
	for (int round = 0; round < 200; round++) {
		bool long_mount_point = round & 1;
		struct superblock before = random_superblock(true, long_mount_point);
		struct superblock after = before, expected;
		size_t spare = long_mount_point
			? offsetof(struct ext2_super_block, s_snapshot_list)
			: offsetof(struct ext2_super_block, s_last_mounted) + 60;
		char mounted[65] = "";

		superblock_set_write_time(&after, (uint32_t)random());
		expected = after;
		assert_int_equal(superblock_seal_first(&after, &before, NULL), 0);
		memcpy(expected.bytes + spare, after.bytes + spare, 4);
		assert_memory_equal(&after, &expected, sizeof(after));
		/* The name of the mount point is still the same string. */
		memcpy(mounted, fields(&after)->s_last_mounted, 64);
		assert_memory_equal(mounted, fields(&before)->s_last_mounted,
			strlen(mounted) + (strlen(mounted) < 64));
	}
}

static void without_checksums_nothing_is_filled_in(void **state _unused_)
{
	for (int round = 0; round < 50; round++) {
		struct superblock before = random_superblock(false, round & 1);
		struct superblock after = before, expected;

		superblock_set_needs_recovery(&after, true);
		expected = after;
		assert_int_equal(superblock_seal_first(&after, &before, NULL), 0);
		superblock_seal_second(&after);
		assert_memory_equal(&after, &expected, sizeof(after));
		assert_true(superblock_checksum_valid(&after));
	}
}

static void a_wrong_checksum_is_found_and_not_made_right(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };
	struct superblock before = random_superblock(true, false), after;

	before.bytes[100] ^= 1;
	assert_false(superblock_checksum_valid(&before));
	after = before;
	superblock_set_valid(&after, true);
	assert_int_equal(superblock_seal_first(&after, &before, &e), -EUCLEAN);
	assert_non_null(strstr(err_message(&e), "checksum"));
}

static void a_change_across_both_sectors_is_not_sealed(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };
	struct superblock before = random_superblock(true, false), after = before;

	superblock_set_valid(&after, !(fields(&after)->s_state & EXT2_VALID_FS));
	superblock_set_overhead(&after, superblock_overhead(&after) + 1);
	assert_int_equal(superblock_seal_first(&after, &before, &e), -EINVAL);
}

static void the_place_of_a_journal_is_read_back(void **state _unused_)
{
	for (int round = 0; round < 40; round++) {
		struct superblock sb = random_superblock(true, false);
		struct superblock_journal in = random_journal(round & 1), out;

		superblock_set_journal(&sb, &in);
		superblock_get_journal(&sb, &out);
		assert_memory_equal(&out, &in, sizeof(in));
		assert_int_equal(fields(&sb)->s_jnl_backup_type,
			round & 1 ? EXT3_JNL_BACKUP_BLOCKS : 0);
		in = (struct superblock_journal){ 0 };
		superblock_set_journal(&sb, &in);
		superblock_get_journal(&sb, &out);
		assert_memory_equal(&out, &in, sizeof(in));
	}
}

static void the_upper_half_of_free_blocks_belongs_to_64_bit_volumes(void **state _unused_)
{
	struct superblock sb = random_superblock(true, false);

	fields(&sb)->s_free_blocks_hi = 0;
	superblock_set_free_blocks(&sb, UINT64_C(0x512345678));
	assert_int_equal(fields(&sb)->s_free_blocks_count, 0x12345678);
	assert_int_equal(fields(&sb)->s_free_blocks_hi, 5);
	fields(&sb)->s_feature_incompat = 0;
	fields(&sb)->s_free_blocks_hi = ext2fs_cpu_to_le32(77);
	superblock_set_free_blocks(&sb, 1000);
	assert_int_equal(fields(&sb)->s_free_blocks_hi, ext2fs_cpu_to_le32(77));
}

static void other_states_survive_the_clean_flag(void **state _unused_)
{
	struct superblock sb = random_superblock(true, false);

	fields(&sb)->s_state = ext2fs_cpu_to_le16(EXT2_VALID_FS | EXT2_ERROR_FS);
	superblock_set_valid(&sb, false);
	assert_int_equal(fields(&sb)->s_state, ext2fs_cpu_to_le16(EXT2_ERROR_FS));
	superblock_set_valid(&sb, true);
	assert_int_equal(fields(&sb)->s_state,
		ext2fs_cpu_to_le16(EXT2_VALID_FS | EXT2_ERROR_FS));
}

static void what_is_no_superblock_is_refused(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };
	char path[] = "/tmp/jbdlab-superblock.XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);
	struct superblock sb, good = random_superblock(true, false);

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(ftruncate(fd, 1500), 0);
	assert_int_equal(superblock_read(&sb, fd, 1024, "x", &e), -EIO);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(superblock_read(&sb, fd, 1024, "x", &e), -EMEDIUMTYPE);
	assert_int_equal(pwrite(fd, &good, sizeof(good), 2048), sizeof(good));
	assert_int_equal(superblock_read(&sb, fd, 2048, "x", &e), 0);
	assert_memory_equal(&sb, &good, sizeof(sb));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_image_differs_in_one_sector_only),
		cmocka_unit_test(any_mix_of_old_and_new_sectors_has_a_right_checksum),
		cmocka_unit_test(the_checksum_is_the_one_of_libext2fs),
		cmocka_unit_test(only_bytes_that_nobody_reads_are_used),
		cmocka_unit_test(without_checksums_nothing_is_filled_in),
		cmocka_unit_test(a_wrong_checksum_is_found_and_not_made_right),
		cmocka_unit_test(a_change_across_both_sectors_is_not_sealed),
		cmocka_unit_test(the_place_of_a_journal_is_read_back),
		cmocka_unit_test(the_upper_half_of_free_blocks_belongs_to_64_bit_volumes),
		cmocka_unit_test(other_states_survive_the_clean_flag),
		cmocka_unit_test(what_is_no_superblock_is_refused),
	};

	srandom(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
