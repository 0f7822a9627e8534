/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Where a run is; see status.h. */

#include "run/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/clock.h"
#include "core/fileio.h"
#include "core/units.h"

/* For some seconds a phase may wait for a lock of somebody else. */
#define PATIENCE_NS (10 * NS_PER_S)

static void add_device(json_t *list, const char *role, const char *of,
	const struct session_device *d)
{
	if (d->path)
		json_array_append_new(list,
			json_pack("{so,ss?,si,si}", "role", json_sprintf("%s %s", role, of),
				"name", d->identity.kernel_name, "major",
				(int)major(d->identity.devno), "minor",
				(int)minor(d->identity.devno)));
}

static json_t *devices_of(const struct session *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->x->volume_count; i++) {
		add_device(list, "volume", s->x->volumes[i].name, &s->volumes[i].device);
		add_device(list, "below volume", s->x->volumes[i].name,
			&s->volumes[i].below);
	}
	for (size_t i = 0; i < s->x->arm_count; i++)
		add_device(list, "journal", s->x->arms[i].name, &s->journals[i]);
	return list;
}

/* What is known only within a cell. */
static int add_cell(json_t *o, const struct session *s, uint64_t wall_ns)
{
	uint64_t left = progress_left_ns(&s->progress, s->arm, clock_now_ns());

	return json_object_update_new(o,
		json_pack("{ss,si,si,si,ss,ss?,so}", "stage",
			s->calibrating ? "calibrate" : "measure", "block", (int)s->slot + 1,
			"blocks", (int)s->step.blocks, "attempt",
			(int)s->repeat.attempt + 1, "arm", session_arm(s)->name, "workload",
			s->workload, "estimated_end_wall_ns",
			left == UINT64_MAX ? json_null()
					   : json_integer((json_int_t)(wall_ns + left))));
}

static json_t *make(const struct session *s, const char *phase)
{
	uint64_t wall_ns = clock_wall_ns();
	json_t *o = json_pack("{ss,ss,si,sI,ss,sI,so}", "schema", STATUS_SCHEMA, "name",
		s->x->name, "pid", (int)s->o->process, "started_wall_ns",
		(json_int_t)s->started_wall_ns, "phase", phase, "phase_started_wall_ns",
		(json_int_t)wall_ns, "devices", devices_of(s));

	if (o && s->cell && add_cell(o, s, wall_ns)) {
		json_decref(o);
		return NULL;
	}
	return o;
}

void status_step(const struct session *s, const char *phase, uint64_t expected_ns)
{
	const struct run_observer *observer = s->o->observer;
	json_auto_t *status = NULL;

	if (!observer)
		return;
	status = make(s, phase);
	if (status)
		observer->step(observer->data, s->begun ? s->bundle_path : NULL, status,
			expected_ns);
}

void status_phase(void *session, const char *phase, bool undo)
{
	_cleanup_free_ char *text = NULL;

	if (undo && asprintf(&text, "undo \"%s\"", phase) < 0)
		text = NULL;
	status_step(session, text ? text : phase, PATIENCE_NS);
}

int status_write(const char *bundle, json_t *status, const char *state, const char *reason,
	struct err *e)
{
	_cleanup_free_ char *path = NULL, *text = NULL;

	if (json_object_set_new(status, "state", json_string(state)) ||
		json_object_set_new(status, "reason", reason ? json_string(reason)
							     : json_null()) ||
		asprintf(&path, "%s/status.json", bundle) < 0) {
		path = NULL;
		return err_set(e, ENOMEM, "write the status");
	}
	text = json_dumps(status, JSON_INDENT(2) | JSON_SORT_KEYS);
	return text ? fileio_write_atomic(path, text, strlen(text), 0644, e)
		    : err_set(e, ENOMEM, "write %s", path);
}

static void format_ns(uint64_t ns, char out[static 24])
{
	units_format_duration(ns < NS_PER_S ? ns : ns - ns % NS_PER_S, out);
}

/* The status may have been read from a file that anybody could have written. */
static uint64_t number(const json_t *status, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(status, key));

	return value > 0 ? (uint64_t)value : 0;
}

static const char *word(const json_t *status, const char *key)
{
	return json_string_value(json_object_get(status, key));
}

void status_describe(const json_t *status, struct strbuf *out)
{
	uint64_t now = clock_wall_ns(), begun = number(status, "phase_started_wall_ns");
	const char *phase = word(status, "phase"), *stage = word(status, "stage");
	const char *arm = word(status, "arm");
	uint64_t attempt = number(status, "attempt");
	char time[24];

	format_ns(begun && now > begun ? now - begun : 0, time);
	if (stage)
		strbuf_addf(out, "%sblock %llu of %llu%s, arm %s, ",
			strcmp(stage, "measure") ? "calibration, " : "",
			(unsigned long long)number(status, "block"),
			(unsigned long long)number(status, "blocks"),
			attempt > 1 ? " again" : "", arm ? arm : "?");
	if (word(status, "workload"))
		strbuf_addf(out, "workload %s, ", word(status, "workload"));
	strbuf_addf(out, "phase \"%s\" for %s", phase ? phase : "begin", time);
}

void status_describe_left(const json_t *status, struct strbuf *out)
{
	uint64_t now = clock_wall_ns(), end = number(status, "estimated_end_wall_ns");
	char time[24];

	if (end <= now)
		return;
	format_ns(end - now, time);
	strbuf_addf(out, ", in all about %s left", time);
}
