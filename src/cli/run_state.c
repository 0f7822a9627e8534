/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Whether a run lives; see run_state.h.  The process that status.json names may be one of
 * another machine or container, and an older run has no status.json: either sign of life
 * counts.
 */

#include "cli/run_state.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "core/fileio.h"
#include "core/printable.h"
#include "run/status.h"

static json_t *read_status(const char *bundle)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	size_t n;

	if (asprintf(&path, "%s/status.json", bundle) < 0)
		path = NULL;
	return path && !fileio_read_regular(path, &text, &n, NULL)
		       ? json_loadb(text, n, 0, NULL)
		       : NULL;
}

static bool is_locked(const char *bundle)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;

	if (asprintf(&path, "%s/state.log", bundle) < 0)
		path = NULL;
	if (path)
		fileio_open_regular(&fd, path, NULL);
	/* A run that begins just now tries again for some time. */
	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

static const char *word(const json_t *status, const char *key)
{
	return json_string_value(json_object_get(status, key));
}

static void describe(const json_t *status, struct strbuf *out)
{
	const char *reason = word(status, "reason");

	status_describe(status, out);
	status_describe_left(status, out);
	if (reason)
		strbuf_addf(out, "; %s", reason);
}

bool run_state_read(const char *bundle, struct strbuf *where)
{
	json_auto_t *status = read_status(bundle);
	const char *state = word(status, "state");
	bool works = state && (!strcmp(state, "running") || !strcmp(state, "hung"));
	json_int_t pid = json_integer_value(json_object_get(status, "pid"));

	if (state && !works)
		return false;
	if (works)
		works = pid > 0 && pid <= INT32_MAX &&
			(!kill((pid_t)pid, 0) || errno == EPERM);
	if (!works)
		works = is_locked(bundle);
	if (works && status)
		describe(status, where);
	printable_make(where);
	return works;
}
