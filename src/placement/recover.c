/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Settling an interrupted move; see recover.h.
 *
 * Two ways.  If there is an intent log and every place that the move writes holds a
 * content that the log knows, nobody has touched the disks since, and the steps can be
 * finished or undone as they stand.  Otherwise somebody has: the kernel has mounted the
 * volume, e2fsck was run, or the log is lost.  Then the disks are consistent or can be
 * made so by e2fsck -p, and the superblock says which placement it became.  In both cases
 * a journal device that still lists the volume, but is not named by it, is released.
 */

#include "placement/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <uuid/uuid.h>

#include "core/ending_signals.h"
#include "core/fileio.h"
#include "core/strbuf.h"
#include "device/claim.h"
#include "device/find.h"
#include "placement/intent.h"
#include "placement/journal_users.h"
#include "placement/move.h"
#include "placement/placement.h"
#include "placement/reidentify.h"
#include "placement/replay.h"
#include "volume/journal_device.h"
#include "volume/jsb.h"
#include "volume/superblock.h"
#include "volume/volume.h"

struct recovery {
	const struct recover_options *o;
	const char *state_dir;
	char *path; /* of the volume, canonical */
	char uuid[37];
	bool has_intent;
	struct intent intent;
	struct claim *claims[STEP_DEVICES];
	bool absent[STEP_DEVICES]; /* not connected */
	struct recover_outcome *out;
};

static void release(struct recovery *c)
{
	for (size_t i = 0; i < STEP_DEVICES; i++)
		c->claims[i] = claim_release(c->claims[i]);
}

static void recovery_deinit(struct recovery *c)
{
	release(c);
	intent_deinit(&c->intent);
	free(c->path);
}

static int cannot(const struct recovery *c, int r, struct err *e)
{
	/* No log, and no volume that can be looked at: it is in the middle of nothing. */
	if (r == -EUCLEAN && !c->out->found)
		e->kind = ERR_REFUSED;
	if (e->kind != ERR_REFUSED && e->kind != ERR_INTERRUPTED)
		e->kind = ERR_NEEDS_RECOVER;
	return err_wrap(e, r, "recover %s", c->path);
}

/* --- devices of the log, by identity --- */

static int find_member(const struct recovery *c, size_t role, char **path, struct err *e)
{
	const char *identity = c->intent.identity[role];
	int r = reidentify_find(path, c->intent.path[role], identity, e);

	return r != -ENODEV
		       ? r
		       : err_say(e, ENODEV,
				 "the device of the interrupted move that was %s (%s) is not "
				 "there; connect it",
				 c->intent.path[role], identity);
}

/* A clone of the volume has its UUID, but the steps are not for it.  Of a disk without any
 * serial number only the size is known: then the name must be the same, too. */
static int check_volume(const struct recovery *c, struct err *e)
{
	const char *path = c->intent.path[ON_VOLUME], *id = c->intent.identity[ON_VOLUME];

	if (path && reidentify_is(c->path, id) && (strchr(id, ' ') || !strcmp(path, c->path)))
		return 0;
	return err_refuse(e,
		"%s has the UUID of the volume of which a move was interrupted, but is another "
		"device than %s (%s) was; name that one, or, if it is gone for good, remove "
		"%s/moves/%s.json first",
		c->path, path ? path : "that", id ? id : "unknown", c->state_dir, c->uuid);
}

static int claim_members(struct recovery *c, struct err *e)
{
	for (size_t role = 0; role < STEP_DEVICES; role++) {
		_cleanup_free_ char *path = NULL;
		int r;

		if (!c->intent.path[role] || c->claims[role])
			continue;
		/* A changed size: old and new device are one, held once. */
		if (role == ON_OLD_JOURNAL && c->intent.path[ON_NEW_JOURNAL] &&
			!strcmp(c->intent.path[role], c->intent.path[ON_NEW_JOURNAL]))
			continue;
		r = find_member(c, role, &path, e);
		if (r == -ENODEV) {
			c->absent[role] = true;
			err_clear(e);
			continue;
		}
		if (!r)
			r = claim_take(&c->claims[role], path, true, e);
		if (r)
			return r;
	}
	return 0;
}

/* Without the new journal device there is a way back, but none forward.  The old one only
 * waits for its release, and only after the switch. */
static int do_without(struct recovery *c, enum step_position position, struct err *e)
{
	bool forward = position == STEPS_AFTER_SWITCH;

	if (c->absent[ON_NEW_JOURNAL] && forward)
		return err_say(e, ENODEV,
			"the journal device %s (%s) is not there; connect it, or, if it is "
			"gone for good, run \"jbdlab move %s --to inline --lost-journal\"",
			c->intent.path[ON_NEW_JOURNAL], c->intent.identity[ON_NEW_JOURNAL],
			c->path);
	for (size_t role = 0; role < STEP_DEVICES; role++)
		if (c->absent[role])
			log_line(c->o->log, LOG_WARNING, "%s (%s) is not there; %s without it",
				c->intent.path[role], c->intent.identity[role],
				forward ? "going on" : "going back");
	return 0;
}

static struct step_devices devices_of(const struct recovery *c)
{
	struct step_devices d = { 0 };

	for (size_t i = 0; i < STEP_DEVICES; i++) {
		d.fd[i] = c->claims[i] ? claim_fd(c->claims[i]) : -1;
		d.name[i] = c->claims[i] ? claim_path(c->claims[i]) : NULL;
		d.absent[i] = c->absent[i];
	}
	return d;
}

/* The device may have another name than when the placement was typed, and its old name
 * may be another device's now.  One that is not there is no place to go to. */
static int rename_device(const struct recovery *c, char **text, enum step_device role,
	struct err *e)
{
	_cleanup_(placement_deinit) struct placement p = { 0 };
	char *renamed;

	if (placement_parse(&p, *text, e))
		return -EBADMSG;
	if (p.place != JOURNAL_EXTERNAL)
		return 0;
	if (!c->claims[role] && !c->absent[role])
		role = ON_NEW_JOURNAL; /* a changed size: both are one */
	if (!c->claims[role]) {
		free(take_ptr(*text));
		return 0;
	}
	free(p.device);
	p.device = strdup(claim_path(c->claims[role]));
	renamed = p.device ? placement_format(&p) : NULL;
	if (!renamed)
		return err_set(e, ENOMEM, "recover %s", c->path);
	free(*text);
	*text = renamed;
	return 0;
}

/* --- by the log --- */

/* Finishes or undoes the steps; *applies is false when they no longer fit the disks. */
static int settle_by_log(struct recovery *c, bool *applies, struct err *e)
{
	const struct step_list *l = &c->intent.steps;
	struct step_devices devices = devices_of(c);
	struct step_progress p = { 0 };
	enum step_position position;
	int r = step_list_locate(l, &devices, &position, e);

	*applies = position != STEPS_FOREIGN;
	if (!r)
		r = do_without(c, position, e);
	if (r || !*applies)
		return r;
	/* What is seen may still be in a cache only. */
	r = step_list_flush(l, &devices, e);
	if (r || position == STEPS_NOT_BEGUN)
		return r;
	if (position == STEPS_BEFORE_SWITCH) {
		log_line(c->o->log, LOG_NOTE, "%s: undoing the steps before the switch",
			c->path);
		return step_list_undo(l, &devices, step_list_switch(l), false, e);
	}
	log_line(c->o->log, LOG_NOTE, "%s: finishing the steps after the switch", c->path);
	p.next = step_list_switch(l) + 1;
	return step_list_execute(l, &devices, &p, e);
}

/* A superblock that a disk has torn: the image of the log that has the same first half, or
 * else the same second half. */
static int mend_superblock(struct recovery *c, struct err *e)
{
	int fd = claim_fd(c->claims[ON_VOLUME]);
	struct superblock now;

	if (fileio_pread_full(fd, now.bytes, sizeof(now.bytes), SUPERBLOCK_OFFSET_BYTES,
		    c->path, e))
		return -e->code;
	if (superblock_checksum_valid(&now))
		return 0;
	for (size_t half = 0; half < sizeof(now.bytes); half += sizeof(now.bytes) / 2)
		for (size_t i = 0; i < c->intent.steps.count; i++)
			for (size_t k = 0; k < c->intent.steps.items[i].write_count; k++) {
				const struct step_write *w =
					&c->intent.steps.items[i].writes[k];

				if (c->intent.steps.items[i].device != ON_VOLUME ||
					w->offset != SUPERBLOCK_OFFSET_BYTES ||
					w->length != sizeof(now.bytes) ||
					memcmp(w->after + half, now.bytes + half,
						sizeof(now.bytes) / 2))
					continue;
				log_line(c->o->log, LOG_WARNING,
					"the superblock of %s is torn; restoring it from the "
					"intent log",
					c->path);
				return fileio_pwrite_full(fd, w->after, w->length,
					SUPERBLOCK_OFFSET_BYTES, c->path, e);
			}
	return 0;
}

/* --- by the disks alone --- */

/* Device of the external journal that the volume names, or NULL. */
static char *named_journal(const struct volume_info *v)
{
	char spec[64], *path = NULL;

	if (v->place != JOURNAL_EXTERNAL)
		return NULL;
	snprintf(spec, sizeof(spec), "UUID=%s", v->journal_uuid);
	return device_find(spec, &path, NULL) ? NULL : path;
}

static int read_volume(const struct recovery *c, struct volume_info *v, struct err *e)
{
	_cleanup_close_ int fd = open(c->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_set(e, errno, "open %s", c->path);
	return volume_info_read(v, fd, c->path, e);
}

static int settle_by_fsck(struct recovery *c, struct err *e)
{
	struct volume_info v = { 0 };
	_cleanup_free_ char *journal = NULL;
	int r = read_volume(c, &v, e);

	if (r)
		return r;
	journal = named_journal(&v);
	release(c); /* e2fsck wants the devices for itself */
	log_line(c->o->log, LOG_NOTE, "%s: replaying its log, and running e2fsck -p", c->path);
	r = replay_volume(c->path, &v, journal, e);
	volume_info_deinit(&v);
	return r;
}

/* --- journal devices that are no longer used --- */

static int write_released(struct claim *device, const struct volume_info *info,
	struct err *e)
{
	uint64_t at = (uint64_t)journal_device_jsb_block(info->block_bytes) *
		info->block_bytes;
	struct journal_state j = info->journal;
	uint8_t bytes[JSB_BYTES];
	int r;

	j.user_count = 0;
	j.start = 0;
	memset(j.users, 0, sizeof(j.users));
	jsb_encode(bytes, &j);
	r = fileio_pwrite_full(claim_fd(device), bytes, sizeof(bytes), (off_t)at,
		claim_path(device), e);
	if (!r && fsync(claim_fd(device)))
		r = err_set(e, errno, "flush %s", claim_path(device));
	return r;
}

static bool lists_only(const struct volume_info *info, const char *uuid_text)
{
	uuid_t uuid;

	return info->kind == VOLUME_JOURNAL_DEVICE && info->journal.readable &&
		info->journal.user_count == 1 && !uuid_parse(uuid_text, uuid) &&
		!memcmp(uuid, info->journal.users[0], sizeof(uuid));
}

static bool is_named(const char *journal_uuid)
{
	_cleanup_(strbuf_deinit) struct strbuf volumes = { 0 };

	journal_users_find(journal_uuid, NULL, &volumes);
	return volumes.length || strbuf_failed(&volumes);
}

/* Is it a device of the move that is settled, as far as the log tells? */
static bool is_member(const struct recovery *c, const char *path)
{
	for (size_t role = ON_NEW_JOURNAL; role < STEP_DEVICES; role++) {
		const char *id = c->intent.identity[role];

		if (id && reidentify_is(path, id) &&
			(strchr(id, ' ') || !strcmp(path, c->intent.path[role])))
			return true;
	}
	return false;
}

/* A clone of the volume may need what is in its log, also one that is not connected. */
static bool may_be_needed(const struct recovery *c, const struct volume_info *info,
	const char *path)
{
	if (is_named(info->uuid))
		return true;
	if (!info->journal.start || is_member(c, path))
		return false;
	log_line(c->o->log, LOG_WARNING,
		"%s lists %s as its user, which does not name it, and has a log that is not "
		"empty: it is left as it is, because a copy of the volume may need it",
		path, c->path);
	return true;
}

static int release_if_stale(struct recovery *c, const char *path,
	const char *current_uuid, struct err *e)
{
	_cleanup_(claim_releasep) struct claim *claim = NULL;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct volume_info info = { 0 };
	int r;

	if (fd < 0 || volume_info_read(&info, fd, path, NULL))
		return 0;
	if (!lists_only(&info, c->uuid) || !strcmp(info.uuid, current_uuid) ||
		may_be_needed(c, &info, path)) {
		volume_info_deinit(&info);
		return 0;
	}
	log_line(c->o->log, LOG_NOTE, "releasing the journal device %s", path);
	c->out->found = true;
	r = claim_take(&claim, path, true, e);
	if (!r)
		r = write_released(claim, &info, e);
	volume_info_deinit(&info);
	return r;
}

static int release_stale(struct recovery *c, const char *current_uuid, struct err *e)
{
	char **paths;
	size_t count;
	int r = device_list(&paths, &count, e);

	if (r)
		return r;
	for (size_t i = 0; !r && i < count; i++)
		if (strcmp(paths[i], c->path))
			r = release_if_stale(c, paths[i], current_uuid, e);
	device_list_free(paths, count);
	return r;
}

/* --- a journal device that has another number since a reboot --- */

static int mend_device_number(struct recovery *c, const char *journal, struct err *e)
{
	_cleanup_(claim_releasep) struct claim *volume = NULL, *device = NULL;
	struct superblock before, after;
	int r = claim_take(&volume, c->path, true, e);

	if (!r)
		r = claim_take(&device, journal, true, e);
	if (!r)
		r = superblock_read(&before, claim_fd(volume), SUPERBLOCK_OFFSET_BYTES,
			c->path, e);
	if (r)
		return r;
	after = before;
	superblock_set_device_number(&after,
		journal_device_number(claim_identity(device)->devno));
	if (!memcmp(&after, &before, sizeof(after)))
		return 0;
	log_line(c->o->log, LOG_NOTE,
		"%s: its superblock named another device number than %s has; corrected",
		c->path, journal);
	c->out->found = true;
	r = superblock_seal_first(&after, &before, e);
	if (!r)
		r = fileio_pwrite_full(claim_fd(volume), after.bytes, sizeof(after.bytes),
			SUPERBLOCK_OFFSET_BYTES, c->path, e);
	if (!r && fsync(claim_fd(volume)))
		r = err_set(e, errno, "flush %s", c->path);
	return r;
}

/* --- the whole --- */

static int begin(struct recovery *c, struct err *e)
{
	struct superblock sb;
	uint8_t uuid[16];
	int r = device_find(c->o->device, &c->path, e);

	if (!r)
		r = claim_take(&c->claims[ON_VOLUME], c->path, true, e);
	if (!r && claim_identity(c->claims[ON_VOLUME])->size_bytes <
			  SUPERBLOCK_OFFSET_BYTES + SUPERBLOCK_BYTES)
		r = err_refuse(e, "%s is too small to hold an ext2, ext3 or ext4 volume",
			c->path);
	if (!r)
		r = superblock_read(&sb, claim_fd(c->claims[ON_VOLUME]),
			SUPERBLOCK_OFFSET_BYTES, c->path, e);
	if (r == -EMEDIUMTYPE)
		e->kind = ERR_REFUSED;
	if (r)
		return r;
	superblock_uuid(&sb, uuid);
	uuid_unparse(uuid, c->uuid);
	r = intent_read(&c->intent, c->state_dir, c->uuid, e);
	c->has_intent = !r;
	/* A damaged log is no help, but the disks are enough. */
	if (r == -EBADMSG) {
		log_line(c->o->log, LOG_WARNING, "%s; going by the disks alone",
			err_message(e));
		err_clear(e);
		r = 0;
	}
	return r == -ENOENT ? 0 : r;
}

static int needs_fsck(const struct recovery *c, bool *yes, struct err *e)
{
	struct volume_info v = { 0 };
	_cleanup_free_ char *journal = NULL;
	int r = read_volume(c, &v, e);

	if (r)
		return r;
	journal = named_journal(&v);
	*yes = v.needs_recovery || !v.state_valid || v.state_error || v.journal_problem ||
	       replay_log_is_stale(&v, journal);
	volume_info_deinit(&v);
	return 0;
}

static int settle(struct recovery *c, struct err *e)
{
	bool applies = false, fsck = true;
	int r = 0;

	if (c->has_intent) {
		c->out->found = true;
		r = check_volume(c, e);
		if (!r)
			r = claim_members(c, e);
		if (!r)
			r = rename_device(c, &c->intent.target, ON_NEW_JOURNAL, e);
		if (!r)
			r = rename_device(c, &c->intent.origin, ON_OLD_JOURNAL, e);
		if (!r)
			r = settle_by_log(c, &applies, e);
		if (!r && !applies)
			r = mend_superblock(c, e);
	} else {
		r = needs_fsck(c, &fsck, e);
		c->out->found = !r && fsck;
	}
	if (!r && !applies && fsck)
		r = settle_by_fsck(c, e);
	release(c);
	return r;
}

/* The journal device that the volume names cannot be found. */
static void warn_of_journal(const struct recovery *c, const struct volume_info *v)
{
	_cleanup_(err_clear) struct err why = { 0 };
	_cleanup_free_ char *path = NULL;
	char spec[64];

	snprintf(spec, sizeof(spec), "UUID=%s", v->journal_uuid);
	if (device_find(spec, &path, &why) == -ENOENT)
		log_line(c->o->log, LOG_WARNING,
			"the journal device of %s (UUID %s) is not there: connect it, or, if it "
			"is gone for good, give it up with \"jbdlab move %s --to inline "
			"--lost-journal\"",
			c->path, v->journal_uuid, c->path);
	else if (!path)
		log_line(c->o->log, LOG_WARNING,
			"the journal device of %s cannot be used: %s; disconnect the copy", c->path,
			err_message(&why));
}

static int finish(struct recovery *c, struct err *e)
{
	struct volume_info v = { 0 };
	struct placement now = { 0 };
	_cleanup_free_ char *journal = NULL;
	int r = read_volume(c, &v, e);

	if (r)
		return r;
	r = release_stale(c, v.place == JOURNAL_EXTERNAL ? v.journal_uuid : "", e);
	if (!r && !(c->o->keep_log && c->intent.target))
		r = intent_remove(c->state_dir, c->uuid, e);
	journal = named_journal(&v);
	if (v.place == JOURNAL_EXTERNAL && !journal)
		warn_of_journal(c, &v);
	if (!r && journal)
		r = mend_device_number(c, journal, e);
	now.place = v.place;
	now.device = v.place == JOURNAL_EXTERNAL && journal ? journal : v.journal_uuid;
	c->out->placement = placement_format(&now);
	volume_info_deinit(&v);
	return r;
}

int recover_settle(const struct recover_options *o, struct recover_outcome *out,
	struct err *e)
{
	_cleanup_(recover_outcome_deinit) struct recover_outcome result = { 0 };
	_cleanup_(recovery_deinit) struct recovery c = { .o = o, .out = &result,
		.state_dir = o->state_dir ? o->state_dir : MOVE_STATE_DIR };
	sigset_t before;
	int r = begin(&c, e), number;

	if (r)
		return r;
	ending_signals_hold(&before);
	r = settle(&c, e);
	if (!r)
		r = finish(&c, e);
	number = ending_signals_take();
	ending_signals_release(&before);
	if (!r && number && o->keep_log) /* nobody goes on */
		r = intent_remove(c.state_dir, c.uuid, e);
	if (!r && number)
		r = err_wrap(e, err_interrupted(e, number), "%s is whole, with its journal %s",
			c.path, result.placement);
	if (r)
		return cannot(&c, r, e);
	result.undo = c.intent.undo;
	result.origin = take_ptr(c.intent.origin);
	result.target = take_ptr(c.intent.target);
	*out = result;
	result = (struct recover_outcome){ 0 };
	return 0;
}

void recover_outcome_deinit(struct recover_outcome *out)
{
	free(out->origin);
	free(out->target);
	free(out->placement);
	*out = (struct recover_outcome){ 0 };
}

bool recover_is_pending(const char *state_dir, const char *uuid)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/moves/%s.json", state_dir ? state_dir : MOVE_STATE_DIR,
		    uuid) < 0)
		path = NULL;
	return path && access(path, F_OK) == 0;
}
