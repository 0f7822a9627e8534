/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Placing journals, checking and mounting volumes in a cell; see volumes.h.
 *
 * Volumes are mounted in a directory in memory, in a mount namespace of the run: nothing
 * of it is seen outside, and nothing stays when we are killed.  Workloads get a directory
 * of a fixed name in the volume: ext4 chooses the place of a new top-level directory by
 * its name, so that another name in each cell would also be another place on the disk.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fileio.h"
#include "core/process.h"
#include "evidence/environment.h"
#include "evidence/jbd2.h"
#include "mount/mount.h"
#include "placement/move.h"
#include "run/devices.h"
#include "run/history.h"
#include "run/leftovers.h"
#include "run/volumes.h"
#include "scratch/state.h"
#include "volume/fsck.h"
#include "volume/volume.h"


int volumes_enter_namespace(void *session, struct err *e)
{
	struct session *s = session;

	return mount_namespace_enter(&s->namespace, SCRATCH_RUN_DIR, e);
}

int volumes_leave_namespace(void *session, struct err *e)
{
	return mount_namespace_leave(&((struct session *)session)->namespace, e);
}

/* Commands may run as another user, who must get to the volumes, but need not see what
 * else there is.  Only our own namespace has them. */
static int open_way(struct err *e)
{
	_cleanup_free_ char *parent = strdup(RUN_TARGET_DIRECTORY);

	if (!parent)
		return err_set(e, ENOMEM, "mount points");
	*strrchr(parent, '/') = '\0';
	if (chmod(parent, 0711) || chmod(RUN_TARGET_DIRECTORY, 0711))
		return err_set(e, errno, "open the way to " RUN_TARGET_DIRECTORY);
	return 0;
}

/* A directory in memory, which nobody else sees and which goes with us. */
int volumes_make_targets(void *session, struct err *e)
{
	struct session *s = session;
	int r = fileio_make_dirs(RUN_TARGET_DIRECTORY, 0700, e);

	if (!r)
		r = mount_memory(RUN_TARGET_DIRECTORY, e);
	if (!r)
		r = open_way(e);
	if (r)
		return r;
	s->has_targets = true;
	for (size_t i = 0; !r && i < s->x->volume_count; i++) {
		char *target;

		if (asprintf(&target, RUN_TARGET_DIRECTORY "/%s", s->x->volumes[i].name) < 0)
			return err_set(e, ENOMEM, "mount points");
		s->volumes[i].target = target;
		if (mkdir(target, 0700))
			r = err_set(e, errno, "make directory %s", target);
	}
	return r;
}

int volumes_remove_targets(void *session, struct err *e)
{
	struct session *s = session;

	return s->has_targets ? mount_unmount(RUN_TARGET_DIRECTORY, e) : 0;
}

/* The record of a volume in the cell's record. */
static json_t *record_of(const struct session *s, size_t volume)
{
	return json_array_get(json_object_get(s->cell, "volumes"), volume);
}

static int add_fact(json_t *record, const char *key, json_t *value, struct err *e)
{
	return json_object_set_new(record, key, value) ? err_set(e, ENOMEM, "record") : 0;
}

/* Moves are quiet; what one warns of is said once for each arm, and not at all of disks
 * that only model some. */
static void warn_once(
	struct session *s, const struct session_volume *v, const struct move_outcome *out)
{
	if (!out->warnings || s->warned[s->arm] || v->device.disk)
		return;
	s->warned[s->arm] = true;
	log_line(s->o->log, LOG_WARNING, "arm %s: %s", session_arm(s)->name,
		out->warnings);
}

static int record_move(json_t *record, const struct move_outcome *out, struct err *e)
{
	json_t *move = json_pack("{sb,sI,sI,sI,sI,ss}", "moved", !out->nothing_to_do,
		"writes", (json_int_t)out->writes, "flushes", (json_int_t)out->flushes,
		"duration_ns", (json_int_t)out->duration_ns, "journal_bytes",
		(json_int_t)out->journal_bytes, "warnings",
		out->warnings ? out->warnings : "");

	return add_fact(record, "move", move, e);
}

static int note_place(struct session *s, const char *what, const struct session_volume *v,
	const char *to, struct err *e)
{
	return history_add(s,
		json_pack("{ss,ss,ss}", "what", what, "name", v->plan->name, "to", to),
		e);
}

static int move_to(struct session *s, const struct session_volume *v,
	const struct placement *to, const char *text, struct move_outcome *out,
	struct err *e)
{
	const struct move_options o = {
		.device = v->device.path, .to = to, .verify = VERIFY_NONE};
	int r = note_place(s, "place", v, text, e);

	if (!r)
		r = move_run(&o, out, e);
	return r ? r : note_place(s, "placed", v, text, e);
}

/*
 * Takes the journal that is in the volume away.  A new one is made beside an old one, and
 * one of the wanted size would be left where it is: then where it lies in this arm would
 * depend on the arm before.
 */
static int clear_way(struct session *s, const struct session_volume *v, struct err *e)
{
	const struct placement none = {.place = JOURNAL_NONE};
	_cleanup_(move_outcome_deinit) struct move_outcome out = {0};
	_cleanup_(volume_info_deinit) struct volume_info info = {0};
	_cleanup_(claim_releasep) struct claim *claim = NULL;
	int r = claim_take(&claim, v->device.path, false, e);

	if (!r)
		r = volume_info_read(&info, claim_fd(claim), v->device.path, e);
	claim = claim_release(claim);
	if (r || info.place != JOURNAL_INLINE)
		return r;
	return move_to(s, v, &none, "none", &out, e);
}

static int place_one(struct session *s, size_t volume, struct err *e)
{
	struct session_volume *v = &s->volumes[volume];
	struct placement to = session_arm(s)->placement;
	_cleanup_(move_outcome_deinit) struct move_outcome out = {0};
	_cleanup_close_ int pin = -1, journal_pin = -1;
	char *text;
	int r = devices_pin(&pin, &v->device, e);

	if (!r)
		r = devices_pin(&journal_pin, &s->journals[s->arm], e);
	if (r)
		return r;
	/* The plan may name a disk of ours or use a tag. */
	if (to.device)
		to.device = s->journals[s->arm].path;
	text = placement_format(&to);
	if (!text)
		return err_set(e, ENOMEM, "place the journal");
	if (to.place == JOURNAL_INLINE && v->placed && !strcmp(v->placement, text))
		out.nothing_to_do = true;
	else if (to.place == JOURNAL_INLINE)
		r = clear_way(s, v, e);
	if (!r && !out.nothing_to_do)
		r = move_to(s, v, &to, text, &out, e);
	if (r) {
		free(text);
		return r;
	}
	free(v->placement);
	v->placement = text;
	v->placed = true;
	warn_once(s, v, &out);
	r = add_fact(record_of(s, volume), "placement", json_string(text), e);
	return r ? r : record_move(record_of(s, volume), &out, e);
}

int volumes_place(void *session, struct err *e)
{
	struct session *s = session;

	for (size_t i = 0; i < s->x->volume_count; i++) {
		int r = place_one(s, i, e);

		if (r)
			return err_wrap(e, r, "volume %s", s->x->volumes[i].name);
	}
	return 0;
}

int volumes_fsck(void *session, struct err *e)
{
	struct session *s = session;

	for (size_t i = 0; i < s->x->volume_count; i++) {
		int r = fsck_check(
			s->volumes[i].device.path, s->journals[s->arm].path, e);

		if (!r)
			r = add_fact(record_of(s, i), "fsck", json_string("clean"), e);
		if (r)
			return err_wrap(e, r, "volume %s", s->x->volumes[i].name);
	}
	return 0;
}

/* Where an inline journal lies: a move frees and allocates it anew. */
static int record_journal(json_t *record, const struct volume_info *info, struct err *e)
{
	int r;

	if (info->place != JOURNAL_INLINE || !info->run_count)
		return 0;
	r = add_fact(record, "journal_first_block",
		json_integer((json_int_t)info->runs[0].first), e);
	return r ? r
		 : add_fact(record, "journal_extents", json_integer(info->run_count), e);
}

/* Type to mount as, and what is known of the journal, read from the volume itself. */
static int look_at(struct session *s, size_t volume, const char **type, struct err *e)
{
	const struct session_volume *v = &s->volumes[volume];
	_cleanup_(volume_info_deinit) struct volume_info info = {0};
	_cleanup_(claim_releasep) struct claim *claim = NULL;
	int r = claim_take(&claim, v->device.path, false, e);

	if (!r)
		r = volume_info_read(&info, claim_fd(claim), v->device.path, e);
	if (!r && info.place != session_arm(s)->placement.place)
		r = err_say(
			e, EIO, "after the move the journal is not where it should be");
	if (!r)
		r = record_journal(record_of(s, volume), &info, e);
	if (!r)
		*type = info.type;
	return r;
}

/* Without a journal, options like data= would be refused by the kernel. */
static char *planned_options(const struct session *s, const struct session_volume *v)
{
	char *options = plan_mount_options(v->plan, session_arm(s)), *rest;

	if (!options || !*options || session_arm(s)->placement.place != JOURNAL_NONE)
		return options;
	rest = mount_options_strip_journal(options, true);
	free(options);
	return rest;
}

static int mount_options(const struct session *s, const struct session_volume *v,
	char **out, struct err *e)
{
	_cleanup_free_ char *planned = planned_options(s, v);
	const char *journal = s->journals[s->arm].path;

	/* The number of the journal's device in the superblock may be that of another
	 * boot; the path is right. */
	if (planned &&
		asprintf(out, "%s%s%s%s", planned, journal && *planned ? "," : "",
			journal ? "journal_path=" : "", journal ? journal : "") >= 0)
		return 0;
	*out = NULL;
	return err_set(e, ENOMEM, "mount %s", v->device.path);
}

/* A directory for the workloads.  An empty one was left by a crash; one with files in it
 * is not ours to remove. */
static int make_directory(struct session *s, struct session_volume *v, struct err *e)
{
	_cleanup_free_ char *path = NULL;
	int r;

	if (asprintf(&path, "%s/" RUN_WORK_DIRECTORY, v->target) < 0) {
		path = NULL;
		return err_set(e, ENOMEM, "mount %s", v->device.path);
	}
	r = history_note(s, "mount", v->plan->name, e);
	if (r)
		return r;
	r = mkdir(path, 0711);
	if (r && errno == EEXIST && !rmdir(path))
		r = mkdir(path, 0711);
	if (r)
		return err_set(e, errno, "make the directory " RUN_WORK_DIRECTORY " in %s",
			v->device.path);
	v->directory = take_ptr(path);
	return history_note(s, "work", v->plan->name, e);
}

static int mount_one(struct session *s, size_t volume, struct err *e)
{
	struct session_volume *v = &s->volumes[volume];
	_cleanup_free_ char *options = NULL, *in_force = NULL;
	_cleanup_close_ int pin = -1, journal_pin = -1;
	const char *type = NULL;
	int r = devices_pin(&pin, &v->device, e);

	if (!r)
		r = devices_pin(&journal_pin, &s->journals[s->arm], e);
	if (!r)
		r = look_at(s, volume, &type, e);
	if (!r)
		r = mount_options(s, v, &options, e);
	if (!r)
		r = mount_volume(v->device.path, v->target, type, options, e);
	if (r)
		return r;
	v->mounted = true;
	r = environment_mount(v->target, &in_force, e);
	if (!r)
		r = add_fact(record_of(s, volume), "mount_type", json_string(type), e);
	if (!r)
		r = add_fact(
			record_of(s, volume), "mount_options", json_string(options), e);
	if (!r)
		r = add_fact(record_of(s, volume), "mount_options_in_force",
			json_string(in_force), e);
	return r ? r : make_directory(s, v, e);
}

int volumes_mount(void *session, struct err *e)
{
	struct session *s = session;

	for (size_t i = 0; i < s->x->volume_count; i++) {
		int r = mount_one(s, i, e);

		if (r)
			return err_wrap(e, r, "volume %s", s->x->volumes[i].name);
	}
	return 0;
}

enum { SUPERBLOCK_REACH_BYTES = 4096 }; /* it ends before */

/* After an error the kernel may not have written what it unmounted: the directory of the
 * workloads, removed in memory, may be on the disk with all that was in it. */
static bool is_written(const struct session_volume *v)
{
	_cleanup_(volume_info_deinit) struct volume_info info = {0};
	_cleanup_(claim_releasep) struct claim *claim = NULL;

	if (devices_hold(&claim, &v->device, NULL))
		return false;
	fileio_forget_cached(claim_fd(claim), 0, SUPERBLOCK_REACH_BYTES);
	return !volume_info_read(&info, claim_fd(claim), v->device.path, NULL) &&
	       info.state_valid && !info.state_error && !info.needs_recovery;
}

static int unmount_one(struct session *s, struct session_volume *v, struct err *e)
{
	int r = 0, unmounted;

	if (!v->mounted)
		return 0;
	if (v->directory && rmdir(v->directory))
		r = err_set(e, errno, "remove %s", v->directory);
	free(take_ptr(v->directory));
	unmounted = mount_unmount(v->target, r ? NULL : e);
	v->mounted = unmounted != 0;
	if (r || unmounted)
		return r ? r : unmounted;
	return is_written(v) ? history_note(s, "unmounted", v->plan->name, e) : 0;
}

int volumes_unmount(void *session, struct err *e)
{
	struct session *s = session;
	int first = 0;

	for (size_t i = 0; i < s->x->volume_count; i++) {
		int r = unmount_one(s, &s->volumes[i], first ? NULL : e);

		if (r && !first)
			first = err_wrap(e, r, "volume %s", s->x->volumes[i].name);
	}
	return first;
}

/* jbd2 names its directory after the device that holds the journal, and after the inode
 * when the journal is a file in the volume: "sdb1-8", "sdc1". */
char *volumes_jbd2_name(const struct session *s, size_t volume)
{
	const struct session_volume *v = &s->volumes[volume];
	const struct session_device *journal = &s->journals[s->arm];
	const char *kernel = journal->path ? journal->identity.kernel_name
					   : v->device.identity.kernel_name;

	return kernel ? jbd2_name(kernel, journal->path ? 0 : 8) : NULL;
}

int volumes_verify(void *session, struct err *e)
{
	struct session *s = session;
	int r = 0;

	if (session_arm(s)->placement.place == JOURNAL_NONE ||
		access("/proc/fs/jbd2", F_OK))
		return 0;
	for (size_t i = 0; !r && i < s->x->volume_count; i++) {
		_cleanup_free_ char *name = volumes_jbd2_name(s, i), *path = NULL;

		if (!name || asprintf(&path, "/proc/fs/jbd2/%s", name) < 0) {
			path = NULL;
			return err_set(e, ENOMEM, "verify the journal");
		}
		if (access(path, F_OK))
			return err_say(e, ENOENT,
				"the kernel does not write the journal where the plan "
				"says: "
				"there is no %s",
				path);
		r = add_fact(record_of(s, i), "jbd2", json_string(name), e);
	}
	return r;
}
