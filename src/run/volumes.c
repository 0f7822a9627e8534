/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Making volumes and giving them back; see volumes.h.  mke2fs must open the device
 * itself, so the claim is given up for it; the device is pinned meanwhile, so that its
 * name cannot come to mean another one.
 *
 * A journal device that the plan overwrites may still name the volume of an earlier
 * experiment as its user, which no longer exists; a move refuses such a device, and
 * rightly.  It is leased or our own, so its superblocks are erased, but only when nothing
 * else than a journal is on it.
 */

#include "run/volumes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/fileio.h"
#include "core/process.h"
#include "device/find.h"
#include "device/signature.h"
#include "placement/move.h"
#include "plan/mkfs.h"
#include "run/devices.h"
#include "run/history.h"
#include "scratch/lease.h"
#include "volume/volume.h"

/* The superblock that says "journal device" is at byte 1024, that of the journal in one
 * of the next blocks; without the first nothing takes the second for a journal. */
enum { JOURNAL_HEAD_BYTES = 16384 };

static int erase_journal(const struct claim *claim, struct err *e)
{
	static const char zeros[JOURNAL_HEAD_BYTES];
	int r = fileio_pwrite_full(
		claim_fd(claim), zeros, sizeof(zeros), 0, claim_path(claim), e);

	if (!r && fsync(claim_fd(claim)))
		r = err_set(e, errno, "sync %s", claim_path(claim));
	return r;
}

/* Is this the journal of a volume that existed before the run? */
static bool is_needed(const struct session *s, const struct session_device *d)
{
	for (size_t i = 0; i < s->x->volume_count; i++) {
		const char *journal = s->volumes[i].at_start.device;

		if (journal && !strcmp(journal, d->path))
			return true;
	}
	return false;
}

static int release_journal(
	const struct session *s, const struct session_device *d, struct err *e)
{
	_cleanup_(signature_list_deinit) struct signature_list list = {0};
	_cleanup_(claim_releasep) struct claim *claim = NULL;
	int r = is_needed(s, d) ? devices_hold(&claim, d, e)
				: devices_hold_to_overwrite(&claim, d, e);

	if (r || is_needed(s, d))
		return r;
	r = signature_list_read(&list, claim_fd(claim), d->path, e);
	if (r || list.count != 1 || strcmp(list.items[0].type, "jbd"))
		return r;
	return erase_journal(claim, e);
}

static int release_journals(const struct session *s, struct err *e)
{
	int r = 0;

	for (size_t i = 0; !r && i < s->x->arm_count; i++)
		if (s->journals[i].path)
			r = release_journal(s, &s->journals[i], e);
	return r;
}

/*
 * mke2fs gives the volume a journal of its own liking.  It goes, so that the journal of
 * every cell is one that was placed by a move.  A volume that cannot be without keeps it.
 */
static int remove_first_journal(const struct session_volume *v, struct err *e)
{
	const struct placement none = {.place = JOURNAL_NONE};
	const struct move_options o = {
		.device = v->device.path, .to = &none, .verify = VERIFY_NONE};
	_cleanup_(move_outcome_deinit) struct move_outcome out = {0};
	int r = move_run(&o, &out, e);

	if (!r || e->kind != ERR_REFUSED)
		return r;
	err_clear(e);
	return 0;
}

static int make_volume(
	const struct session *s, const struct session_volume *v, struct err *e)
{
	_cleanup_(claim_releasep) struct claim *claim = NULL;
	_cleanup_close_ int pin = -1;
	char **words;
	int r = devices_hold_to_overwrite(&claim, &v->device, e);

	if (!r)
		r = devices_pin(&pin, &v->device, e);
	if (!r && !v->device.stacked)
		r = lease_note_overwrite(claim, true, e);
	if (r)
		return r;
	claim = claim_release(claim);
	words = mkfs_words(v->plan->type, v->plan->mkfs_options, v->device.path,
		!s->x->design.precondition_ns);
	if (!words)
		return err_set(e, ENOMEM, "make volume %s", v->plan->name);
	log_line(s->o->log, LOG_PROGRESS, "making the volume %s on %s", v->plan->name,
		v->device.path);
	r = process_run_ok((const char *const *)words, e);
	mkfs_words_free(words);
	if (!r)
		r = devices_hold(&claim, &v->device, e);
	if (!r && !v->device.stacked)
		r = lease_note_overwrite(claim, false, e);
	claim = claim_release(claim);
	return r ? r : remove_first_journal(v, e);
}

/* The external journal of a volume that exists: its device, by the path, since every move
 * gives a journal a new UUID; and its size. */
static int find_journal(struct placement *at, const char *uuid, struct err *e)
{
	_cleanup_(volume_info_deinit) struct volume_info info = {0};
	_cleanup_(claim_releasep) struct claim *claim = NULL;
	char spec[64];
	int r;

	snprintf(spec, sizeof(spec), "UUID=%s", uuid);
	r = device_find(spec, &at->device, e);
	if (!r)
		r = claim_take(&claim, at->device, false, e);
	if (!r)
		r = volume_info_read(&info, claim_fd(claim), at->device, e);
	if (!r)
		at->size_bytes = volume_journal_bytes(&info);
	return r ? err_wrap(e, r, "find its journal") : 0;
}

/* A volume that exists: where is its journal, so that it can go back there? */
static int look_at(struct session_volume *v, struct err *e)
{
	_cleanup_(volume_info_deinit) struct volume_info info = {0};
	int r = devices_read_volume(&info, &v->device, e);

	if (r)
		return r;
	v->at_start.place = info.place;
	if (info.place == JOURNAL_INLINE)
		v->at_start.size_bytes = volume_journal_bytes(&info);
	if (info.place == JOURNAL_EXTERNAL)
		r = find_journal(&v->at_start, info.journal_uuid, e);
	v->existed = true;
	return r ? err_wrap(e, r, "volume %s", v->plan->name) : 0;
}

/* The journal device of the start is written to, too: it is identified and locked. */
static int find_home(struct session *s, struct session_volume *v, struct err *e)
{
	int r;

	if (!v->at_start.device)
		return 0;
	v->home.spec = v->at_start.device;
	r = devices_find_one(s, &v->home, "home", v->plan->name, e);
	if (!r)
		r = locks_take(&s->locks, &v->home.identity, s->past != NULL, e);
	if (r)
		return err_wrap(e, r, "the journal that volume %s had", v->plan->name);
	free(v->at_start.device);
	v->at_start.device = strdup(v->home.path);
	v->home.spec = v->at_start.device;
	return v->at_start.device ? 0 : err_set(e, ENOMEM, "find %s", v->home.path);
}

static int note_start(struct session *s, const struct session_volume *v, struct err *e)
{
	_cleanup_free_ char *text = placement_format(&v->at_start);

	if (!text)
		return err_set(e, ENOMEM, "record where the journal is");
	return history_add(s,
		json_pack("{ss,ss,ss}", "what", "start", "name", v->plan->name,
			"placement", text),
		e);
}

int volumes_recall(void *session, struct err *e)
{
	struct session *s = session;
	int r = 0;

	for (size_t i = 0; !r && i < s->x->volume_count; i++) {
		struct session_volume *v = &s->volumes[i];
		const json_t *start = history_last(s, "start", v->plan->name);
		const char *text =
			json_string_value(json_object_get(start, "placement"));

		if (!text || v->plan->type)
			continue;
		r = placement_parse(&v->at_start, text, e);
		v->existed = true;
		if (!r)
			r = find_home(s, v, e);
	}
	return r;
}

static int remember(struct session *s, struct session_volume *v, struct err *e)
{
	int r = look_at(v, e);

	if (!r)
		r = find_home(s, v, e);
	return r ? r : note_start(s, v, e);
}

static int for_each_made(struct session *s, bool only_every_cell, struct err *e)
{
	int r = 0;

	for (size_t i = 0; !r && i < s->x->volume_count; i++) {
		struct session_volume *v = &s->volumes[i];

		if (!v->plan->type ||
			(only_every_cell ? v->plan->prepare != PREPARE_EVERY_CELL
					 : history_is_made(s, v)))
			continue;
		r = history_note(s, "make", v->plan->name, e);
		if (!r)
			r = release_journals(s, e);
		if (!r)
			r = make_volume(s, v, e);
		if (!r)
			r = history_note(s, "made", v->plan->name, e);
		if (r)
			return err_wrap(e, r, "volume %s", v->plan->name);
		free(take_ptr(v->placement));
		v->placed = false;
	}
	return r;
}

int volumes_look_at(void *session, struct err *e)
{
	struct session *s = session;
	int r = 0;

	for (size_t i = 0; !r && i < s->x->volume_count; i++)
		if (!s->volumes[i].plan->type && !s->volumes[i].existed)
			r = remember(s, &s->volumes[i], e);
	if (!r)
		r = history_add_devices(s, e);
	return r;
}

int volumes_prepare(void *session, struct err *e)
{
	return for_each_made(session, false, e);
}

int volumes_remake(void *session, struct err *e)
{
	return for_each_made(session, true, e);
}

static int put_back(struct session *s, struct session_volume *v, struct err *e)
{
	_cleanup_(move_outcome_deinit) struct move_outcome out = {0};
	const struct move_options o = {
		.device = v->device.path, .to = &v->at_start, .verify = VERIFY_FSCK};
	_cleanup_free_ char *text = placement_format(&v->at_start);
	_cleanup_close_ int volume = -1, home = -1;
	int r = devices_pin(&volume, &v->device, e);

	if (!r)
		r = devices_pin(&home, &v->home, e);
	if (!r)
		r = history_note(s, "back", v->plan->name, e);
	if (!r)
		r = move_run(&o, &out, e);
	if (!r)
		r = history_note(s, "backed", v->plan->name, e);
	if (r && e->kind == ERR_REFUSED)
		e->kind = ERR_FAILED; /* it has changed since the start */
	if (r)
		return err_wrap(e, r,
			"take the journal of %s back to %s, which \"run --restore\" does when the "
			"disk is well",
			v->device.path, text ? text : "where it was");
	log_line(s->o->log, LOG_NOTE, "volume %s (%s): the journal is back, %s",
		v->plan->name, v->device.path, text ? text : "");
	return 0;
}

/* Says where every volume's journal is now; those that existed get theirs back. */
int volumes_put_back(void *session, struct err *e)
{
	struct session *s = session;
	int first = 0;

	for (size_t i = 0; i < s->x->volume_count; i++) {
		struct session_volume *v = &s->volumes[i];
		_cleanup_(err_clear) struct err more = {0};
		int r = 0;

		if (!v->placement)
			continue;
		if (v->existed)
			r = put_back(s, v, first ? &more : e);
		else if (!v->device.disk || s->o->keep)
			log_line(s->o->log, LOG_NOTE, "volume %s (%s) has its journal %s",
				v->plan->name, v->device.path, v->placement);
		if (r && first)
			log_line(s->o->log, LOG_WARNING, "%s", err_message(&more));
		if (r && !first)
			first = r;
	}
	return first;
}
