/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The state log of a run; see history.h. */

#include "run/history.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fileio.h"
#include "placement/intent.h"

int history_add(struct session *s, json_t *record, struct err *e)
{
	if (s->log)
		return state_log_add(s->log, record, e);
	json_decref(record);
	return 0;
}

int history_note(struct session *s, const char *what, const char *name, struct err *e)
{
	return history_add(s, json_pack("{ss,ss}", "what", what, "name", name), e);
}

static int add_device(struct session *s, const char *role, const char *name,
	const struct session_device *d, struct err *e)
{
	_cleanup_free_ char *full = NULL, *identity = NULL;

	/* Scratch disks of the run are known by their names. */
	if (!d->path || d->disk)
		return 0;
	identity = intent_identity(&d->identity);
	if (!identity || asprintf(&full, "%s %s", role, name) < 0)
		return err_set(e, ENOMEM, "record %s", d->path);
	return history_add(s,
		json_pack("{ss,ss,ss,ss}", "what", "device", "name", full, "path",
			d->path, "identity", identity),
		e);
}

int history_add_devices(struct session *s, struct err *e)
{
	int r = 0;

	for (size_t i = 0; !r && i < s->x->volume_count; i++) {
		const struct session_volume *v = &s->volumes[i];

		r = add_device(s, "volume", v->plan->name, &v->device, e);
		if (!r)
			r = add_device(s, "home", v->plan->name, &v->home, e);
	}
	for (size_t i = 0; !r && i < s->x->arm_count; i++)
		r = add_device(s, "journal", s->x->arms[i].name, &s->journals[i], e);
	return r;
}

const json_t *history_last(const struct session *s, const char *words, const char *name)
{
	return s->past ? state_log_last(s->past, words, name) : NULL;
}

bool history_ends(const struct session *s, const char *words, const char *name,
	const char *word)
{
	return s->past && state_log_ends(s->past, words, name, word);
}

bool history_is_made(const struct session *s, const struct session_volume *v)
{
	return !s->has_new_disks &&
	       history_ends(s, "make made unmade", v->plan->name, "made");
}

static char *log_path(const struct session *s)
{
	char *path;

	return asprintf(&path, "%s/state.log", s->bundle_path) < 0 ? NULL : path;
}

static json_t *session_record(const char *what)
{
	_cleanup_free_ char *boot = fileio_read_line("/proc/sys/kernel/random/boot_id");

	return json_pack("{ss,ss,sI,si}", "what", what, "boot", boot ? boot : "",
		"wall_ns", (json_int_t)clock_wall_ns(), "pid", (int)getpid());
}

int history_begin(struct session *s, const char *plan_sha256, struct err *e)
{
	_cleanup_free_ char *path = log_path(s);
	json_t *first = session_record("begin");

	if (!path || !first ||
		json_object_set_new(first, "schema", json_string(HISTORY_SCHEMA)) ||
		json_object_set_new(first, "plan_sha256", json_string(plan_sha256)) ||
		json_object_set_new(first, "version", json_string(s->o->version)) ||
		json_object_set_new(
			first, "seed", json_integer((json_int_t)s->x->seed))) {
		json_decref(first);
		return err_set(e, ENOMEM, "begin the state log");
	}
	return state_log_create(&s->log, path, first, e);
}

static int check_begin(const struct session *s, const char *path, const char *plan_sha256,
	struct err *e)
{
	const json_t *begin = json_array_get(s->past, 0);
	const char *schema = json_string_value(json_object_get(begin, "schema"));
	const char *plan = json_string_value(json_object_get(begin, "plan_sha256"));

	if (!schema || strcmp(schema, HISTORY_SCHEMA))
		return err_refuse(e, "%s is no state log of a run that this version of "
				     "jbdlab can go on with",
			path);
	if (!plan || strcmp(plan, plan_sha256))
		return err_refuse(e,
			"the run was begun with another plan (SHA-256 %.12s..., now "
			"%.12s...): the plan of a run cannot be changed, begin a new one",
			plan ? plan : "unknown", plan_sha256);
	return 0;
}

/* For history_is_done(), so that it need not look through all. */
static int index_cells(struct session *s, struct err *e)
{
	const json_t *record;
	size_t i;

	s->done = json_object();
	if (!s->done)
		return err_set(e, ENOMEM, "read the state log");
	json_array_foreach(s->past, i, record) {
		const char *what = json_string_value(json_object_get(record, "what"));
		char key[32];

		if (!what || strcmp(what, "cell-done"))
			continue;
		snprintf(key, sizeof(key), "%lld/%lld",
			json_integer_value(json_object_get(record, "block")),
			json_integer_value(json_object_get(record, "position")));
		if (json_object_set_new(s->done, key,
			    json_integer(json_integer_value(
				    json_object_get(record, "broken")))))
			return err_set(e, ENOMEM, "read the state log");
		s->audit_failed |= json_is_true(json_object_get(record, "audit_failed"));
	}
	return 0;
}

bool history_is_done(const void *session, uint32_t block, uint32_t position)
{
	const struct session *s = session;
	char key[32];

	snprintf(key, sizeof(key), "%u/%u", block, position);
	return s->done && json_object_get(s->done, key);
}

unsigned history_broken(const struct session *s, uint32_t block, uint32_t position)
{
	char key[32];

	snprintf(key, sizeof(key), "%u/%u", block, position);
	return (unsigned)json_integer_value(json_object_get(s->done, key));
}

int history_take_up(struct session *s, const char *plan_sha256, struct err *e)
{
	_cleanup_free_ char *path = log_path(s);
	int r;

	if (!path)
		return err_set(e, ENOMEM, "read the state log");
	/* Killed as soon as the bundle was made: nothing was begun. */
	if (access(path, F_OK) && errno == ENOENT && !s->has_rows)
		return history_begin(s, plan_sha256, e);
	r = state_log_open(&s->log, path, &s->past, e);
	if (!r && !json_array_size(s->past)) {
		/* The first line is torn: the same. */
		s->log = state_log_free(s->log);
		if (unlink(path))
			return err_set(e, errno, "remove %s", path);
		return history_begin(s, plan_sha256, e);
	}
	if (!r)
		r = check_begin(s, path, plan_sha256, e);
	if (!r)
		r = index_cells(s, e);
	return r ? r
		 : history_add(s,
			   session_record(
				   s->o->mode == RUN_RESTORE ? "restore" : "resume"),
			   e);
}
