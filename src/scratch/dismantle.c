/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Taking a scratch disk apart; see dismantle.h.
 *
 * In the opposite order of making it.  Each part is looked for where it would be instead
 * of trusting a record of what was made, and one that is not there is no error.  So this
 * is also the undo of a failed create, and what repairs after kill -9 or a reboot.
 */

#include "scratch/dismantle.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>

#include "core/macros.h"
#include "scratch/loopdev.h"
#include "scratch/model_control.h"
#include "scratch/model_device.h"
#include "scratch/model_process.h"

#define END_TIMEOUT_MS 5000
#define TRIES 20

int dismantle_find(char ***devices, size_t *count, const struct scratch_state *s,
	struct err *e)
{
	_cleanup_free_ char *backing = scratch_state_backing(s);
	_cleanup_free_ char *pattern = scratch_state_backing_pattern(s);

	if (!backing || !pattern)
		return err_set(e, ENOMEM, "find the loop device of %s", s->name);
	return loopdev_find(devices, count, backing, pattern, e);
}

static void pause_a_moment(void)
{
	const struct timespec pause = { .tv_nsec = 50000000L };

	nanosleep(&pause, NULL);
}

static int unmount(const char *mountpoint, struct err *e)
{
	for (int i = 0; i < TRIES; i++) {
		if (!umount2(mountpoint, UMOUNT_NOFOLLOW))
			continue; /* mounts may lie upon each other */
		if (errno == EINVAL || errno == ENOENT)
			return 0;
		if (errno != EBUSY)
			return err_set(e, errno, "unmount %s", mountpoint);
		pause_a_moment();
	}
	/* Somebody has a file open; the mount goes when they close it. */
	if (umount2(mountpoint, UMOUNT_NOFOLLOW | MNT_DETACH) && errno != EINVAL)
		return err_set(e, errno, "unmount %s", mountpoint);
	return 0;
}

static int for_all(int (*act)(const char *device, struct err *e),
	const struct scratch_state *s, struct err *e)
{
	char **devices = NULL;
	size_t count = 0;
	int r = dismantle_find(&devices, &count, s, e);

	for (size_t i = 0; !r && i < count; i++)
		r = act(devices[i], e);
	loopdev_list_free(devices, count);
	return r;
}

/* One try; a model that was just being started may put things back meanwhile. */
static int try_remove_run_dir(const char *dir, const char *mountpoint,
	const char *const *files, struct err *e)
{
	int r = unmount(mountpoint, e);

	if (!r)
		r = model_process_end(dir, END_TIMEOUT_MS, e);
	if (r)
		return r;
	for (; *files; files++)
		unlink(*files);
	if ((rmdir(mountpoint) && errno != ENOENT) || (rmdir(dir) && errno != ENOENT))
		return err_set(e, errno, "remove %s", dir);
	return 0;
}

static int remove_run_dir(const char *name, struct err *e)
{
	_cleanup_free_ char *dir = scratch_run_path(name, NULL);
	_cleanup_free_ char *mountpoint = scratch_run_path(name, MODEL_MOUNT);
	_cleanup_free_ char *lock = scratch_run_path(name, MODEL_LOCK);
	_cleanup_free_ char *socket = scratch_run_path(name, MODEL_SOCKET);
	_cleanup_free_ char *busy = scratch_run_path(name, MODEL_BUSY);
	const char *const files[] = { lock, socket, busy, NULL };
	int r;

	if (!dir || !mountpoint || !lock || !socket || !busy)
		return err_set(e, ENOMEM, "destroy scratch disk");
	for (int i = 0;; i++) {
		r = try_remove_run_dir(dir, mountpoint, files, e);
		if ((r != -ENOTEMPTY && r != -EBUSY) || i == TRIES)
			return r;
		err_clear(e);
		pause_a_moment();
	}
}

/* What is dirty need not wait for its time; and a model that hangs must not let us hang. */
static int hurry(const char *name, struct err *e)
{
	_cleanup_(err_clear) struct err ignored = { 0 };
	_cleanup_free_ char *dir = scratch_run_path(name, NULL);

	if (!dir)
		return err_set(e, ENOMEM, "destroy scratch disk");
	if (model_control(name, MODEL_CONTROL_FREE, &ignored) == -ETIMEDOUT)
		return model_process_kill(dir, e);
	return 0;
}

int dismantle_keep(const struct scratch_state *s, struct err *e)
{
	_cleanup_(err_clear) struct err ignored = { 0 };
	bool model = !model_is_none(s->model);
	int r = for_all(loopdev_refuse_used, s, e);

	if (!r && model)
		r = hurry(s->name, e);
	if (r)
		return r;
	r = for_all(loopdev_detach, s, e);
	if (r && model) /* somebody was quicker: it is a disk again */
		model_control(s->name, MODEL_CONTROL_CHARGE, &ignored);
	return r ? r : remove_run_dir(s->name, e);
}

int dismantle(const struct scratch_state *s, struct err *e)
{
	int r = dismantle_keep(s, e);

	if (!r && unlink(s->file) && errno != ENOENT)
		r = err_set(e, errno, "remove %s", s->file);
	return r ? r : scratch_state_remove(s->name, e);
}

int dismantle_damaged(const char *name, struct err *e)
{
	const struct scratch_state s = { .name = (char *)name, .model = "?" };
	int r = for_all(loopdev_detach, &s, e);

	if (!r)
		r = remove_run_dir(name, e);
	return r ? r : scratch_state_remove(name, e);
}
