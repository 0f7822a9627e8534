/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Move of a mounted volume; see remount.h.  journal_path= is never shown in the mount
 * table, so the new mount gets it from the outcome of the move.
 */

#include "placement/remount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/ending_signals.h"
#include "device/find.h"
#include "mount/mount.h"
#include "volume/volume.h"

/* As it is now, however far the move came. */
static enum journal_place place_of(const char *device)
{
	_cleanup_close_ int fd = open(device, O_RDONLY | O_CLOEXEC);
	struct volume_info v = { 0 };
	enum journal_place place = JOURNAL_INLINE;

	if (fd >= 0 && !volume_info_read(&v, fd, device, NULL))
		place = v.place;
	volume_info_deinit(&v);
	return place;
}

static int mount_again(const char *device, const struct mount_state *was,
	const struct move_outcome *out, const struct move_options *o, struct err *e)
{
	bool none = place_of(device) == JOURNAL_NONE;
	_cleanup_free_ char *kept = mount_options_strip_journal(was->options, none);
	_cleanup_free_ char *options = NULL;
	const char *type = was->type;

	if (!kept || asprintf(&options, "%s%s%s", kept,
		    out->journal_device ? ",journal_path=" : "",
		    out->journal_device ? out->journal_device : "") < 0)
		return err_set(e, ENOMEM, "mount %s", device);
	if (none && !strcmp(type, "ext3"))
		type = "ext4"; /* which takes volumes without journal too */
	log_line(o->log, LOG_NOTE, "mounting %s on %s again", device, was->target);
	return mount_volume(device, was->target, type, options, e);
}

static int unmount_move_mount(const struct move_options *o, const char *device,
	const struct mount_state *was, struct move_outcome *result, struct err *e)
{
	_cleanup_(err_clear) struct err mount_error = { 0 };
	int r = mount_unmount(was->target, e), again;

	if (r == -EBUSY)
		e->kind = ERR_REFUSED;
	if (r)
		return r;
	r = move_run(o, result, e);
	if (r && e->kind == ERR_NEEDS_RECOVER)
		return err_wrap(e, r, "%s, which was mounted on %s, stays unmounted", device,
			was->target);
	again = mount_again(device, was, result, o, &mount_error);
	if (again && !r)
		r = err_say(e, -again, "the journal has moved, but %s",
			err_message(&mount_error));
	else if (again)
		log_line(o->log, LOG_WARNING, "%s", err_message(&mount_error));
	return r;
}

/* The directory, or the part of its path that exists, would be what the mount covers: a log
 * written there would be out of sight as soon as the volume is mounted again. */
static int check_state_dir(const struct move_options *o, const char *device, dev_t volume,
	struct err *e)
{
	const char *directory = o->state_dir ? o->state_dir : MOVE_STATE_DIR;
	_cleanup_free_ char *path = strdup(*directory ? directory : ".");
	struct stat st;

	if (!path)
		return err_set(e, ENOMEM, "look at %s", directory);
	while (stat(path, &st)) {
		char *slash = strrchr(path, '/');

		if (!strcmp(path, "/") || !strcmp(path, "."))
			return 0; /* writing the log will tell */
		if (slash && slash != path)
			*slash = '\0';
		else
			strcpy(path, slash ? "/" : ".");
	}
	return st.st_dev != volume
		? 0
		: err_refuse(e,
			  "%s, where the intent log is kept, lies on %s, which is to be "
			  "unmounted; name another directory with --state-dir",
			  directory, device);
}

/* What a move would do around its own steps. */
static int describe(const struct move_options *o, const struct mount_state *was,
	struct move_outcome *out, struct err *e)
{
	struct move_options mounted = *o;
	_cleanup_free_ char *options = NULL;
	char *steps;
	int r;

	mounted.mounted = true;
	r = move_run(&mounted, out, e);
	if (r || out->nothing_to_do)
		return r;
	options = mount_options_strip_journal(was->options, o->to->place == JOURNAL_NONE);
	if (!options ||
		asprintf(&steps, "unmount %s from %s, where nothing may be open\n%s"
				 "mount %s on %s again, with %s\n", out->device, was->target,
			out->steps, out->device, was->target, options) < 0)
		return err_set(e, ENOMEM, "describe move");
	free(out->steps);
	out->steps = steps;
	return 0;
}

int remount_move(const struct move_options *o, struct move_outcome *out, struct err *e)
{
	_cleanup_(mount_state_deinit) struct mount_state was = { 0 };
	_cleanup_(move_outcome_deinit) struct move_outcome result = { 0 };
	_cleanup_free_ char *device = NULL;
	struct stat st;
	sigset_t before;
	int r = device_find(o->device, &device, e), number;

	if (r)
		return r;
	if (stat(device, &st))
		return err_set(e, errno, "look at %s", device);
	r = S_ISBLK(st.st_mode) ? mount_state_read(&was, st.st_rdev, e) : -ENOENT;
	if (r == -ENOENT)
		return move_run(o, out, e);
	if (!r && !o->dry_run && geteuid())
		r = err_refuse(e, "%s is mounted on %s, and it takes root to unmount it for the "
				  "move", device, was.target);
	if (!r)
		r = mount_check_alone(st.st_rdev, e);
	if (!r)
		r = check_state_dir(o, device, st.st_rdev, e);
	if (r || o->dry_run)
		return r ? r : describe(o, &was, out, e);
	/* Whoever interrupts it gets the volume back where it was mounted. */
	ending_signals_hold(&before);
	r = unmount_move_mount(o, device, &was, &result, e);
	number = ending_signals_take();
	ending_signals_release(&before);
	if (r)
		return r;
	*out = result;
	result = (struct move_outcome){ 0 };
	return number ? err_interrupted(e, number) : 0;
}
