/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The steps that write journal devices: a new one, a changed size, and the release of the
 * old one.
 *
 * A new journal device is never referred to before the switch, so that no volume minds in
 * which order it is written.  But a cut must not leave what looks like a journal of which
 * nobody can tell whose it is, and which would be refused when the move is typed again: the
 * superblock that makes the device one comes last.  The journal is written anew: random
 * UUID (unless the device was named by it), so that a forgotten volume that still names the
 * old one cannot mount with it; random first sequence number, so that blocks of an older
 * log are never taken for ours and nothing need be zeroed.
 */

#include "placement/compile_parts.h"

#include <errno.h>
#include <string.h>
#include <uuid/uuid.h>

#include "core/fileio.h"
#include "volume/journal_device.h"
#include "volume/jsb.h"

#define EXTERNAL_BLOCKS_MAX 10240000 /* as e2fsprogs allows for a journal */

/* jbd2 mounts nothing with less than this many blocks for ordinary commits. */
#define LOG_BLOCKS_MIN 1024
#define FAST_COMMIT_SHARE 64 /* one block of so many, as e2fsprogs does */

static uint32_t fast_commit_blocks(const struct volume_info *info, uint32_t blocks)
{
	return volume_has_feature(info, "fast_commit") ?
		       blocks / FAST_COMMIT_SHARE : 0;
}

/* jbd2 wants LOG_BLOCKS_MIN from s_first to the end, and as many before the fast commits,
 * where it counts from the beginning of the device. */
uint32_t compile_external_blocks_min(const struct volume_info *info)
{
	uint32_t blocks = journal_device_jsb_block(info->block_bytes) + LOG_BLOCKS_MIN;

	while (blocks - fast_commit_blocks(info, blocks) < LOG_BLOCKS_MIN)
		blocks++;
	return blocks;
}

int compile_external_blocks(const struct volume_info *info,
	const struct device_identity *id, uint64_t size_bytes, uint32_t *blocks,
	struct err *e)
{
	uint32_t n = info->block_bytes, least = compile_external_blocks_min(info);
	uint64_t have = id->size_bytes / n, want = size_bytes / n;

	if (want > have)
		return err_refuse(e, "%s has %llu blocks of %u bytes, less than size= asks for",
			id->path, (unsigned long long)have, n);
	if (!size_bytes)
		want = MIN(have, (uint64_t)EXTERNAL_BLOCKS_MAX);
	if (want < least || want > EXTERNAL_BLOCKS_MAX)
		return err_refuse(e,
			"a journal of %llu blocks on %s is not possible: for blocks of %u bytes "
			"it must have %u to %u",
			(unsigned long long)want, id->path, n, least, EXTERNAL_BLOCKS_MAX);
	*blocks = (uint32_t)want;
	return 0;
}

static int external_blocks(const struct compile *c, uint32_t *blocks, struct err *e)
{
	return compile_external_blocks(c->in->info, claim_identity(c->in->new_journal),
		c->in->to->size_bytes, blocks, e);
}

/* Whoever names a journal device by its UUID will do so again, in the same command after an
 * interruption or in fstab: there it stays.  Otherwise a new one. */
static void choose_uuid(const struct placement *to, uint8_t uuid[static 16])
{
	if (strncmp(to->device, "UUID=", 5) || uuid_parse(to->device + 5, uuid))
		uuid_generate(uuid);
}

static int fill_jsb(struct compile *c, struct err *e)
{
	uint32_t n = c->in->info->block_bytes;
	struct journal_state *j = &c->jsb;
	uint32_t blocks = 0;
	int r = external_blocks(c, &blocks, e);

	if (r)
		return r;
	*j = (struct journal_state){
		.readable = true,
		.version = 2,
		.block_bytes = n,
		.max_blocks = blocks,
		.first = journal_device_jsb_block(n) + 1,
		.sequence = c->sequence,
		.user_count = 1,
	};
	j->start = compile_logged(c) ? j->first : 0;
	j->fast_commit_blocks = fast_commit_blocks(c->in->info, blocks);
	if (c->edit.wide)
		j->feature_incompat = JSB_INCOMPAT_64BIT;
	choose_uuid(c->in->to, j->uuid);
	superblock_uuid(&c->last, j->users[0]);
	c->jsb_offset = (uint64_t)journal_device_jsb_block(n) * n;
	return 0;
}

/* Will the new superblocks lie over this signature anyway? */
static bool written_over(const struct compile *c, const struct signature *s)
{
	return !s->length ||
		(s->offset >= SUPERBLOCK_OFFSET_BYTES &&
			s->offset + s->length <= SUPERBLOCK_OFFSET_BYTES + SUPERBLOCK_BYTES) ||
		(s->offset >= c->jsb_offset &&
			s->offset + s->length <= c->jsb_offset + JSB_BYTES);
}

static int wipe_one(struct compile *c, const struct signature *s, struct err *e)
{
	_cleanup_free_ uint8_t *zeros = calloc(1, s->length);
	_cleanup_free_ uint8_t *before = calloc(1, s->length);
	int r;

	if (!zeros || !before)
		return err_set(e, ENOMEM, "plan move");
	r = fileio_pread_full(claim_fd(c->in->new_journal), before, s->length,
		(off_t)s->offset, claim_path(c->in->new_journal), e);
	if (!r)
		r = step_list_write(c->steps, s->offset, zeros, before, s->length, e);
	if (!r)
		step_list_mark_loose(c->steps);
	return r;
}

/* Foreign magic numbers become zeros; the bytes stay in the intent log. */
static int wipe_signatures(struct compile *c, struct err *e)
{
	const struct signature_list *l = c->in->wipe;
	bool begun = false;
	int r = 0;

	for (size_t i = 0; l && !r && i < l->count; i++) {
		if (written_over(c, &l->items[i]))
			continue;
		if (!begun)
			r = compile_step(c, ON_NEW_JOURNAL,
				"overwrite the signatures that were named", e);
		begun = true;
		if (!r)
			r = wipe_one(c, &l->items[i], e);
	}
	return r;
}

/* A journal device keeps its name: people type it. */
static void read_label(const struct compile *c, char label[static 17])
{
	struct volume_info was = { 0 };

	label[0] = '\0';
	if (volume_info_read(&was, claim_fd(c->in->new_journal), "", NULL))
		return;
	if (was.kind == VOLUME_JOURNAL_DEVICE)
		memcpy(label, was.label, sizeof(was.label));
	volume_info_deinit(&was);
}

static int write_new_device(struct compile *c, struct err *e)
{
	char label[17];
	int fd = claim_fd(c->in->new_journal);
	const char *name = claim_path(c->in->new_journal);
	struct journal_device_options q = { .fd = fd, .name = name,
		.block_bytes = c->in->info->block_bytes, .block_count = c->jsb.max_blocks,
		.uuid = c->jsb.uuid, .label = label };
	uint8_t before[SUPERBLOCK_BYTES], jsb_before[JSB_BYTES], jsb_after[JSB_BYTES];
	struct superblock sb;
	int r;

	read_label(c, label);
	r = journal_device_superblock(&sb, &q, e);
	if (!r)
		r = fileio_pread_full(fd, before, sizeof(before), SUPERBLOCK_OFFSET_BYTES,
			name, e);
	if (!r)
		r = fileio_pread_full(fd, jsb_before, sizeof(jsb_before),
			(off_t)c->jsb_offset, name, e);
	if (!r)
		r = wipe_signatures(c, e);
	if (!r)
		r = compile_step(c, ON_NEW_JOURNAL,
			compile_logged(c) ? "write the new journal, with this move in its log"
				  : "write the new journal, empty",
			e);
	if (r)
		return r;
	jsb_encode(jsb_after, &c->jsb);
	r = step_list_write(c->steps, c->jsb_offset, jsb_after, jsb_before,
		sizeof(jsb_after), e);
	if (!r && compile_logged(c))
		r = compile_log(c, e);
	if (!r)
		r = compile_step(c, ON_NEW_JOURNAL, "name the device a journal", e);
	return r ? r
		 : step_list_write(c->steps, SUPERBLOCK_OFFSET_BYTES, sb.bytes, before,
			   sizeof(sb.bytes), e);
}

int compile_to_external(struct compile *c, struct err *e)
{
	int r = fill_jsb(c, e);

	if (r)
		return r;
	c->journal = (struct superblock_journal){
		.present = true,
		.device_number = journal_device_number(
			claim_identity(c->in->new_journal)->devno),
	};
	memcpy(c->journal.uuid, c->jsb.uuid, sizeof(c->journal.uuid));
	r = write_new_device(c, e);
	if (!r)
		r = compile_switch(c, "SWITCH: the superblock names the journal device", e);
	return r ? r : compile_settle(c, ON_NEW_JOURNAL, e);
}

/* --- the old device --- */

static int read_jsb(const struct compile *c, const struct claim *device, uint8_t *bytes,
	struct journal_state *j, struct err *e)
{
	uint32_t n = c->in->info->block_bytes;
	uint64_t offset = (uint64_t)journal_device_jsb_block(n) * n;
	int r = fileio_pread_full(claim_fd(device), bytes, JSB_BYTES, (off_t)offset,
		claim_path(device), e);

	if (!r && jsb_decode(j, bytes))
		r = err_say(e, EUCLEAN, "%s has no journal superblock", claim_path(device));
	return r;
}

int compile_release(struct compile *c, struct err *e)
{
	uint32_t n = c->in->info->block_bytes;
	uint8_t before[JSB_BYTES], after[JSB_BYTES];
	struct journal_state j;
	int r = read_jsb(c, c->in->old_journal, before, &j, e);

	if (!r)
		r = compile_step(c, ON_OLD_JOURNAL, "release the old journal device", e);
	if (r)
		return r;
	j.user_count = 0;
	memset(j.users, 0, sizeof(j.users));
	jsb_encode(after, &j);
	return step_list_write(c->steps, (uint64_t)journal_device_jsb_block(n) * n, after,
		before, sizeof(after), e);
}

/* The same device with another size: its two superblocks say it, the larger one first
 * when it grows and last when it shrinks, so that the log never ends behind the
 * device. */
int compile_resize(struct compile *c, struct err *e)
{
	uint32_t n = c->in->info->block_bytes, blocks = 0;
	uint64_t jsb_at = (uint64_t)journal_device_jsb_block(n) * n;
	const struct claim *device = c->in->new_journal;
	uint8_t before[JSB_BYTES], after[JSB_BYTES];
	struct superblock sb_before, sb_after;
	struct journal_state j;
	bool grows;
	int r = external_blocks(c, &blocks, e);

	if (!r)
		r = read_jsb(c, device, before, &j, e);
	if (!r)
		r = superblock_read(&sb_before, claim_fd(device), SUPERBLOCK_OFFSET_BYTES,
			claim_path(device), e);
	if (r)
		return r;
	grows = blocks > j.max_blocks;
	j.max_blocks = blocks;
	j.fast_commit_blocks = fast_commit_blocks(c->in->info, blocks);
	jsb_encode(after, &j);
	sb_after = sb_before;
	superblock_set_block_count(&sb_after, blocks);
	r = superblock_seal_first(&sb_after, &sb_before, e);
	for (int i = 0; !r && i < 2; i++) {
		bool log_now = grows == (i == 1);

		r = compile_step(c, ON_NEW_JOURNAL,
			log_now ? "SWITCH: the journal superblock states the new size"
				: "the journal device states the new size",
			e);
		if (log_now && !r)
			step_list_mark_switch(c->steps);
		if (!r)
			r = step_list_write(c->steps,
				log_now ? jsb_at : SUPERBLOCK_OFFSET_BYTES,
				log_now ? after : sb_after.bytes,
				log_now ? before : sb_before.bytes, sizeof(after), e);
	}
	c->jsb = j;
	return r;
}
