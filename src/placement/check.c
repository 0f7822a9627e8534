/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Reasons against a move; see check.h. */

#include "placement/check.h"

#include <errno.h>
#include <string.h>
#include <uuid/uuid.h>

#include "device/topology.h"
#include "placement/compile.h"
#include "placement/intent.h"
#include "placement/journal_users.h"
#include "volume/edit.h"

static void check_kind(struct subject *s)
{
	if (s->volume.info.kind == VOLUME_JOURNAL_DEVICE)
		subject_refuse(s,
			"%s is a journal device, not a volume; name the volume that uses it",
			s->volume.path);
}

static void check_path(struct subject *s)
{
	if (!intent_can_hold(s->volume.path))
		subject_refuse(s,
			"the path %s is not valid UTF-8, so that it cannot be written to the "
			"intent log; rename it",
			s->volume.path);
}

static void check_state(struct subject *s)
{
	const struct volume_info *v = &s->volume.info;

	if (!s->volume.claim)
		return; /* in use: its state on disk is not its state */
	if (v->needs_recovery)
		subject_refuse(s,
			"%s has a log that is not empty (needs_recovery): mount and unmount it, "
			"or add \"--replay\"",
			s->volume.path);
	else if (!v->state_valid)
		subject_refuse(s,
			"%s was not cleanly unmounted: add \"--replay\", which runs e2fsck -p",
			s->volume.path);
	if (v->state_error)
		subject_refuse(s, "the kernel has found errors on %s: run \"e2fsck -f %s\"",
			s->volume.path, s->volume.path);
	if (v->orphan_present)
		subject_refuse(s,
			"%s has files that were deleted while open: mount and unmount it, or add "
			"\"--replay\"",
			s->volume.path);
}

static void check_features(struct subject *s)
{
	_cleanup_free_ char *unknown = volume_unknown_features(&s->volume.info);

	if (unknown)
		subject_refuse(s,
			"%s has features that this libext2fs does not know: %s; build jbdlab with "
			"one that does (those of Lustre are in the e2fsprogs of Lustre)",
			s->volume.path, unknown);
	if (!s->volume.info.revision)
		subject_refuse(s,
			"%s has a superblock of revision 0, which has no place for features: run "
			"\"tune2fs -O dir_index %s\" first, which makes it revision 1",
			s->volume.path, s->volume.path);
	if (volume_has_feature(&s->volume.info, "mmp"))
		subject_refuse(s,
			"%s has the feature mmp: another host may mount it meanwhile; when no "
			"other host has it, run \"tune2fs -O ^mmp %s\", move, and put it back "
			"with \"tune2fs -O mmp %s\"",
			s->volume.path, s->volume.path, s->volume.path);
	if (s->to->place == JOURNAL_NONE &&
		volume_has_feature(&s->volume.info, "orphan_file"))
		subject_refuse(s,
			"%s has the feature orphan_file, which needs a journal: run "
			"\"tune2fs -O ^orphan_file %s\" first",
			s->volume.path, s->volume.path);
}

/* Of a volume that says that nothing is to be replayed. */
static void refuse_stale_log(struct subject *s, const char *where)
{
	subject_refuse(s,
		"the log on %s is not empty, though %s was cleanly unmounted: mount and unmount "
		"it, or add \"--replay\"; the kernel drops such a log",
		where, s->volume.path);
}

static void check_journal(struct subject *s)
{
	const struct volume_info *v = &s->volume.info;
	_cleanup_free_ char *unknown = volume_unknown_features(v);

	/* What was not even opened has been refused for that. */
	if (v->journal_problem && !unknown)
		subject_refuse(s,
			"the journal of %s cannot be trusted: %s; run \"e2fsck -f %s\", or, if "
			"that finds nothing, \"tune2fs -O ^has_journal %s\"",
			s->volume.path, v->journal_problem, s->volume.path, s->volume.path);
	if (v->place == JOURNAL_INLINE && v->journal_inode != 8)
		subject_refuse(s,
			"the journal of %s is the file .journal (inode %u); run \"e2fsck -f %s\", "
			"which makes it an ordinary inline journal",
			s->volume.path, v->journal_inode, s->volume.path);
	if (v->place == JOURNAL_INLINE && v->journal.readable && v->journal.error)
		subject_refuse(s, "the journal of %s was aborted (error %d): run \"e2fsck -f %s\"",
			s->volume.path, v->journal.error, s->volume.path);
	if (v->place == JOURNAL_INLINE && v->journal.readable && v->journal.start &&
		!v->needs_recovery)
		refuse_stale_log(s, s->volume.path);
}

static void check_old_journal(struct subject *s)
{
	const struct journal_state *j = &s->old_journal.info.journal;
	uuid_t us;

	if (!s->old_journal.readable)
		return;
	if (s->old_journal.info.kind != VOLUME_JOURNAL_DEVICE || !j->readable) {
		subject_refuse(s, "%s, the journal device of %s, is damaged: run \"e2fsck -f %s\"",
			s->old_journal.path, s->volume.path, s->volume.path);
		return;
	}
	if (j->start && !s->volume.info.needs_recovery)
		refuse_stale_log(s, s->old_journal.path);
	if (j->error)
		subject_refuse(s, "the journal on %s was aborted (error %d): run \"e2fsck -f %s\"",
			s->old_journal.path, j->error, s->volume.path);
	if (j->user_count == 1 && !uuid_parse(s->volume.info.uuid, us) &&
		!memcmp(us, j->users[0], sizeof(us)))
		return;
	subject_refuse(s,
		"%s, the journal device of %s, does not list it as its only user (%u user%s); "
		"\"jbdlab show %s\" lists them",
		s->old_journal.path, s->volume.path, j->user_count, PLURAL(j->user_count),
		s->old_journal.path);
}

/* e2fsck wants the journal device of an image file for itself while we hold it. */
static void check_image(struct subject *s)
{
	if (!s->volume.claim || claim_identity(s->volume.claim)->is_block)
		return;
	if (s->to->place == JOURNAL_EXTERNAL || s->volume.info.place == JOURNAL_EXTERNAL)
		subject_refuse(s,
			"%s is an image file, whose external journal cannot be checked; attach it "
			"with \"losetup -f --show %s\" and name the loop device",
			s->volume.path, s->volume.path);
}

/* A journal device may be taken over when it is empty and nobody's. */
static void check_target_journal(struct subject *s)
{
	_cleanup_(strbuf_deinit) struct strbuf users = { 0 };
	const struct journal_state *j = &s->target.info.journal;
	uuid_t us;

	journal_users_find(s->target.info.uuid, s->volume.path, &users);
	if (users.length) {
		subject_refuse(s, "%s is the journal of %s; move that journal away first",
			s->target.path, strbuf_text(&users));
		return;
	}
	if (subject_may_overwrite(s, "jbd"))
		return;
	/* A checksum that tune2fs left wrong, as it always does, says nothing about users. */
	if (!j->readable)
		subject_refuse(s,
			"%s is a journal device of which nobody can tell whose it is: %s; if it is "
			"not needed any more, add \"--overwrite jbd\"",
			s->target.path, s->target.info.journal_problem);
	uuid_parse(s->volume.info.uuid, us);
	for (uint32_t i = 0; j->readable && i < j->user_count; i++)
		if (memcmp(us, j->users[i], sizeof(us))) {
			char text[37];

			uuid_unparse(j->users[i], text);
			subject_refuse(s,
				"%s lists the volume with UUID %s as its user, which is not "
				"connected; if that is gone for good, add \"--overwrite jbd\"",
				s->target.path, text);
		}
	/* Its own one is the rest of a move that could not be undone on a broken device. */
	if (j->readable && j->start && !(j->user_count == 1 && !memcmp(us, j->users[0], 16)))
		subject_refuse(s,
			"%s holds a log that was never replayed; if its volume is gone for good, "
			"add \"--overwrite jbd\"",
			s->target.path);
}

/* "xfs,gpt": what --overwrite would have to name; NULL: nothing. */
static char *foreign_types(const struct subject *s)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	bool all_named = true;

	for (size_t i = 0; i < s->signatures.count; i++) {
		const char *type = s->signatures.items[i].type;

		if (!strcmp(type, "jbd") && s->signatures.count == 1)
			return NULL;
		all_named = all_named && subject_may_overwrite(s, type);
		if (!signature_types_have(strbuf_text(&b), type))
			strbuf_addf(&b, "%s%s", b.length ? "," : "", type);
	}
	return all_named ? NULL : strbuf_take(&b);
}

static void check_target_content(struct subject *s)
{
	_cleanup_free_ char *text = signature_list_describe(&s->signatures);
	_cleanup_free_ char *types = foreign_types(s);

	if (types)
		subject_refuse(s,
			"%s is not empty: it carries %s; if that is not needed any more, add "
			"\"--overwrite %s\"",
			s->target.path, text ? text : "signatures", types);
	else if (s->target.readable && s->target.info.kind == VOLUME_JOURNAL_DEVICE)
		check_target_journal(s);
}

static void check_target(struct subject *s)
{
	const struct device_identity *id;

	if (!s->target.claim)
		return;
	id = claim_identity(s->target.claim);
	if (!id->is_block)
		subject_refuse(s,
			"%s is a regular file: the kernel takes only a block device as journal",
			s->target.path);
	if (id->logical_block_bytes > s->volume.info.block_bytes)
		subject_refuse(s,
			"%s has sectors of %u bytes, larger than the blocks of %s (%u bytes)",
			s->target.path, id->logical_block_bytes, s->volume.path,
			s->volume.info.block_bytes);
	check_target_content(s);
}

/* Whether there is room for it, only libext2fs can tell, later. */
static void check_size(struct subject *s)
{
	_cleanup_(err_clear) struct err e = { 0 };
	const struct volume_info *v = &s->volume.info;
	const struct claim *journal = subject_new_journal(s);
	uint32_t blocks;
	int r = 0;

	if (s->to->place == JOURNAL_INLINE)
		r = volume_edit_journal_blocks(v, s->to->size_bytes, &blocks, &e);
	else if (journal && claim_identity(journal)->is_block)
		r = compile_external_blocks(v, claim_identity(journal), s->to->size_bytes,
			&blocks, &e);
	if (r)
		subject_refuse(s, "%s", err_message(&e));
	if (s->to->position == AT_BLOCK && s->to->block >= v->block_count)
		subject_refuse(s, "%s has no block %llu: its last one is %llu", s->volume.path,
			(unsigned long long)s->to->block,
			(unsigned long long)v->block_count - 1);
}

static void check_shared_disk(struct subject *s)
{
	const struct claim *journal = subject_new_journal(s);

	if (!journal || !s->volume.claim || !claim_identity(journal)->is_block)
		return;
	if (topology_shared(claim_identity(s->volume.claim)->devno,
		    claim_identity(journal)->devno) == DEVICE_YES)
		subject_warn(s,
			"%s and %s lie on the same physical disk: the journal's writes still "
			"cost its heads their seeks",
			s->volume.path, claim_path(journal));
}

/* In the order in which reasons are listed. */
static void (*const checks[])(struct subject *s) = {
	check_kind,
	check_path,
	check_state,
	check_features,
	check_journal,
	check_old_journal,
	check_image,
	check_target,
	check_size,
	check_shared_disk,
};

void check_all(struct subject *s)
{
	if (s->volume.info.kind == VOLUME_JOURNAL_DEVICE) {
		check_kind(s);
		return; /* the rest makes no sense */
	}
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		checks[i](s);
}

bool check_nothing_to_do(const struct subject *s)
{
	const struct placement *to = s->to;
	uint64_t bytes = volume_journal_bytes(&s->volume.info);

	if (to->place != s->volume.info.place)
		return false;
	switch (to->place) {
	case JOURNAL_NONE:
		return true;
	case JOURNAL_INLINE:
		return to->position == AT_ANYWHERE &&
			(!to->size_bytes ||
				to->size_bytes / s->volume.info.block_bytes ==
					bytes / s->volume.info.block_bytes);
	case JOURNAL_EXTERNAL:
		bytes = volume_journal_bytes(&s->old_journal.info);
		return s->same_device && s->old_journal.readable &&
			(!to->size_bytes ||
				to->size_bytes / s->volume.info.block_bytes ==
					bytes / s->volume.info.block_bytes);
	}
	return false;
}
