/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Computing a change; see edit.h.
 *
 * When one inline journal replaces another, the new one is allocated while the blocks of
 * the old one are still taken: it must not be written over a journal that may be needed.
 *
 * Every changed block must be of a kind that we expect.  Anything else means that
 * libext2fs did what we do not understand, and the change is not made.
 */

#include "volume/edit.h"

#include <errno.h>
#include <string.h>

#include "core/fileio.h"
#include "volume/ext2err.h"
#include "volume/journal_inode.h"
#include "volume/jsb.h"
#include "volume/overlay.h"
#include "volume/superblock.h"

/* jbd2 refuses less than 1024 usable blocks; e2fsprogs refuses more than this. */
#define JOURNAL_BLOCKS_MIN 1024
#define JOURNAL_BLOCKS_MAX 10240000

struct edit {
	const struct volume_edit_request *q;
	struct overlay *overlay;
	ext2_filsys fs;
	struct volume_edit *out;
};

/* As many blocks as jbd2 wants must be left without those for fast commits. */
static uint32_t journal_blocks_min(const struct volume_info *info)
{
	uint32_t least = JOURNAL_BLOCKS_MIN;

	if (volume_has_feature(info, "fast_commit"))
		while (least - least / EXT2_JOURNAL_TO_FC_BLKS_RATIO < JOURNAL_BLOCKS_MIN)
			least++;
	return least;
}

int volume_edit_journal_blocks(const struct volume_info *info, uint64_t bytes,
	uint32_t *blocks, struct err *e)
{
	uint32_t least = journal_blocks_min(info);
	uint64_t n = bytes / info->block_bytes;

	if (!bytes) {
		int standard = ext2fs_default_journal_size(info->block_count);

		if (standard < 0)
			return err_say(e, ERANGE,
				"a volume of %llu blocks is too small for a journal",
				(unsigned long long)info->block_count);
		n = MAX((uint64_t)standard, (uint64_t)least);
	}
	if (n < least || n > JOURNAL_BLOCKS_MAX)
		return err_say(e, ERANGE,
			"a journal of %llu blocks of %u bytes is not possible: it must "
			"have %u to %u",
			(unsigned long long)n, info->block_bytes, least,
			JOURNAL_BLOCKS_MAX);
	*blocks = (uint32_t)n;
	return 0;
}

static int open_volume(struct edit *d, struct err *e)
{
	errcode_t code;
	int r = overlay_new(&d->overlay, d->q->fd, d->q->name, e);

	if (r)
		return r;
	code = ext2fs_open2(overlay_io_name(d->overlay), NULL,
		EXT2_FLAG_RW | EXT2_FLAG_64BITS | EXT2_FLAG_SKIP_MMP, 0, 0,
		overlay_manager(), &d->fs);
	if (code)
		return ext2err_set(e, code, "open %s", d->q->name);
	/* Backups are written by the move, at its end. */
	d->fs->flags |= EXT2_FLAG_MASTER_SB_ONLY;
	/* Runs instead of a bit for each block, which would be 512 MiB for 16 TiB. */
	d->fs->default_bitmap_type = EXT2FS_BMAP64_RBTREE;
	code = ext2fs_read_block_bitmap(d->fs);
	if (code)
		return ext2err_set(e, code, "read block bitmaps of %s", d->q->name);
	return 0;
}

/* Whole clusters: with bigalloc a run need not fill its first and last one, and runs of
 * data and tree may share none.  Without bigalloc a cluster is a block. */
static int by_first(const void *a, const void *b)
{
	const struct block_run *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static size_t to_clusters(ext2_filsys fs, const struct inode_runs *r,
	struct block_run *clusters)
{
	const struct run_list *lists[] = { &r->data, &r->tree };
	size_t n = 0, merged = 0;

	for (size_t k = 0; k < ARRAY_SIZE(lists); k++)
		for (size_t i = 0; i < lists[k]->count; i++) {
			const struct block_run *run = &lists[k]->runs[i];
			uint64_t first = EXT2FS_B2C(fs, run->first);
			uint64_t last = EXT2FS_B2C(fs, run->first + run->count - 1);

			clusters[n++] = (struct block_run){ first, last - first + 1 };
		}
	qsort(clusters, n, sizeof(*clusters), by_first);
	for (size_t i = 0; i < n; i++) {
		struct block_run *last = merged ? &clusters[merged - 1] : NULL;

		if (last && clusters[i].first <= last->first + last->count)
			last->count = MAX(last->first + last->count,
					      clusters[i].first + clusters[i].count) -
				last->first;
		else
			clusters[merged++] = clusters[i];
	}
	return merged;
}

static int count_clusters(struct edit *d, const struct inode_runs *r, bool free_them,
	int64_t *count, struct err *e)
{
	_cleanup_free_ struct block_run *clusters =
		calloc(r->data.count + r->tree.count + 1, sizeof(*clusters));
	size_t n;

	if (!clusters)
		return err_set(e, ENOMEM, "change %s", d->q->name);
	n = to_clusters(d->fs, r, clusters);
	*count = 0;
	for (size_t i = 0; i < n; i++) {
		*count += (int64_t)clusters[i].count;
		if (free_them)
			ext2fs_block_alloc_stats_range(d->fs,
				EXT2FS_C2B(d->fs, clusters[i].first),
				(blk_t)EXT2FS_C2B(d->fs, clusters[i].count), -1);
	}
	return 0;
}

static int clear_journal_inode(struct edit *d, struct err *e)
{
	_cleanup_free_ struct ext2_inode *zero =
		calloc(1, EXT2_INODE_SIZE(d->fs->super));
	errcode_t code;

	if (!zero)
		return err_set(e, ENOMEM, "change %s", d->q->name);
	code = ext2fs_write_inode_full(d->fs, EXT2_JOURNAL_INO, zero,
		EXT2_INODE_SIZE(d->fs->super));
	return code ? ext2err_set(e, code, "clear inode 8 of %s", d->q->name) : 0;
}

static int no_room(const struct edit *d, uint64_t wanted, uint64_t have, struct err *e)
{
	return err_say(e, ENOSPC,
		"%s has no room for a journal of %llu blocks: %llu blocks of %u bytes "
		"are free; free some space or ask for a smaller journal with size=",
		d->q->name, (unsigned long long)wanted, (unsigned long long)have,
		d->fs->blocksize);
}

/* The superblock of an inline journal as e2fsprogs makes it, but with our sequence. */
static int write_inline_jsb(struct edit *d, struct err *e)
{
	uint64_t block = run_list_map(&d->out->added.data, 0);
	_cleanup_free_ uint8_t *bytes = calloc(1, d->fs->blocksize);
	struct journal_state j;
	errcode_t code;

	if (!bytes)
		return err_set(e, ENOMEM, "change %s", d->q->name);
	code = io_channel_read_blk64(d->fs->io, block, 1, bytes);
	if (code || jsb_decode(&j, bytes))
		return err_say(e, EIO, "libext2fs made no journal superblock on %s",
			d->q->name);
	d->out->journal_blocks = j.max_blocks;
	d->out->fast_commit_blocks = j.fast_commit_blocks;
	j.sequence = d->q->sequence;
	j.start = j.first;
	if (d->out->wide)
		j.feature_incompat |= JSB_INCOMPAT_64BIT;
	memset(bytes, 0, d->fs->blocksize);
	jsb_encode(bytes, &j);
	code = io_channel_write_blk64(d->fs->io, block, 1, bytes);
	return code ? ext2err_set(e, code, "change %s", d->q->name) : 0;
}

static int add_inline(struct edit *d, struct err *e)
{
	struct ext2fs_journal_params params = { 0 };
	uint64_t have = ext2fs_free_blocks_count(d->fs->super);
	struct ext2_inode inode;
	errcode_t code;
	uint32_t blocks;
	int r = volume_edit_journal_blocks(d->q->info, d->q->add_bytes, &blocks, e);

	if (r)
		return r;
	params.num_journal_blocks = blocks;
	if (ext2fs_has_feature_fast_commit(d->fs->super)) {
		params.num_fc_blocks =
			blocks / EXT2_JOURNAL_TO_FC_BLKS_RATIO;
		params.num_journal_blocks -= params.num_fc_blocks;
	}
	r = blocks < have ? journal_inode_add(d->fs, &params, d->q, e) : -ENOSPC;
	if (r)
		return r == -ENOSPC ? no_room(d, blocks, have, e) : r;
	r = inode_runs_read(&d->out->added, d->fs, EXT2_JOURNAL_INO, e);
	if (r)
		return err_wrap(e, r, "the new journal of %s", d->q->name);
	code = ext2fs_read_inode(d->fs, EXT2_JOURNAL_INO, &inode);
	if (code)
		return ext2err_set(e, code, "read inode 8 of %s", d->q->name);
	memcpy(d->out->inode_backup, inode.i_block, sizeof(inode.i_block));
	d->out->inode_backup[15] = inode.i_size_high;
	d->out->inode_backup[16] = inode.i_size;
	return write_inline_jsb(d, e);
}

static int apply(struct edit *d, struct err *e)
{
	int64_t added = 0, dropped = 0;
	int r = 0;

	if (d->q->drop) {
		r = inode_runs_read(&d->out->dropped, d->fs, EXT2_JOURNAL_INO, e);
		if (r)
			err_wrap(e, r, "the journal of %s", d->q->name);
		else
			r = clear_journal_inode(d, e);
	}
	if (!r && d->q->add)
		r = add_inline(d, e);
	if (r)
		return r;
	r = count_clusters(d, &d->out->dropped, true, &dropped, e);
	if (!r)
		r = count_clusters(d, &d->out->added, false, &added, e);
	if (r)
		return r;
	d->out->overhead_change = added - dropped;
	d->out->free_blocks = ext2fs_free_blocks_count(d->fs->super);
	return 0;
}

static int flush(struct edit *d, struct err *e)
{
	errcode_t code = ext2fs_flush2(d->fs, EXT2_FLAG_FLUSH_NO_SYNC);

	return code ? ext2err_set(e, code, "change %s", d->q->name) : 0;
}

/* --- from the overlay to the write set --- */

static void locate_inode(struct edit *d)
{
	ext2_filsys fs = d->fs;
	uint64_t byte = (EXT2_JOURNAL_INO - 1) * (uint64_t)EXT2_INODE_SIZE(fs->super);

	d->out->inode.block = ext2fs_inode_table_loc(fs, 0) + byte / fs->blocksize;
	d->out->inode.offset =
		d->out->inode.block * fs->blocksize + byte % fs->blocksize;
	d->out->inode.length = EXT2_INODE_SIZE(fs->super);
}

static int take_inode(struct edit *d, struct err *e)
{
	struct volume_edit *out = d->out;
	int r;

	locate_inode(d);
	out->inode.before = malloc(out->inode.length);
	out->inode.after = malloc(out->inode.length);
	if (!out->inode.before || !out->inode.after)
		return err_set(e, ENOMEM, "change %s", d->q->name);
	r = fileio_pread_full(d->q->fd, out->inode.before, out->inode.length,
		(off_t)out->inode.offset, d->q->name, e);
	if (r)
		return r;
	return overlay_read(d->overlay, out->inode.offset, out->inode.after,
		out->inode.length, e);
}

static bool is_descriptor_block(ext2_filsys fs, uint64_t block)
{
	uint64_t super = fs->super->s_first_data_block;
	uint32_t per = (uint32_t)EXT2_DESC_PER_BLOCK(fs->super);

	for (dgrp_t i = 0; i < fs->desc_blocks; i++)
		if (ext2fs_descriptor_block_loc2(fs, super, i) == block)
			return true;
	if (!ext2fs_has_feature_meta_bg(fs->super))
		return false;
	/* With meta_bg libext2fs keeps the copies in the second and last group of each
	 * meta group up to date as well. */
	for (dgrp_t group = 0; group < fs->group_desc_count; group++) {
		blk64_t sb, old, new;

		if (group % per > 1 && group % per != per - 1)
			continue;
		if (!ext2fs_super_and_bgd_loc2(fs, group, &sb, &old, &new, NULL) &&
			new == block)
			return true;
	}
	return false;
}

static bool is_bitmap(ext2_filsys fs, uint64_t block)
{
	/* With flex_bg a bitmap need not lie in the group that it describes. */
	for (dgrp_t group = 0; group < fs->group_desc_count; group++)
		if (ext2fs_block_bitmap_loc(fs, group) == block)
			return true;
	return false;
}

static int append(struct block_image **list, size_t *count, struct block_image image)
{
	struct block_image *bigger = realloc(*list, (*count + 1) * sizeof(**list));

	if (!bigger)
		return -ENOMEM;
	bigger[(*count)++] = image;
	*list = bigger;
	return 0;
}

static int classify(struct edit *d, uint64_t block, uint8_t **before, uint8_t **after,
	struct err *e)
{
	struct volume_edit *out = d->out;
	struct block_image image = { block, *before, *after };
	bool in_data = run_list_contains(&out->added.data, block);
	int r;

	if (block == SUPERBLOCK_OFFSET_BYTES / d->fs->blocksize)
		return 0; /* the move makes its own images of the superblock */
	if (block == out->inode.block && d->q->add)
		return 0; /* written by itself */
	if (in_data && block != run_list_map(&out->added.data, 0))
		return 0; /* log blocks: what is in them does not matter */
	if (in_data || run_list_contains(&out->added.tree, block)) {
		image.before = NULL;
		r = append(&out->fresh, &out->fresh_count, image);
	} else if (block == out->inode.block || is_bitmap(d->fs, block) ||
		is_descriptor_block(d->fs, block)) {
		r = append(&out->metadata, &out->metadata_count, image);
	} else {
		return err_say(e, EUCLEAN,
			"the change of %s touches block %llu, which is no block of a "
			"journal's metadata; nothing was written",
			d->q->name, (unsigned long long)block);
	}
	if (r)
		return err_set(e, -r, "change %s", d->q->name);
	if (image.before)
		*before = NULL;
	*after = NULL;
	return 0;
}

static int take_block(struct edit *d, uint64_t block, struct err *e)
{
	uint32_t n = d->fs->blocksize;
	_cleanup_free_ uint8_t *before = malloc(n);
	_cleanup_free_ uint8_t *after = malloc(n);
	int r;

	if (!before || !after)
		return err_set(e, ENOMEM, "change %s", d->q->name);
	r = fileio_pread_full(d->q->fd, before, n, (off_t)(block * n), d->q->name, e);
	if (!r)
		r = overlay_read(d->overlay, block * n, after, n, e);
	if (r)
		return r;
	if (!memcmp(before, after, n) && !run_list_contains(&d->out->added.tree, block))
		return 0;
	return classify(d, block, &before, &after, e);
}

/* A page may hold several blocks, and a block may span several pages. */
static int take_page(struct edit *d, uint64_t page, uint64_t *next_block, struct err *e)
{
	uint64_t bytes = page * OVERLAY_PAGE_BYTES;
	uint64_t block = MAX(bytes / d->fs->blocksize, *next_block);
	int r = 0;

	for (; !r && block * d->fs->blocksize < bytes + OVERLAY_PAGE_BYTES; block++) {
		*next_block = block + 1;
		if (overlay_page_is_zero(d->overlay, page) &&
			run_list_contains(&d->out->added.data, block))
			continue; /* zeroed log block */
		r = take_block(d, block, e);
	}
	return r;
}

static int take_changes(struct edit *d, struct err *e)
{
	_cleanup_free_ uint64_t *pages = NULL;
	uint64_t next_block = 0;
	size_t count;
	int r = overlay_pages(d->overlay, &pages, &count, e);

	for (size_t i = 0; !r && i < count; i++)
		r = take_page(d, pages[i], &next_block, e);
	return r;
}

static int find_backups(struct edit *d, struct err *e)
{
	ext2_filsys fs = d->fs;
	struct volume_edit *out = d->out;

	out->backup_offsets = calloc(fs->group_desc_count, sizeof(uint64_t));
	if (!out->backup_offsets)
		return err_set(e, ENOMEM, "change %s", d->q->name);
	for (dgrp_t group = 1; group < fs->group_desc_count; group++)
		if (ext2fs_bg_has_super(fs, group))
			out->backup_offsets[out->backup_count++] =
				ext2fs_group_first_block2(fs, group) * fs->blocksize;
	return 0;
}

static void edit_close(struct edit *d)
{
	if (d->fs)
		ext2fs_free(d->fs);
	overlay_free(d->overlay);
}

int volume_edit_compute(struct volume_edit *out, const struct volume_edit_request *q,
	struct err *e)
{
	_cleanup_(volume_edit_deinit) struct volume_edit result = { 0 };
	_cleanup_(edit_close) struct edit d = { .q = q, .out = &result };
	int r = open_volume(&d, e);

	if (r)
		return r;
	result.block_bytes = d.fs->blocksize;
	result.wide = ext2fs_blocks_count(d.fs->super) > UINT32_MAX;
	r = apply(&d, e);
	if (!r)
		r = flush(&d, e);
	if (!r)
		r = take_inode(&d, e);
	if (!r)
		r = take_changes(&d, e);
	if (!r)
		r = find_backups(&d, e);
	if (r)
		return r;
	*out = result;
	result = (struct volume_edit){ 0 };
	return 0;
}

static void images_free(struct block_image *images, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(images[i].before);
		free(images[i].after);
	}
	free(images);
}

void volume_edit_deinit(struct volume_edit *d)
{
	images_free(d->fresh, d->fresh_count);
	images_free(d->metadata, d->metadata_count);
	free(d->inode.before);
	free(d->inode.after);
	free(d->backup_offsets);
	inode_runs_deinit(&d->added);
	inode_runs_deinit(&d->dropped);
	*d = (struct volume_edit){ 0 };
}
