/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Volumes made by mke2fs in a temporary file, read as they are and with thousands of
 * seeded damages in their metadata: whatever the bytes, reading ends, stays within
 * memory (the sanitizers look on), and hands out only what lies within the volume.
 */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "core/process.h"
#include "volume/volume.h"

#define IMAGE_BYTES (8 << 20)
#define METADATA_BYTES 307200
#define DAMAGES 40
#define ROUNDS 400

struct image {
	char path[64];
	int fd;
	unsigned char *bytes; /* of the undamaged image */
};

/* false: mke2fs is not installed. */
static bool image_make(struct image *image, const char *const arguments[])
{
	_cleanup_(process_outcome_deinit) struct process_outcome o = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };
	const char *argv[16] = { "mke2fs", "-q", "-F" };
	size_t n = 3;
	int r;

	strcpy(image->path, "/tmp/jbdlab-unit.XXXXXX");
	image->fd = mkstemp(image->path);
	assert_true(image->fd >= 0);
	assert_int_equal(ftruncate(image->fd, IMAGE_BYTES), 0);
	for (size_t i = 0; arguments[i]; i++)
		argv[n++] = arguments[i];
	argv[n] = image->path;
	r = process_run(argv, NULL, &o, &e);
	unlink(image->path);
	if (r == -ENOENT)
		return false;
	assert_int_equal(r, 0);
	assert_int_equal(o.status, 0);
	image->bytes = malloc(IMAGE_BYTES);
	assert_non_null(image->bytes);
	assert_int_equal(pread(image->fd, image->bytes, IMAGE_BYTES, 0), IMAGE_BYTES);
	return true;
}

static void image_deinit(struct image *image)
{
	close(image->fd);
	free(image->bytes);
}

static uint64_t next_random(uint64_t *state)
{
	/* splitmix64 */
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void check_bounds(const struct volume_info *v)
{
	assert_true(v->block_bytes >= 1024 && v->block_bytes <= 65536);
	assert_true(v->block_count <= IMAGE_BYTES / v->block_bytes);
	assert_true(v->free_blocks <= v->block_count);
	assert_true(volume_journal_bytes(v) <= IMAGE_BYTES);
	assert_true(v->journal.user_count <= 48);
	for (uint32_t i = 0; i < v->run_count; i++) {
		assert_true(v->runs[i].count > 0);
		assert_true(v->runs[i].first < v->block_count);
		assert_true(v->runs[i].count <= v->block_count - v->runs[i].first);
	}
}

/* Reads once, returns what volume_info_read() did. */
static int read_once(const struct image *image)
{
	_cleanup_(volume_info_deinit) struct volume_info v = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };
	int r = volume_info_read(&v, image->fd, "image", &e);

	if (r) {
		assert_true(r == -EUCLEAN || r == -EMEDIUMTYPE);
		assert_true(*err_message(&e) != '\0');
		assert_null(strchr(err_message(&e), '\n'));
		return r;
	}
	check_bounds(&v);
	free(volume_features(&v));
	free(volume_unknown_features(&v));
	return 0;
}

/* Half of the damages hit the superblock or the inode table, where they matter most. */
static void damage(const struct image *image, uint64_t *seed, uint64_t hot_offset)
{
	for (int i = 0; i < DAMAGES; i++) {
		uint64_t draw = next_random(seed);
		unsigned char byte = (unsigned char)(draw >> 56);
		uint64_t offset = draw % METADATA_BYTES;

		if (draw >> 40 & 1)
			offset = hot_offset + draw % 128;
		/* Keep the magic: everything else would be the same short way out. */
		if (offset >= 1024 + 0x38 && offset < 1024 + 0x3a)
			continue;
		assert_int_equal(pwrite(image->fd, &byte, 1, (off_t)offset), 1);
	}
}

static void survive(const char *const arguments[], uint64_t hot_offset)
{
	struct image image;
	uint64_t seed = 2010;
	unsigned whole = 0;

	if (!image_make(&image, arguments))
		skip();
	for (int i = 0; i < ROUNDS; i++) {
		damage(&image, &seed, hot_offset);
		whole += read_once(&image) == 0;
		assert_int_equal(pwrite(image.fd, image.bytes, METADATA_BYTES, 0),
			METADATA_BYTES);
	}
	assert_int_equal(read_once(&image), 0);
	/* Else the damage hid everything behind the first check. */
	if (hot_offset > 2048)
		assert_true(whole > ROUNDS / 20);
	image_deinit(&image);
}

/* Where inode 8 lies in the images below: first inode table, 256 bytes each. */
static uint64_t inode_8(const char *const arguments[])
{
	struct image image;
	uint64_t block, block_bytes;

	if (!image_make(&image, arguments))
		skip();
	block_bytes = 1024u << image.bytes[1024 + 0x18];
	/* bg_inode_table of group 0. */
	block = image.bytes[(block_bytes == 1024 ? 2048 : block_bytes) + 8] |
		image.bytes[(block_bytes == 1024 ? 2048 : block_bytes) + 9] << 8;
	image_deinit(&image);
	return block * block_bytes + 7 * 256;
}

static void damaged_superblocks_of_ext4_are_survived(void **state _unused_)
{
	static const char *const ext4[] = { "-t", "ext4", "-O", "^metadata_csum", "-J",
		"size=1", "-b", "1024", NULL };

	survive(ext4, 1024);
}

static void damaged_extents_of_the_journal_are_survived(void **state _unused_)
{
	static const char *const ext4[] = { "-t", "ext4", "-O", "^metadata_csum", "-J",
		"size=1", "-b", "1024", "-I", "256", NULL };

	survive(ext4, inode_8(ext4));
}

static void damaged_indirect_blocks_of_the_journal_are_survived(void **state _unused_)
{
	static const char *const ext3[] = { "-t", "ext3", "-J", "size=1", "-b", "1024",
		"-I", "256", NULL };

	survive(ext3, inode_8(ext3));
}

static void damaged_journal_devices_are_survived(void **state _unused_)
{
	static const char *const journal[] = { "-O", "journal_dev", "-b", "1024", NULL };

	survive(journal, 1024);
	survive(journal, 2048 + 16);
}

static void an_undamaged_volume_is_read_whole(void **state _unused_)
{
	static const char *const ext4[] = { "-t", "ext4", "-L", "name", "-J", "size=1",
		"-b", "1024", "-U", "01234567-89ab-cdef-0123-456789abcdef", NULL };
	_cleanup_(volume_info_deinit) struct volume_info v = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };
	struct image image;

	if (!image_make(&image, ext4))
		skip();
	assert_int_equal(volume_info_read(&v, image.fd, "image", &e), 0);
	assert_string_equal(v.type, "ext4");
	assert_string_equal(v.label, "name");
	assert_string_equal(v.uuid, "01234567-89ab-cdef-0123-456789abcdef");
	assert_int_equal(v.place, JOURNAL_INLINE);
	assert_int_equal(v.journal_inode, 8);
	assert_int_equal(volume_journal_bytes(&v), 1 << 20);
	assert_null(v.journal_problem);
	assert_true(v.state_valid && !v.state_error && !v.needs_recovery);
	assert_true(volume_has_feature(&v, "has_journal"));
	assert_true(volume_has_feature(&v, "extent"));
	assert_false(volume_has_feature(&v, "bigalloc"));
	assert_false(volume_has_feature(&v, "no such feature"));
	assert_null(volume_unknown_features(&v));
	check_bounds(&v);
	image_deinit(&image);
}

static void recorded_device_numbers_are_decoded_as_the_kernel_does(void **state _unused_)
{
	struct volume_info v = { .journal_device_number = 0x703 };

	assert_int_equal(volume_journal_devno(&v), makedev(7, 3));
	/* A minor number above 255 goes on above the major number. */
	v.journal_device_number = 0x10300 + 5 + (3u << 20);
	assert_int_equal(volume_journal_devno(&v), makedev(0x103, 0x305));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_undamaged_volume_is_read_whole),
		cmocka_unit_test(recorded_device_numbers_are_decoded_as_the_kernel_does),
		cmocka_unit_test(damaged_superblocks_of_ext4_are_survived),
		cmocka_unit_test(damaged_extents_of_the_journal_are_survived),
		cmocka_unit_test(damaged_indirect_blocks_of_the_journal_are_survived),
		cmocka_unit_test(damaged_journal_devices_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
