/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Finding, holding and reading the devices of a move; see subject.h. */

#include "placement/subject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/stat.h>

#include "device/find.h"
#include "mount/mount.h"

static void add_line(struct strbuf *b, const char *fmt, va_list ap)
{
	_cleanup_free_ char *line = NULL;

	if (vasprintf(&line, fmt, ap) < 0) {
		line = NULL;
		return;
	}
	if (b->length)
		strbuf_add(b, "\n");
	strbuf_add(b, line);
}

void subject_refuse(struct subject *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(&s->reasons, fmt, ap);
	va_end(ap);
}

void subject_warn(struct subject *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(&s->warnings, fmt, ap);
	va_end(ap);
}

static void member_deinit(struct member *m)
{
	claim_release(m->claim);
	free(m->path);
	volume_info_deinit(&m->info);
	*m = (struct member){ 0 };
}

static bool is_mounted(const char *path)
{
	_cleanup_free_ char *target = NULL;
	struct stat st;

	if (stat(path, &st) || !S_ISBLK(st.st_mode))
		return false;
	target = mount_find_target(st.st_rdev);
	return target;
}

/* Holds a member; if that is refused, the reason is noted and it is only read. */
static void hold(struct subject *s, struct member *m)
{
	_cleanup_(err_clear) struct err e = { 0 };

	if (!claim_take(&m->claim, m->path, true, &e))
		return;
	/* The mount holds the journal, too. */
	if (s->mounted && m != &s->target)
		return;
	subject_refuse(s, "%s%s", err_message(&e),
		m == &s->volume && !geteuid() && is_mounted(m->path)
			? "; unmount it, or add \"--remount\" to the move"
			: "");
}

static int read_info(struct member *m, struct err *e)
{
	_cleanup_close_ int fd = -1;
	int r;

	if (!m->claim) {
		fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			return claim_cannot_open(m->path, e);
	}
	r = volume_info_read(&m->info, m->claim ? claim_fd(m->claim) : fd, m->path, e);
	m->readable = !r;
	return r;
}

/* A device that fails is no reason against the move, but its end. */
static int refuse_or_fail(struct subject *s, int r, const struct err *why, struct err *e)
{
	if (r == -EIO)
		return err_say(e, EIO, "%s", err_message(why));
	if (r)
		subject_refuse(s, "%s", err_message(why));
	return 0;
}

static int open_old_journal(struct subject *s, struct err *outer)
{
	_cleanup_(err_clear) struct err e = { 0 };
	char spec[64];
	int r;

	snprintf(spec, sizeof(spec), "UUID=%s", s->volume.info.journal_uuid);
	r = device_find(spec, &s->old_journal.path, &e);
	s->journal_missing = r == -ENOENT;
	if (r) {
		/* Of two copies one is the journal: that is not lost. */
		subject_refuse(s, "the journal device of %s (UUID %s) cannot be used: %s%s",
			s->volume.path, s->volume.info.journal_uuid, err_message(&e),
			s->journal_missing
				? "; connect it, or, if it is gone for good, add \"--lost-journal\""
				: "; disconnect the copy");
		return 0;
	}
	hold(s, &s->old_journal);
	return refuse_or_fail(s, read_info(&s->old_journal, &e), &e, outer);
}

/* One device, though perhaps by two names. */
static bool is_same(const char *path, const char *other)
{
	struct stat a, b;

	if (!strcmp(path, other))
		return true;
	if (stat(path, &a) || stat(other, &b) || (a.st_mode & S_IFMT) != (b.st_mode & S_IFMT))
		return false;
	return S_ISBLK(a.st_mode) ? a.st_rdev == b.st_rdev
				  : a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int open_target(struct subject *s, struct err *outer)
{
	_cleanup_(err_clear) struct err e = { 0 };
	int r;

	if (device_find(s->to->device, &s->target.path, &e)) {
		subject_refuse(s, "%s", err_message(&e));
		return 0;
	}
	if (is_same(s->target.path, s->volume.path)) {
		subject_refuse(s, "%s is the volume itself; its journal cannot be external on it",
			s->target.path);
		return 0;
	}
	if (s->old_journal.path && is_same(s->target.path, s->old_journal.path)) {
		s->same_device = true;
		return 0;
	}
	hold(s, &s->target);
	if (!s->target.claim)
		return 0;
	r = signature_list_read(&s->signatures, claim_fd(s->target.claim), s->target.path, &e);
	r = refuse_or_fail(s, r, &e, outer);
	/* No journal device yet is the ordinary case, not an error. */
	if (!r)
		read_info(&s->target, NULL);
	return r;
}

/* What holds no volume, or one that cannot be trusted, is refused, not a failure. */
static int no_volume(const struct subject *s, int r, struct err *e)
{
	if (s->reasons.length)
		return err_refuse(e, "%s", strbuf_text(&s->reasons));
	if (r == -EMEDIUMTYPE || r == -EUCLEAN)
		e->kind = ERR_REFUSED;
	return r;
}

int subject_open(struct subject *s, const struct subject_options *o, struct err *e)
{
	int r;

	*s = (struct subject){ .to = o->to, .overwrite = o->overwrite,
		.mounted = o->mounted };
	r = device_find(o->device, &s->volume.path, e);
	if (r) {
		e->kind = ERR_REFUSED;
		return r;
	}
	hold(s, &s->volume);
	r = read_info(&s->volume, e);
	if (r)
		return no_volume(s, r, e);
	if (s->volume.info.kind == VOLUME_FILESYSTEM &&
		s->volume.info.place == JOURNAL_EXTERNAL)
		r = open_old_journal(s, e);
	if (!r && o->to->place == JOURNAL_EXTERNAL)
		r = open_target(s, e);
	return r;
}

bool subject_may_overwrite(const struct subject *s, const char *type)
{
	return signature_types_have(s->overwrite, type);
}

const struct claim *subject_new_journal(const struct subject *s)
{
	return s->same_device ? s->old_journal.claim : s->target.claim;
}

void subject_release(struct subject *s)
{
	s->volume.claim = claim_release(s->volume.claim);
	s->old_journal.claim = claim_release(s->old_journal.claim);
	s->target.claim = claim_release(s->target.claim);
}

void subject_deinit(struct subject *s)
{
	member_deinit(&s->volume);
	member_deinit(&s->old_journal);
	member_deinit(&s->target);
	signature_list_deinit(&s->signatures);
	strbuf_deinit(&s->reasons);
	strbuf_deinit(&s->warnings);
}
