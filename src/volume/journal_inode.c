/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Placing a journal; see journal_inode.h.
 *
 * libext2fs heeds a goal only for inodes with extents; the blocks of all others are taken
 * from the first free one on.  For these, what lies in front of the goal is marked as
 * taken while the journal is made, in the bitmap in memory only.
 */

#include "volume/journal_inode.h"

#include "volume/ext2err.h"
#include "volume/inode_runs.h"

/* The last block from which on as many as that are free. */
static uint64_t last_goal(ext2_filsys fs, uint64_t wanted)
{
	uint64_t first = 0, block, found = 0;
	dgrp_t group = fs->group_desc_count;

	while (group-- > 0 && found < wanted) {
		found += EXT2FS_C2B(fs, (uint64_t)ext2fs_bg_free_blocks_count(fs, group));
		first = ext2fs_group_first_block2(fs, group);
	}
	for (block = first; found > wanted && block < ext2fs_blocks_count(fs->super);
		block++)
		if (!ext2fs_test_block_bitmap2(fs->block_map, block))
			found--;
	return block;
}

static uint64_t goal_of(ext2_filsys fs, const struct volume_edit_request *q, uint64_t last)
{
	switch (q->position) {
	case EDIT_START:
		return fs->super->s_first_data_block;
	case EDIT_MIDDLE:
		return MIN(ext2fs_blocks_count(fs->super) / 2, last);
	case EDIT_END:
		return last;
	case EDIT_BLOCK:
		return MIN(q->block, last);
	case EDIT_ANYWHERE:
		break;
	}
	return ~UINT64_C(0); /* libext2fs chooses */
}

static int add(ext2_filsys fs, struct ext2fs_journal_params *params, uint64_t goal,
	const struct volume_edit_request *q, struct err *e)
{
	errcode_t code = ext2fs_add_journal_inode3(fs, params, goal,
		EXT2_MKJOURNAL_LAZYINIT | EXT2_MKJOURNAL_NO_MNT_CHECK);

	if (code == EEXIST)
		return err_refuse(e,
			"%s has no journal, but the inode of one is in use; run \"e2fsck -f "
			"%s\", and look at what it finds",
			q->name, q->name);
	if (code)
		return ext2err_set(e, code, "put a journal of %u blocks on %s",
			params->num_journal_blocks + params->num_fc_blocks, q->name);
	return 0;
}

static void mark(ext2fs_block_bitmap map, const struct run_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		ext2fs_mark_block_bitmap_range2(map, l->runs[i].first,
			(unsigned int)l->runs[i].count);
}

/* In pieces, because the library counts in 32 bits. */
static void mark_in_front(ext2_filsys fs, uint64_t goal)
{
	const uint64_t most = UINT64_C(1) << 30;

	for (uint64_t at = fs->super->s_first_data_block; at < goal; at += most)
		ext2fs_mark_block_bitmap_range2(fs->block_map, at,
			(unsigned int)MIN(goal - at, most));
}

static int add_behind(ext2_filsys fs, struct ext2fs_journal_params *params, uint64_t goal,
	const struct volume_edit_request *q, struct err *e)
{
	_cleanup_(inode_runs_deinit) struct inode_runs runs = { 0 };
	ext2fs_block_bitmap whole;
	errcode_t code = ext2fs_copy_bitmap(fs->block_map, &whole);
	int r;

	if (code)
		return ext2err_set(e, code, "copy the block bitmap of %s", q->name);
	mark_in_front(fs, goal);
	r = add(fs, params, goal, q, e);
	if (!r)
		r = inode_runs_read(&runs, fs, EXT2_JOURNAL_INO, e);
	mark(whole, &runs.data);
	mark(whole, &runs.tree);
	ext2fs_free_block_bitmap(fs->block_map);
	fs->block_map = whole;
	return r;
}

int journal_inode_add(ext2_filsys fs, struct ext2fs_journal_params *params,
	const struct volume_edit_request *q, struct err *e)
{
	uint64_t blocks = (uint64_t)params->num_journal_blocks + params->num_fc_blocks;
	/* Its tree needs room as well: a block for so many at the least, and the roots. */
	uint64_t tree = blocks / (fs->blocksize / 4) + 8;
	uint64_t goal = goal_of(fs, q, last_goal(fs, blocks + tree));

	if (q->position == EDIT_ANYWHERE || q->position == EDIT_START ||
		ext2fs_has_feature_extents(fs->super))
		return add(fs, params, goal, q, e);
	return add_behind(fs, params, goal, q, e);
}
