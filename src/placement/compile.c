/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The order of the writes.
 *
 * A journal's place is stated by the superblock of the volume (and, when one inline
 * journal replaces another, by inode 8).  The statement fits into one 512-byte sector, so
 * one write changes it: the switch.  But the bitmaps, group descriptors and the inode
 * table must change with it.  They are therefore logged as one jbd2 transaction in the
 * NEW journal, before the switch, and the switch also sets needs_recovery.  Whoever reads
 * the disk before the switch sees the old journal, to which nothing has happened; whoever
 * reads it after the switch (the kernel at mount, e2fsck, recover) replays the
 * transaction.
 *
 *	step			inline->external  ->inline	  inline->inline
 *	new journal + log	on the device	  in free space	  in free space
 *	"not clean"		-		  superblock	  -
 *	inode 8			-		  in place	  -
 *	SWITCH			superblock	  superblock	  inode 8
 *	checkpoint		all logged blocks, in place
 *	log is empty		journal superblock
 *	clean, copies		superblock and its backups
 *	release			-		  old device	  -
 *
 * On the way to inline the kernel must find inode 8 before it can replay, so inode 8 is
 * written in front of the switch, while it is not in use.  Until the switch e2fsck would
 * report it; the volume is marked "not clean" during that time, so that e2fsck -p looks
 * and clears it, which is the rollback.  The kernel does not look at inode 8 unless the
 * superblock names it.
 *
 * From inline to none there is no new journal to log into.  The switch marks the volume
 * "not clean" and the blocks are freed in place: e2fsck -p mends every state, but a mount
 * without it in these milliseconds may find a bitmap that does not fit its descriptor.
 */

#include "placement/compile.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "placement/compile_parts.h"
#include "volume/jsb.h"

/* --- to an inline journal --- */

static int inline_jsb(struct compile *c, struct err *e)
{
	uint64_t block = run_list_map(&c->edit.added.data, 0);

	c->jsb_offset = block * c->in->info->block_bytes;
	for (size_t i = 0; i < c->edit.fresh_count; i++)
		if (c->edit.fresh[i].block == block)
			return jsb_decode(&c->jsb, c->edit.fresh[i].after)
				? err_say(e, EUCLEAN, "new journal of %s is damaged",
					  claim_path(c->in->volume))
				: 0;
	return err_say(e, EUCLEAN, "new journal of %s has no superblock",
		claim_path(c->in->volume));
}

/* New journal and log go to free space, and one harmless change to the superblock. */
static int write_new_inline(struct compile *c, struct err *e)
{
	struct superblock next = c->last;
	int r = compile_step(c, ON_VOLUME,
		c->in->info->place == JOURNAL_INLINE
			? "write the new journal into free space, allow recovery"
			: "write the new journal into free space, mark the volume not clean",
		e);

	if (!r)
		r = compile_images(c, c->edit.fresh, c->edit.fresh_count, e);
	if (!r)
		r = compile_log(c, e);
	if (r)
		return r;
	if (c->in->info->place == JOURNAL_INLINE)
		superblock_set_needs_recovery(&next, true);
	else
		superblock_set_valid(&next, false);
	return compile_superblock(c, &next, e);
}

static int write_inode(struct compile *c, struct err *e)
{
	return step_list_write(c->steps, c->edit.inode.offset, c->edit.inode.after,
		c->edit.inode.before, c->edit.inode.length, e);
}

static int to_inline(struct compile *c, struct err *e)
{
	int r = inline_jsb(c, e);

	if (r)
		return r;
	c->journal = (struct superblock_journal){ .present = true, .inode = 8 };
	memcpy(c->journal.inode_backup, c->edit.inode_backup,
		sizeof(c->journal.inode_backup));
	r = write_new_inline(c, e);
	if (!r)
		r = compile_step(c, ON_VOLUME,
			c->in->info->place == JOURNAL_INLINE
				? "SWITCH: inode 8 names the new journal"
				: "write inode 8, which is not in use yet",
			e);
	if (!r && c->in->info->place == JOURNAL_INLINE)
		step_list_mark_switch(c->steps);
	if (!r)
		r = write_inode(c, e);
	if (!r && c->in->info->place != JOURNAL_INLINE)
		r = compile_switch(c, "SWITCH: the superblock names inode 8", e);
	return r ? r : compile_settle(c, ON_VOLUME, e);
}

static int to_none(struct compile *c, struct err *e)
{
	int r = compile_switch(c, "SWITCH: the superblock names no journal", e);

	return r ? r : compile_settle(c, ON_VOLUME, e);
}

/* --- all together --- */

static enum edit_position edit_position_of(enum placement_position position)
{
	static const enum edit_position of[] = { [AT_ANYWHERE] = EDIT_ANYWHERE,
		[AT_START] = EDIT_START, [AT_MIDDLE] = EDIT_MIDDLE, [AT_END] = EDIT_END,
		[AT_BLOCK] = EDIT_BLOCK };

	return of[position];
}

static int compute_edit(struct compile *c, struct err *e)
{
	struct volume_edit_request q = {
		.fd = claim_fd(c->in->volume),
		.name = claim_path(c->in->volume),
		.info = c->in->info,
		.drop = c->in->info->place == JOURNAL_INLINE,
		.add = c->in->to->place == JOURNAL_INLINE,
		.add_bytes = c->in->to->size_bytes,
		.position = edit_position_of(c->in->to->position),
		.block = c->in->to->block,
		.sequence = c->sequence,
	};

	return volume_edit_compute(&c->edit, &q, e);
}

static int prepare(struct compile *c, struct err *e)
{
	uint32_t random;
	int r = superblock_read(&c->last, claim_fd(c->in->volume), SUPERBLOCK_OFFSET_BYTES,
		claim_path(c->in->volume), e);

	if (r)
		return r;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return err_set(e, errno, "get random numbers");
	/* Half of the number space, so that it never wraps during the life of a log. */
	c->sequence = (random & 0x7ffffffe) + 1;
	c->now = (uint32_t)time(NULL);
	return compute_edit(c, e);
}

static void compile_deinit(struct compile *c)
{
	volume_edit_deinit(&c->edit);
	transaction_deinit(&c->log);
}

static int build(struct compile *c, struct err *e)
{
	bool same = c->in->new_journal && c->in->new_journal == c->in->old_journal;
	int r;

	if (same)
		return compile_resize(c, e);
	r = prepare(c, e);
	if (r)
		return r;
	if (c->in->to->place == JOURNAL_EXTERNAL)
		r = compile_to_external(c, e);
	else if (c->in->to->place == JOURNAL_INLINE)
		r = to_inline(c, e);
	else
		r = to_none(c, e);
	if (!r && c->in->old_journal)
		r = compile_release(c, e);
	return r;
}

int compile_move(struct compile_output *out, const struct compile_input *in,
	struct err *e)
{
	_cleanup_(compile_output_deinit) struct compile_output result = { 0 };
	_cleanup_(compile_deinit) struct compile c = { .in = in, .steps = &result.steps };
	int r = build(&c, e);

	if (r)
		return r;
	result.journal_bytes = (uint64_t)c.jsb.max_blocks * in->info->block_bytes;
	memcpy(result.journal_uuid, c.jsb.uuid, sizeof(result.journal_uuid));
	*out = result;
	result = (struct compile_output){ 0 };
	return 0;
}

void compile_output_deinit(struct compile_output *out)
{
	step_list_deinit(&out->steps);
}
