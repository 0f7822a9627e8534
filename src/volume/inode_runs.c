/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Blocks of an inode; see inode_runs.h.
 *
 * The extent tree or the indirect blocks come from a disk that may be damaged or made to
 * harm.  Three bounds keep the walk finite and what it hands out sound: the inode may not
 * claim more blocks than the volume has; each step must go on at the next logical block,
 * so that a tree which runs in circles stops at once; and every block must lie within the
 * volume.  Steps that yield no block of the file are counted as well.
 */

#include "volume/inode_runs.h"

#include <errno.h>
#include <string.h>

#include "volume/ext2err.h"

struct walk {
	struct inode_runs *out;
	ext2_filsys fs;
	uint64_t next_logical, expected; /* blocks by the size of the inode */
	uint64_t steps, step_limit;
	struct err *e;
	int r; /* of a callback that has ended the walk */
};

static int run_add(struct run_list *l, uint64_t first, uint64_t count)
{
	struct block_run *last = l->count ? &l->runs[l->count - 1] : NULL;

	if (last && last->first + last->count == first) {
		last->count += count;
		return 0;
	}
	if (!l->runs || l->count == l->room) {
		size_t room = l->room ? l->room * 2 : 16;
		struct block_run *runs = realloc(l->runs, room * sizeof(*runs));

		if (!runs)
			return -ENOMEM;
		l->runs = runs;
		l->room = room;
	}
	l->runs[l->count++] = (struct block_run){ first, count };
	return 0;
}

static int damaged(struct walk *w, const char *what, uint64_t block)
{
	return err_say(w->e, EUCLEAN, "%s at block %llu", what, (unsigned long long)block);
}

static bool inside(ext2_filsys fs, uint64_t first, uint64_t count)
{
	uint64_t end = ext2fs_blocks_count(fs->super);

	return first && count && first >= fs->super->s_first_data_block && first < end &&
		count <= end - first;
}

static int take_data(struct walk *w, uint64_t logical, uint64_t first, uint64_t count)
{
	int r;

	if (logical != w->next_logical)
		return damaged(w, "its blocks are not in order or have a hole",
			w->next_logical);
	if (!inside(w->fs, first, count))
		return damaged(w, "it lies outside of the volume", logical);
	if (count > w->expected - w->next_logical)
		return damaged(w, "it is longer than its size says", logical);
	w->next_logical += count;
	r = run_add(&w->out->data, first, count);
	return r ? err_set(w->e, -r, "list its blocks") : 0;
}

static int take_tree(struct walk *w, uint64_t block)
{
	int r;

	if (!inside(w->fs, block, 1))
		return damaged(w, "a block of its tree lies outside of the volume", block);
	r = run_add(&w->out->tree, block, 1);
	return r ? err_set(w->e, -r, "list its blocks") : 0;
}

/* Another step; -EUCLEAN when there were more than any sound tree has. */
static int count_step(struct walk *w)
{
	return ++w->steps > w->step_limit
		? err_say(w->e, EUCLEAN, "the tree of its blocks does not end")
		: 0;
}

static int take_extent(struct walk *w, const struct ext2fs_extent *x)
{
	int r = count_step(w);

	if (r || (!(x->e_flags & EXT2_EXTENT_FLAGS_LEAF) &&
			 x->e_flags & EXT2_EXTENT_FLAGS_SECOND_VISIT))
		return r;
	if (x->e_flags & EXT2_EXTENT_FLAGS_LEAF)
		return take_data(w, x->e_lblk, x->e_pblk, x->e_len);
	return take_tree(w, x->e_pblk);
}

static int walk_extents(struct walk *w, ext2_ino_t inode)
{
	ext2_extent_handle_t handle;
	struct ext2fs_extent x;
	errcode_t code = ext2fs_extent_open2(w->fs, inode, NULL, &handle);
	int op = EXT2_EXTENT_ROOT, r = 0;

	if (code)
		return ext2err_set(w->e, code, "its extents cannot be read");
	while (!r && !(code = ext2fs_extent_get(handle, op, &x))) {
		op = EXT2_EXTENT_NEXT;
		r = take_extent(w, &x);
	}
	ext2fs_extent_free(handle);
	if (r || code == EXT2_ET_EXTENT_NO_NEXT || code == EXT2_ET_NO_CURRENT_NODE ||
		code == EXT2_ET_EXTENT_NOT_FOUND)
		return r;
	return ext2err_set(w->e, code, "its extents cannot be read");
}

static int take_block(ext2_filsys fs _unused_, blk64_t *block, e2_blkcnt_t logical,
	blk64_t parent _unused_, int offset _unused_, void *data)
{
	struct walk *w = data;

	w->r = count_step(w);
	if (!w->r)
		w->r = logical < 0 ? take_tree(w, *block)
				   : take_data(w, (uint64_t)logical, *block, 1);
	return w->r ? BLOCK_ABORT : 0;
}

static int walk_blocks(struct walk *w, ext2_ino_t inode)
{
	errcode_t code = ext2fs_block_iterate3(w->fs, inode, BLOCK_FLAG_READ_ONLY, NULL,
		take_block, w);

	if (w->r || !code)
		return w->r;
	return ext2err_set(w->e, code, "its blocks cannot be read");
}

static int walk(struct walk *w, ext2_ino_t number)
{
	struct ext2_inode inode;
	errcode_t code;
	int r;

	if (number > w->fs->super->s_inodes_count)
		return err_say(w->e, EUCLEAN, "its inode %u does not exist", number);
	code = ext2fs_read_inode(w->fs, number, &inode);
	if (code)
		return ext2err_set(w->e, code, "its inode %u cannot be read", number);
	if (!inode.i_blocks && !inode.i_size)
		return 0;
	if (!LINUX_S_ISREG(inode.i_mode) || inode.i_flags & EXT4_INLINE_DATA_FL)
		return err_say(w->e, EUCLEAN, "its inode %u is not a file with blocks", number);
	w->expected = EXT2_I_SIZE(&inode) / w->fs->blocksize;
	if (!w->expected || w->expected > ext2fs_blocks_count(w->fs->super))
		return err_say(w->e, EUCLEAN, "its inode %u has an impossible size of %llu bytes",
			number, (unsigned long long)EXT2_I_SIZE(&inode));
	/* Each block at most once, and the blocks that map them. */
	w->step_limit = w->expected * 2 + 64;
	r = inode.i_flags & EXT4_EXTENTS_FL ? walk_extents(w, number)
					    : walk_blocks(w, number);
	if (!r && w->next_logical != w->expected)
		r = err_say(w->e, EUCLEAN, "it has %llu blocks, but its size says %llu",
			(unsigned long long)w->next_logical, (unsigned long long)w->expected);
	return r;
}

static int by_first(const void *a, const void *b)
{
	const struct block_run *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* A journal in a full volume may have as many runs as blocks, and each is looked up. */
static int sort(struct run_list *l, struct err *e)
{
	l->sorted = calloc(l->count + 1, sizeof(*l->sorted));
	if (!l->sorted)
		return err_set(e, ENOMEM, "it cannot be read");
	if (l->count)
		memcpy(l->sorted, l->runs, l->count * sizeof(*l->sorted));
	qsort(l->sorted, l->count, sizeof(*l->sorted), by_first);
	return 0;
}

int inode_runs_read(struct inode_runs *out, ext2_filsys fs, ext2_ino_t inode,
	struct err *e)
{
	_cleanup_(inode_runs_deinit) struct inode_runs runs = { 0 };
	struct walk w = { .out = &runs, .fs = fs, .e = e };
	int r = walk(&w, inode);

	if (!r)
		r = sort(&runs.data, e);
	if (!r)
		r = sort(&runs.tree, e);
	if (r)
		return r;
	*out = runs;
	runs = (struct inode_runs){ 0 };
	return 0;
}

void inode_runs_deinit(struct inode_runs *r)
{
	free(r->data.runs);
	free(r->data.sorted);
	free(r->tree.runs);
	free(r->tree.sorted);
	*r = (struct inode_runs){ 0 };
}

bool run_list_contains(const struct run_list *l, uint64_t block)
{
	size_t low = 0, high = l->count; /* all before low begin at or before block */

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->sorted[middle].first <= block)
			low = middle + 1;
		else
			high = middle;
	}
	return low && block - l->sorted[low - 1].first < l->sorted[low - 1].count;
}

uint64_t run_list_blocks(const struct run_list *l)
{
	uint64_t n = 0;

	for (size_t i = 0; i < l->count; i++)
		n += l->runs[i].count;
	return n;
}

uint64_t run_list_map(const struct run_list *l, uint64_t logical)
{
	for (size_t i = 0; i < l->count; i++) {
		if (logical < l->runs[i].count)
			return l->runs[i].first + logical;
		logical -= l->runs[i].count;
	}
	return 0;
}
