/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The blocks of a journal, on small volumes that libext2fs makes in a file: whole and in
 * pieces, with extents and with indirect blocks, compared with what a walk over each
 * single block says.  Damaged trees are errors, never runs outside of the volume.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "volume/inode_runs.h"

#define BLOCKS 16384
#define JOURNAL_BLOCKS 2048

struct volume {
	char path[40];
	ext2_filsys fs;
};

/* pieces: every `pieces`th block is taken before the journal comes; 0: none. */
static struct volume make_volume(bool extents, unsigned pieces)
{
	struct volume v = { .path = "/tmp/jbdlab-inode-runs.XXXXXX" };
	struct ext2_super_block p = { .s_rev_level = EXT2_DYNAMIC_REV,
		.s_blocks_count = BLOCKS,
		.s_feature_incompat = extents ? EXT3_FEATURE_INCOMPAT_EXTENTS : 0 };
	int fd = mkstemp(v.path);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, BLOCKS * 1024), 0);
	close(fd);
	assert_int_equal(ext2fs_initialize(v.path, 0, &p, unix_io_manager, &v.fs), 0);
	assert_int_equal(ext2fs_allocate_tables(v.fs), 0);
	for (blk64_t block = 1; pieces && block < BLOCKS; block += pieces)
		if (!ext2fs_test_block_bitmap2(v.fs->block_map, block))
			ext2fs_block_alloc_stats2(v.fs, block, 1);
	assert_int_equal(ext2fs_add_journal_inode2(v.fs, JOURNAL_BLOCKS, ~0ULL,
				 EXT2_MKJOURNAL_LAZYINIT | EXT2_MKJOURNAL_NO_MNT_CHECK), 0);
	return v;
}

static void free_volume(struct volume *v)
{
	ext2fs_free(v->fs);
	unlink(v->path);
}

struct walk {
	const struct inode_runs *runs;
	uint64_t logical, tree;
};

static int visit(ext2_filsys fs _unused_, blk64_t *block, e2_blkcnt_t logical,
	blk64_t parent _unused_, int offset _unused_, void *data)
{
	struct walk *w = data;

	if (logical < 0) {
		assert_true(run_list_contains(&w->runs->tree, *block));
		assert_false(run_list_contains(&w->runs->data, *block));
		w->tree++;
		return 0;
	}
	assert_int_equal(logical, w->logical);
	assert_int_equal(run_list_map(&w->runs->data, w->logical), *block);
	assert_true(run_list_contains(&w->runs->data, *block));
	w->logical++;
	return 0;
}

static void check_volume(bool extents, unsigned pieces, size_t runs_at_least,
	size_t runs_at_most)
{
	struct volume v = make_volume(extents, pieces);
	_cleanup_(inode_runs_deinit) struct inode_runs r = { 0 };
	struct walk w = { .runs = &r };

	assert_int_equal(inode_runs_read(&r, v.fs, EXT2_JOURNAL_INO, NULL), 0);
	assert_int_equal(ext2fs_block_iterate3(v.fs, EXT2_JOURNAL_INO, BLOCK_FLAG_READ_ONLY,
				 NULL, visit, &w), 0);
	assert_int_equal(w.logical, JOURNAL_BLOCKS);
	assert_int_equal(run_list_blocks(&r.data), JOURNAL_BLOCKS);
	assert_int_equal(run_list_blocks(&r.tree), w.tree);
	assert_int_equal(run_list_map(&r.data, JOURNAL_BLOCKS), 0);
	assert_true(r.data.count >= runs_at_least && r.data.count <= runs_at_most);
	free_volume(&v);
}

static void a_journal_in_one_piece_is_few_runs(void **state _unused_)
{
	check_volume(true, 0, 1, 3);
	/* Indirect blocks lie between the blocks. */
	check_volume(false, 0, 1, 16);
}

static void a_journal_in_pieces_is_many_runs(void **state _unused_)
{
	check_volume(true, 64, JOURNAL_BLOCKS / 64, BLOCKS);
	check_volume(false, 64, JOURNAL_BLOCKS / 64, BLOCKS);
	check_volume(true, 2, JOURNAL_BLOCKS, JOURNAL_BLOCKS);
	check_volume(false, 2, JOURNAL_BLOCKS, JOURNAL_BLOCKS);
}

static void an_inode_without_blocks_has_no_runs(void **state _unused_)
{
	struct volume v = make_volume(true, 0);
	_cleanup_(inode_runs_deinit) struct inode_runs r = { 0 };

	assert_int_equal(inode_runs_read(&r, v.fs, EXT2_BOOT_LOADER_INO, NULL), 0);
	assert_int_equal(r.data.count + r.tree.count, 0);
	assert_int_equal(run_list_blocks(&r.data), 0);
	assert_false(run_list_contains(&r.data, 0));
	free_volume(&v);
}

static int visit_logical_100(ext2_filsys fs _unused_, blk64_t *block, e2_blkcnt_t logical,
	blk64_t parent _unused_, int offset _unused_, void *data)
{
	if (logical != 100)
		return 0;
	*block = *(blk64_t *)data;
	return BLOCK_CHANGED | BLOCK_ABORT;
}

/* Block 100 of the journal points elsewhere. */
static void check_pointer(blk64_t target)
{
	struct volume v = make_volume(false, 0);
	_cleanup_(err_clear) struct err e = { 0 };
	struct inode_runs r = { 0 };

	assert_int_equal(ext2fs_block_iterate3(v.fs, EXT2_JOURNAL_INO, 0, NULL,
				 visit_logical_100, &target), 0);
	assert_int_equal(inode_runs_read(&r, v.fs, EXT2_JOURNAL_INO, &e), -EUCLEAN);
	assert_non_null(strstr(err_message(&e), "block 100"));
	assert_null(r.data.runs);
	assert_null(r.tree.runs);
	free_volume(&v);
}

static void pointers_out_of_the_volume_are_errors(void **state _unused_)
{
	check_pointer(BLOCKS);
	check_pointer(0xfffffff0);
}

static void a_hole_is_an_error(void **state _unused_)
{
	check_pointer(0);
}

static void check_extent(uint64_t first, uint32_t length, uint64_t logical)
{
	struct volume v = make_volume(true, 0);
	_cleanup_(err_clear) struct err e = { 0 };
	struct inode_runs r = { 0 };
	struct ext2_inode inode;
	struct ext3_extent *x;

	assert_int_equal(ext2fs_read_inode(v.fs, EXT2_JOURNAL_INO, &inode), 0);
	x = (struct ext3_extent *)((char *)inode.i_block + sizeof(struct ext3_extent_header));
	x->ee_start = (uint32_t)first;
	x->ee_start_hi = (uint16_t)(first >> 32);
	x->ee_len = (uint16_t)length;
	x->ee_block = (uint32_t)logical;
	assert_int_equal(ext2fs_write_inode(v.fs, EXT2_JOURNAL_INO, &inode), 0);
	assert_true(inode_runs_read(&r, v.fs, EXT2_JOURNAL_INO, &e) < 0);
	assert_non_null(strstr(err_message(&e), "block"));
	assert_null(r.data.runs);
	free_volume(&v);
}

static void extents_out_of_the_volume_are_errors(void **state _unused_)
{
	check_extent(BLOCKS, 1, 0);
	check_extent(BLOCKS - 1, 2, 0);
	check_extent(UINT64_C(0xffffffffffff), 1, 0);
	check_extent(0, 2, 0);
	check_extent(5000, 1, 5);
}

/* An extent tree of which an inner node is its own child. */
static void a_tree_that_runs_in_circles_has_an_end(void **state _unused_)
{
	struct volume v = make_volume(true, 2);
	_cleanup_(err_clear) struct err e = { 0 };
	struct inode_runs r = { 0 };
	struct ext2_inode inode;
	struct ext3_extent_header *h;
	uint8_t block[1024] = { 0 };
	blk64_t child;

	assert_int_equal(ext2fs_read_inode(v.fs, EXT2_JOURNAL_INO, &inode), 0);
	h = (struct ext3_extent_header *)inode.i_block;
	assert_true(h->eh_depth >= 1);
	child = ((struct ext3_extent_idx *)(h + 1))->ei_leaf;
	memcpy(block, inode.i_block, sizeof(inode.i_block));
	assert_int_equal(io_channel_write_blk64(v.fs->io, child, 1, block), 0);
	assert_true(inode_runs_read(&r, v.fs, EXT2_JOURNAL_INO, &e) < 0);
	assert_null(r.data.runs);
	free_volume(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_journal_in_one_piece_is_few_runs),
		cmocka_unit_test(a_journal_in_pieces_is_many_runs),
		cmocka_unit_test(an_inode_without_blocks_has_no_runs),
		cmocka_unit_test(pointers_out_of_the_volume_are_errors),
		cmocka_unit_test(a_hole_is_an_error),
		cmocka_unit_test(extents_out_of_the_volume_are_errors),
		cmocka_unit_test(a_tree_that_runs_in_circles_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
