/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Which device was it?  See blame.h.  The kernel logs only some of the errors when there
 * are many, so that silence does not mean that a device is well.
 */

#include "run/blame.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mount/kernel_log.h"

struct suspects {
	const struct session_device **devices;
	const char **names; /* kernel names, parallel; they belong to the session */
	char **roles;	    /* owned texts, parallel */
	char **lines;	    /* what the kernel said first, parallel; NULL: nothing */
	size_t count;
};

static void suspects_deinit(struct suspects *x)
{
	for (size_t i = 0; i < x->count; i++) {
		free(x->roles[i]);
		free(x->lines[i]);
	}
	free(x->devices);
	free(x->names);
	free(x->roles);
	free(x->lines);
}

static void add(struct suspects *x, const struct session_device *d, const char *what,
	const char *name)
{
	if (!d->path || !d->identity.kernel_name)
		return;
	for (size_t i = 0; i < x->count; i++)
		if (!strcmp(x->devices[i]->path, d->path))
			return;
	if (asprintf(&x->roles[x->count], "%s %s", what, name) < 0) {
		x->roles[x->count] = NULL;
		return;
	}
	x->devices[x->count] = d;
	x->names[x->count++] = d->identity.kernel_name;
}

static bool find(struct suspects *x, const struct session *s)
{
	size_t room = s->x->volume_count + s->x->arm_count + 1;

	x->devices = calloc(room, sizeof(*x->devices));
	x->names = calloc(room, sizeof(*x->names));
	x->roles = calloc(room, sizeof(*x->roles));
	x->lines = calloc(room, sizeof(*x->lines));
	if (!x->devices || !x->names || !x->roles || !x->lines)
		return false;
	for (size_t i = 0; i < s->x->volume_count; i++)
		add(x, &s->volumes[i].device, "volume", s->x->volumes[i].name);
	for (size_t i = 0; i < s->x->arm_count; i++)
		add(x, &s->journals[i], "journal", s->x->arms[i].name);
	return x->count > 0;
}

/* Is it an error that comes of a device that fails?  A file system that gave up because of
 * one is read-only, and mount(2) has no better word than "Invalid argument". */
static bool is_of_device(int code)
{
	static const int codes[] = { EIO, EROFS, ENXIO, ENODEV, EINVAL, EUCLEAN, EREMOTEIO,
		ENODATA, ETIMEDOUT, EBADMSG, ESTALE, EPERM };

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (code == codes[i])
			return true;
	return false;
}

static bool names(const struct suspects *x, size_t i, const char *message)
{
	return strstr(message, x->devices[i]->path);
}

static void add_lines(const struct suspects *x, const char *message, struct strbuf *out)
{
	for (size_t i = 0; i < x->count; i++)
		if (x->lines[i] && !names(x, i, message))
			strbuf_addf(out, "; %s (%s): the kernel says: %s", x->devices[i]->path,
				x->roles[i], x->lines[i]);
}

static void add_all(const struct suspects *x, const char *message, struct strbuf *out)
{
	for (size_t i = 0; i < x->count; i++)
		if (names(x, i, message))
			return;
	for (size_t i = 0; i < x->count; i++)
		strbuf_addf(out, "; %s (%s)", x->devices[i]->path, x->roles[i]);
}

/* At the end of the first line, which is all that some readers show. */
static void insert(struct err *e, const char *message, const char *what)
{
	int line = (int)strcspn(message, "\n"), n = line;
	enum err_kind kind = e->kind;
	int code = e->code;

	if (message[line] && n && message[n - 1] == ':')
		n--;
	err_clear(e);
	err_say(e, code, "%.*s%s%.*s%s", n, message, what, line - n, message + n,
		message + line);
	e->kind = kind;
}

void blame_devices(const struct session *s, int mark, struct err *e)
{
	_cleanup_(suspects_deinit) struct suspects x = { 0 };
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	_cleanup_free_ char *message = strdup(err_message(e));

	if (!message || !find(&x, s) ||
		(e->kind != ERR_FAILED && e->kind != ERR_NEEDS_RECOVER))
		return;
	if (kernel_log_first_errors(mark, x.names, x.count, x.lines))
		add_lines(&x, message, &b);
	else if (is_of_device(e->code))
		add_all(&x, message, &b);
	if (b.length)
		insert(e, message, strbuf_text(&b));
}
