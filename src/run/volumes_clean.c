/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Volumes after a kill, a power cut or a reboot; see volumes.h.  The state log says what
 * was begun with each of them: a volume that was being made is made anew by whoever goes
 * on, every other one is brought into order first.
 */

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "device/find.h"
#include "mount/mount.h"
#include "placement/recover.h"
#include "run/devices.h"
#include "run/history.h"
#include "run/leftovers.h"
#include "run/volumes.h"
#include "volume/fsck.h"
#include "volume/volume.h"

enum { OPEN_DIRECTORIES = 16 };

static int remove_one(const char *path, const struct stat *st _unused_, int type _unused_,
	struct FTW *ftw _unused_)
{
	return remove(path);
}

/* Files of workloads that were never removed.  The directory is ours: its making was
 * recorded, and it did not exist before. */
static int remove_work(const struct session_volume *v, bool made, struct err *e)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/" RUN_WORK_DIRECTORY, v->target) < 0) {
		path = NULL;
		return err_set(e, ENOMEM, "clean %s", v->device.path);
	}
	if (!made) {
		/* It was perhaps made just before the end, and is empty then. */
		rmdir(path);
		return 0;
	}
	if (nftw(path, remove_one, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) &&
		errno != ENOENT)
		return err_set(e, errno, "remove %s of %s", RUN_WORK_DIRECTORY,
			v->device.path);
	return 0;
}

static int type_of(const struct session_volume *v, const char **type, struct err *e)
{
	_cleanup_(volume_info_deinit) struct volume_info info = {0};
	int r = devices_read_volume(&info, &v->device, e);

	if (!r)
		*type = info.type;
	return r;
}

static int clean_files(struct session *s, struct session_volume *v, struct err *e)
{
	static const char words[] = "mount work unmounted made unmade";
	bool made = history_ends(s, words, v->plan->name, "work");
	_cleanup_close_ int pin = -1;
	const char *type = NULL;
	int r, unmounted;

	if (!made && !history_ends(s, words, v->plan->name, "mount"))
		return 0;
	r = devices_pin(&pin, &v->device, e);
	if (!r)
		r = type_of(v, &type, e);
	if (!r)
		r = mount_volume(v->device.path, v->target, type, NULL, e);
	if (r)
		return r;
	r = remove_work(v, made, e);
	unmounted = mount_unmount(v->target, r ? NULL : e);
	if (r || unmounted)
		return r ? r : unmounted;
	return history_note(s, "unmounted", v->plan->name, e);
}

static bool was_moved(const struct session *s, const struct session_volume *v)
{
	static const char words[] = "place placed back backed";

	return history_last(s, words, v->plan->name) &&
	       !history_ends(s, words, v->plan->name, "backed");
}

static int clean_one(struct session *s, struct session_volume *v, struct err *e)
{
	const struct recover_options o = {.device = v->device.path, .log = s->o->log};
	_cleanup_(recover_outcome_deinit) struct recover_outcome out = {0};
	_cleanup_close_ int pin = -1;
	int r = devices_pin(&pin, &v->device, e);

	if (!r)
		r = recover_settle(&o, &out, e);
	if (!r)
		r = clean_files(s, v, e);
	if (r)
		return err_wrap(e, r, "volume %s", v->plan->name);
	if (was_moved(s, v) && !v->placement)
		v->placement = take_ptr(out.placement);
	return 0;
}

/* Nothing is on it, or nothing was done with it. */
static bool is_unmade(const struct session *s, const struct session_volume *v)
{
	if (!v->device.path)
		return true;
	return v->plan->type ? !history_is_made(s, v) : !v->existed;
}

/* On the way back, volumes that the run has made matter less than those that existed. */
static int forgive(const struct session *s, const struct session_volume *v, int r,
	struct err *e)
{
	if (!r || s->o->mode != RUN_RESTORE || !v->plan->type)
		return r;
	log_line(s->o->log, LOG_WARNING, "%s; the run had made this volume",
		err_message(e));
	err_clear(e);
	return 0;
}

int volumes_clean(void *session, struct err *e)
{
	struct session *s = session;
	int r = 0;

	for (size_t i = 0; !r && s->past && i < s->x->volume_count; i++)
		if (!is_unmade(s, &s->volumes[i]))
			r = forgive(s, &s->volumes[i], clean_one(s, &s->volumes[i], e), e);
	return r;
}

static int check_one(struct session *s, const struct session_volume *v, struct err *e)
{
	const char *path = v->device.path;
	int r;

	if (!path)
		return 0;
	if (v->plan->type && is_unmade(s, v)) {
		log_line(s->o->log, LOG_WARNING,
			"volume %s (%s): the run ended while it made this volume, there is "
			"none now",
			v->plan->name, path);
		return 0;
	}
	r = fsck_check(path, NULL, e);
	if (r)
		return err_wrap(e, r, "volume %s", v->plan->name);
	log_line(s->o->log, LOG_NOTE, "volume %s (%s) is whole", v->plan->name, path);
	return 0;
}

int volumes_check_all(void *session, struct err *e)
{
	struct session *s = session;
	int r = 0;

	for (size_t i = 0; !r && i < s->x->volume_count; i++)
		r = forgive(s, &s->volumes[i], check_one(s, &s->volumes[i], e), e);
	return r;
}
