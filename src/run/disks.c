/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Scratch disks of a run; see disks.h.  They are named after the process that made them,
 * so that what a crash left behind never stands in the way of another run; "scratch list"
 * shows it and "scratch destroy" removes it.
 */

#include "run/disks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "run/history.h"

#define DISK_WORDS "disk disk-made disk-destroy disk-gone"

static int note(struct session *s, const char *what, size_t disk, const char *scratch,
	struct err *e)
{
	return history_add(s,
		json_pack("{ss,ss,ss}", "what", what, "name", s->x->disks[disk].name,
			"scratch", scratch),
		e);
}

/* What the run has made elsewhere may have had its journal on a disk that went. */
static int note_unmade(struct session *s, struct err *e)
{
	int r = 0;

	for (size_t i = 0; !r && s->past && i < s->x->volume_count; i++)
		if (s->x->volumes[i].type)
			r = history_note(s, "unmade", s->x->volumes[i].name, e);
	return r;
}

static int make(struct session *s, size_t i, struct err *e)
{
	const struct plan_disk *d = &s->x->disks[i];
	char name[64];
	const struct scratch_options o = {
		name, d->size_bytes, d->model, d->directory, s->o->log};
	int r;

	/* At most 32 characters: the number of the disk keeps cut names apart. */
	snprintf(name, sizeof(name), "run%d-%zu-%.14s", (int)s->o->process, i, d->name);
	r = note(s, "disk", i, name, e);
	if (!r)
		r = note_unmade(s, e);
	if (!r)
		r = scratch_create(&o, &s->disks[i], e);
	if (!r)
		r = note(s, "disk-made", i, name, e);
	s->has_new_disks = true;
	return r ? err_wrap(e, r, "disk %s", d->name) : 0;
}

int disks_make(void *session, struct err *e)
{
	struct session *s = session;
	int r = 0;

	for (size_t i = 0; !r && i < s->x->disk_count; i++)
		if (!s->disks[i].name)
			r = make(s, i, e);
	return r;
}

static int forget(struct session *s, size_t i, const char *scratch, struct err *e)
{
	int r = scratch_destroy(scratch, s->o->log, e);

	if (r == -ENOENT) {
		err_clear(e);
		r = 0;
	}
	return r ? r : note(s, "disk-gone", i, scratch, e);
}

static int take_up(struct session *s, size_t i, struct err *e)
{
	const char *name = s->x->disks[i].name;
	const json_t *record = history_last(s, DISK_WORDS, name);
	const char *scratch = json_string_value(json_object_get(record, "scratch"));
	int r;

	if (!scratch || history_ends(s, DISK_WORDS, name, "disk-gone"))
		return 0;
	/* Killed while it was made or destroyed: what there is of it is worth nothing. */
	if (!history_ends(s, DISK_WORDS, name, "disk-made"))
		return forget(s, i, scratch, e);
	r = scratch_adopt(scratch, s->o->log, &s->disks[i], e);
	if (r != -ENOENT)
		return r;
	err_clear(e);
	log_line(s->o->log, LOG_WARNING, "the scratch disk %s is gone%s", name,
		s->o->mode == RUN_RESTORE ? "" : ": it is made anew");
	return forget(s, i, scratch, e);
}

int disks_take_up(void *session, struct err *e)
{
	struct session *s = session;
	int r = 0;

	for (size_t i = 0; !r && i < s->x->disk_count; i++) {
		r = take_up(s, i, e);
		if (r)
			err_wrap(e, r, "disk %s", s->x->disks[i].name);
	}
	return r;
}

static int destroy(struct session *s, size_t i, struct err *e)
{
	struct scratch_disk *d = &s->disks[i];
	int r = note(s, "disk-destroy", i, d->name, e);

	if (!r)
		r = scratch_destroy(d->name, s->o->log, e);
	return r ? r : note(s, "disk-gone", i, d->name, e);
}

int disks_destroy(void *session, struct err *e)
{
	struct session *s = session;
	int first = 0;

	for (size_t i = s->x->disk_count; i--;) {
		struct scratch_disk *d = &s->disks[i];
		_cleanup_(err_clear) struct err more = {0};
		int r = 0;

		if (!d->name)
			continue;
		if (s->o->keep)
			log_line(s->o->log, LOG_NOTE,
				"kept the scratch disk %s on %s; \"jbdlab scratch "
				"destroy %s\" removes it",
				d->name, d->device, d->name);
		else
			r = destroy(s, i, first ? &more : e);
		if (r && first)
			log_line(s->o->log, LOG_WARNING, "%s", err_message(&more));
		first = first ? first : r;
		scratch_disk_deinit(d);
	}
	return first;
}
