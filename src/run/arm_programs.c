/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Setting an arm up and tearing it down; see arm_programs.h.
 *
 * A device that setup names takes the place of the volume's own until teardown.  It must
 * be made of that one, so that nothing is written that was not allowed: a lease stands
 * for the device below.
 */

#include "run/arm_programs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/process.h"
#include "core/supervise.h"
#include "core/units.h"
#include "device/find.h"
#include "device/stack.h"
#include "plan/arm_words.h"
#include "run/devices.h"
#include "run/history.h"
#include "run/status.h"
#include "workload/program.h"

enum { OUTPUT_LIMIT = 1 << 20, LAST_LINES = 6 };

static int judge(const struct session *s, const struct supervise_outcome *o,
	const char *program, struct err *e)
{
	const char *text = *o->errors ? o->errors : o->output;
	const char *last = process_tail(text, LAST_LINES);
	char limit[24];

	switch (o->end) {
	case SUPERVISE_STOPPED:
		return err_interrupted(e, *s->o->stop);
	case SUPERVISE_TIMEOUT:
		units_format_duration(session_arm(s)->timeout_ns, limit);
		return err_say(e, ETIMEDOUT,
			"%s did not end within %s (\"timeout\") and was ended:\n%s",
			program, limit, last);
	case SUPERVISE_FLOODED:
		return err_say(e, EFBIG, "%s printed more than %d MiB and was ended",
			program, OUTPUT_LIMIT >> 20);
	case SUPERVISE_EXITED:
		break;
	}
	if (o->signal)
		return err_say(e, EIO, "%s was killed by signal %d (%s):\n%s", program,
			o->signal, strsignal(o->signal), last);
	if (o->status)
		return err_say(e, EIO, "%s ended with status %d:\n%s", program,
			o->status, last);
	return 0;
}

/* stop: NULL for what must be done also after a signal. */
static int run_program(const struct session *s, const char *line,
	const volatile sig_atomic_t *stop, struct supervise_outcome *out, struct err *e)
{
	size_t volumes = s->x->volume_count, disks = s->x->disk_count;
	_cleanup_free_ const char **volume_paths = calloc(volumes, sizeof(char *));
	_cleanup_free_ const char **disk_paths =
		calloc(s->x->disk_count + 1, sizeof(char *));
	struct arm_facts facts = {.x = s->x, .arm = session_arm(s), .block = s->block,
		.journal = s->journals[s->arm].path, .volumes = volume_paths,
		.disks = disk_paths};
	struct supervise_job job = {.directory = "/", .output_limit = OUTPUT_LIMIT,
		.rights = PRIVILEGE_ALL, /* to set up disks is what they are for */
		.timeout_ns = session_arm(s)->timeout_ns, .stop = stop};
	char **environment = NULL, **argv = NULL;
	int r = volume_paths && disk_paths ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < volumes; i++)
		volume_paths[i] = s->volumes[i].device.path;
	for (size_t i = 0; !r && i < disks; i++)
		disk_paths[i] = s->disks[i].device;
	if (!r)
		environment = arm_environment(&facts);
	if (!environment)
		return err_set(e, ENOMEM, "run a program");
	r = arm_words(line, environment, &argv, e);
	if (!r) {
		job.argv = (const char *const *)argv;
		job.environment = (const char *const *)environment;
		status_step(s, "run a program of the arm", job.timeout_ns);
		r = supervise_run(&job, out, e);
	}
	if (!r)
		r = judge(s, out, argv[0], e);
	program_words_free(argv);
	arm_environment_free(environment);
	return r;
}

static struct session_volume *find_volume(struct session *s, const char *name, size_t n)
{
	for (size_t i = 0; i < s->x->volume_count; i++)
		if (strlen(s->x->volumes[i].name) == n &&
			!strncmp(s->x->volumes[i].name, name, n))
			return &s->volumes[i];
	return NULL;
}

static int identify(struct session_device *d, struct err *e)
{
	_cleanup_close_ int fd = open(d->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_set(e, errno, "open %s", d->path);
	return device_identity_read(&d->identity, fd, d->path, e);
}

/* Puts the device over that of the volume. */
static int stack(struct session_volume *v, const char *device, struct err *e)
{
	struct session_device top = {.spec = v->device.spec, .disk = v->device.disk,
		.stacked = true};
	int r;

	if (v->below.path)
		return err_say(e, EINVAL, "setup names a device for volume %s twice",
			v->plan->name);
	r = device_find(device, &top.path, e);
	if (!r)
		r = identify(&top, e);
	if (!r && !(top.identity.is_block &&
			  stack_is_made_of(top.identity.devno, v->device.identity.devno)))
		r = err_refuse(e, "setup says that volume %s is on %s, which is not made "
				  "of %s", v->plan->name, top.path, v->device.path);
	if (r) {
		session_device_deinit(&top);
		return r;
	}
	v->below = v->device;
	v->device = top;
	return 0;
}

/* "volume NAME DEVICE"; other lines are the program's own business. */
static int read_line(struct session *s, const char *line, struct err *e)
{
	size_t word = strcspn(line, " "), name;
	struct session_volume *v;
	const char *at = line + word + 1;

	if (word != strlen("volume") || strncmp(line, "volume ", word + 1))
		return 0;
	name = strcspn(at, " ");
	v = find_volume(s, at, name);
	if (!v || !at[name] || !at[name + 1])
		return err_say(e, EINVAL, "setup printed \"%s\", which is not volume NAME "
					  "DEVICE", line);
	return stack(v, at + name + 1, e);
}

static int read_output(struct session *s, char *output, struct err *e)
{
	char *save = NULL;
	int r = 0;

	for (char *line = strtok_r(output, "\n", &save); !r && line;
		line = strtok_r(NULL, "\n", &save))
		r = read_line(s, line, e);
	return r;
}

static int record_devices(struct session *s, struct err *e)
{
	json_t *records = json_object_get(s->cell, "volumes");

	for (size_t i = 0; i < s->x->volume_count; i++)
		if (s->volumes[i].below.path &&
			json_object_set_new(json_array_get(records, i), "stacked_device",
				json_string(s->volumes[i].device.path)))
			return err_set(e, ENOMEM, "record");
	return 0;
}

int arm_set_up(void *session, struct err *e)
{
	struct session *s = session;
	_cleanup_(supervise_outcome_deinit) struct supervise_outcome out = {0};
	int r;

	if (!session_arm(s)->setup)
		return 0;
	r = history_note(s, "setup", session_arm(s)->name, e);
	if (!r)
		r = run_program(s, session_arm(s)->setup, s->o->stop, &out, e);
	if (!r)
		r = read_output(s, out.output, e);
	if (!r)
		r = record_devices(s, e);
	return r ? err_wrap(e, r, "setup of arm %s", session_arm(s)->name) : 0;
}

int arm_tear_down(void *session, struct err *e)
{
	struct session *s = session;
	_cleanup_(supervise_outcome_deinit) struct supervise_outcome out = {0};
	int r = 0;

	for (size_t i = 0; i < s->x->volume_count; i++) {
		struct session_volume *v = &s->volumes[i];

		if (!v->below.path)
			continue;
		session_device_deinit(&v->device);
		v->device = v->below;
		v->below = (struct session_device){0};
	}
	if (session_arm(s)->teardown)
		r = run_program(s, session_arm(s)->teardown, NULL, &out, e);
	if (!r && session_arm(s)->setup)
		r = history_note(s, "torn-down", session_arm(s)->name, e);
	return r ? err_wrap(e, r, "teardown of arm %s, whose setup may still be in force",
			   session_arm(s)->name)
		 : 0;
}

int arm_tear_down_old(void *session, struct err *e)
{
	struct session *s = session;
	const json_t *last = history_last(s, "setup torn-down", NULL);
	const char *what = json_string_value(json_object_get(last, "what"));
	const char *name = json_string_value(json_object_get(last, "name"));
	size_t before = s->arm;
	int r = 0;

	if (!what || !name || strcmp(what, "setup"))
		return 0;
	for (s->arm = 0; s->arm < s->x->arm_count; s->arm++)
		if (!strcmp(session_arm(s)->name, name))
			break;
	if (s->arm < s->x->arm_count)
		r = arm_tear_down(s, e);
	s->arm = before;
	return r;
}
