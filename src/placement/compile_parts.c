/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Steps and writes that moves in all directions have in common: images of the superblock,
 * the transaction, the switch, and what follows it.  Why they come in this order stands
 * in compile.c.
 */

#include "placement/compile_parts.h"

#include <errno.h>

#include "core/fileio.h"
#include "volume/jsb.h"

static const char *volume_name(const struct compile *c)
{
	return claim_path(c->in->volume);
}

bool compile_logged(const struct compile *c)
{
	return c->edit.metadata_count && c->in->to->place != JOURNAL_NONE;
}

int compile_step(struct compile *c, enum step_device device, const char *what,
	struct err *e)
{
	return step_list_add(c->steps, device, what, e);
}

/* Adds a new image of the superblock whose changes lie in the first sector. */
int compile_superblock(struct compile *c, struct superblock *next, struct err *e)
{
	int r;

	superblock_set_write_time(next, c->now);
	r = superblock_seal_first(next, &c->last, e);
	if (r)
		return err_wrap(e, r, "%s", volume_name(c));
	r = step_list_write(c->steps, SUPERBLOCK_OFFSET_BYTES, next->bytes, c->last.bytes,
		sizeof(next->bytes), e);
	c->last = *next;
	return r;
}

int compile_images(struct compile *c, const struct block_image *images, size_t count,
	struct err *e)
{
	uint32_t n = c->in->info->block_bytes;
	int r = 0;

	for (size_t i = 0; !r && i < count; i++)
		r = step_list_write(c->steps, images[i].block * n, images[i].after,
			images[i].before, n, e);
	return r;
}

static uint64_t log_offset(const struct compile *c, uint32_t log_block)
{
	if (c->in->to->place == JOURNAL_INLINE)
		return run_list_map(&c->edit.added.data, log_block) *
			c->in->info->block_bytes;
	return (uint64_t)log_block * c->in->info->block_bytes;
}

/* One block of the log.  What it destroys on a device that carried something else is
 * kept, like the signatures. */
static int write_log_block(
	struct compile *c, uint64_t offset, const uint8_t *block, struct err *e)
{
	uint32_t n = c->in->info->block_bytes;
	_cleanup_free_ uint8_t *before = NULL;
	int r;

	if (!c->in->wipe || !c->in->wipe->count)
		return step_list_write(c->steps, offset, block, NULL, n, e);
	before = malloc(n);
	if (!before)
		return err_set(e, ENOMEM, "plan move");
	r = fileio_pread_full(claim_fd(c->in->new_journal), before, n, (off_t)offset,
		claim_path(c->in->new_journal), e);
	if (!r)
		r = step_list_write(c->steps, offset, block, before, n, e);
	if (!r)
		step_list_mark_loose(c->steps);
	return r;
}

int compile_log(struct compile *c, struct err *e)
{
	uint32_t n = c->in->info->block_bytes;
	struct transaction_options o = {
		.block_bytes = n,
		.wide = c->edit.wide,
		.sequence = c->sequence,
		.uuid = c->jsb.uuid,
		.commit_seconds = c->now,
	};
	int r;

	if (transaction_block_count(c->edit.metadata_count, n, c->edit.wide) >
		c->jsb.max_blocks - c->jsb.first - c->jsb.fast_commit_blocks)
		return err_say(e, ENOSPC,
			"a journal of %u blocks is too small to log its own move (%zu "
			"blocks of metadata change); ask for a larger one with size=",
			c->jsb.max_blocks, c->edit.metadata_count);
	r = transaction_build(&c->log, &o, c->edit.metadata, c->edit.metadata_count, e);
	for (size_t i = 0; !r && i < c->log.block_count; i++)
		r = write_log_block(c, log_offset(c, c->jsb.first + (uint32_t)i),
			c->log.blocks + i * n, e);
	return r;
}

/* The journal superblock once the log has been checkpointed. */
static int write_clean_jsb(struct compile *c, struct err *e)
{
	uint8_t before[JSB_BYTES], after[JSB_BYTES];
	struct journal_state clean = c->jsb;

	jsb_encode(before, &c->jsb);
	clean.start = 0;
	clean.sequence++;
	jsb_encode(after, &clean);
	return step_list_write(c->steps, c->jsb_offset, after, before, sizeof(after), e);
}

static int write_backups(struct compile *c, struct err *e)
{
	int r = 0;

	for (size_t i = 0; !r && i < c->edit.backup_count; i++) {
		uint64_t offset = c->edit.backup_offsets[i];
		struct superblock before, after;

		/* A backup that is damaged already is e2fsck's business: a new checksum would
		 * only hide it. */
		if (superblock_read(&before, claim_fd(c->in->volume), offset, "", NULL) ||
			!superblock_checksum_valid(&before))
			continue;
		after = before;
		superblock_set_journal(&after, &c->journal);
		superblock_seal_second(&after);
		r = step_list_write(c->steps, offset, after.bytes, before.bytes,
			sizeof(after.bytes), e);
	}
	return r;
}

static int write_overhead(struct compile *c, struct err *e)
{
	struct superblock next = c->last;
	uint32_t overhead = superblock_overhead(&next);
	int r;

	if (!overhead || !c->edit.overhead_change)
		return 0;
	superblock_set_overhead(&next,
		(uint32_t)((int64_t)overhead + c->edit.overhead_change));
	superblock_seal_second(&next);
	r = step_list_write(c->steps, SUPERBLOCK_OFFSET_BYTES, next.bytes, c->last.bytes,
		sizeof(next.bytes), e);
	c->last = next;
	return r;
}

static int checkpoint(struct compile *c, struct err *e)
{
	int r = compile_step(c, ON_VOLUME,
		"write bitmaps, descriptors and inode table in their places", e);

	return r ? r : compile_images(c, c->edit.metadata, c->edit.metadata_count, e);
}

int compile_switch(struct compile *c, const char *what, struct err *e)
{
	struct superblock next = c->last;
	int r = compile_step(c, ON_VOLUME, what, e);

	if (r)
		return r;
	step_list_mark_switch(c->steps);
	superblock_set_journal(&next, &c->journal);
	superblock_set_free_blocks(&next, c->edit.free_blocks);
	if (compile_logged(c))
		superblock_set_needs_recovery(&next, true);
	else if (c->edit.metadata_count)
		superblock_set_valid(&next, false);
	return compile_superblock(c, &next, e);
}

/* What follows the switch on the volume: checkpoint, empty log, clean superblock. */
int compile_settle(struct compile *c, enum step_device journal_on, struct err *e)
{
	struct superblock next;
	int r = 0;

	if (c->edit.metadata_count)
		r = checkpoint(c, e);
	if (!r && compile_logged(c)) {
		r = compile_step(c, journal_on, "mark the log as empty", e);
		if (!r)
			r = write_clean_jsb(c, e);
	}
	if (!r && (c->edit.metadata_count || c->edit.backup_count))
		r = compile_step(c, ON_VOLUME, "mark the volume as clean, update the backups", e);
	if (!r && c->edit.metadata_count) {
		next = c->last;
		superblock_set_needs_recovery(&next, false);
		superblock_set_valid(&next, true);
		superblock_set_free_blocks(&next, c->edit.free_blocks);
		superblock_set_journal(&next, &c->journal);
		r = compile_superblock(c, &next, e);
		if (!r)
			r = write_overhead(c, e);
	}
	return r ? r : write_backups(c, e);
}
