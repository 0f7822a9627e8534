/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * An experiment as a table of phases; see run.h and phases.h.  Nothing is written to any
 * device before "check the devices" has passed for all of them.  The undos, last first,
 * are the way out in every case: volumes that existed get their journal back, mount
 * points go, the environment is recorded once more, scratch disks are destroyed.
 *
 * The bundle is begun as soon as it is known that the run may go on, and says how it
 * ended; a report is written for whatever was measured.
 */

#include "run/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/printable.h"
#include "report/report.h"
#include "mount/kernel_log.h"
#include "run/arm_programs.h"
#include "run/blame.h"
#include "run/blocks.h"
#include "run/calibration.h"
#include "run/devices.h"
#include "run/disks.h"
#include "run/history.h"
#include "run/phases.h"
#include "run/precondition.h"
#include "run/session.h"
#include "run/status.h"
#include "run/surroundings.h"
#include "run/volumes.h"
#include "run/weigh.h"

char *run_default_output(const struct experiment *x, uint64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / NS_PER_S);
	char date[32], *path;
	struct tm tm;

	localtime_r(&seconds, &tm);
	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm);
	return asprintf(&path, "%s-%s", x->name, date) < 0 ? NULL : path;
}

int run_fill_info(const struct session *s, struct bundle_info *info, struct err *e)
{
	const struct schedule schedule = plan_schedule(s->x);
	int r = 0;

	info->name = strdup(s->x->name);
	info->version = strdup(s->o->version);
	info->primary = strdup(s->x->primary ? s->x->primary : "");
	info->created_wall_ns = clock_wall_ns();
	info->seed = s->x->seed;
	info->blocks = s->x->blocks;
	info->design = (struct bundle_design){.level = schedule_level(&schedule),
		.margin = s->x->design.margin,
		.target = s->x->design.target,
		.pilot = schedule.kind == SCHEDULE_STEIN ? schedule.blocks : 0};
	if (!info->name || !info->version || !info->primary)
		return err_set(e, ENOMEM, "make the bundle");
	for (size_t i = 0; !r && i < s->x->arm_count; i++) {
		const struct plan_arm *arm = &s->x->arms[i];
		_cleanup_free_ char *placement = placement_format(&arm->placement);
		_cleanup_free_ char *mount =
			s->x->volume_count == 1 ? plan_mount_options(s->x->volumes, arm)
						: strdup(arm->mount);

		r = placement && mount
			    ? bundle_info_add_arm(info, arm->name, placement, mount, e)
			    : err_set(e, ENOMEM, "make the bundle");
		if (!r)
			r = bundle_info_set_levels(info, arm->levels, e);
	}
	return r;
}

static int make_bundle(void *session, struct err *e)
{
	struct session *s = session;
	_cleanup_(bundle_info_deinit) struct bundle_info info = {0};
	_cleanup_free_ char *plan = experiment_print(s->x);
	char hash[SHA256_TEXT];
	int r;

	s->bundle_path = s->o->output ? strdup(s->o->output)
				      : run_default_output(s->x, clock_wall_ns());
	if (!s->bundle_path || !plan)
		return err_set(e, ENOMEM, "make the bundle");
	r = devices_check_bundle(s, s->bundle_path, e);
	if (!r)
		r = run_fill_info(s, &info, e);
	if (!r)
		r = bundle_create(&s->bundle, s->bundle_path, &info, plan, e);
	if (r)
		return r;
	sha256_hex(plan, strlen(plan), hash);
	return history_begin(s, hash, e);
}

/* A run that ends before it has done anything leaves no bundle. */
static int discard_bundle(void *session, struct err *e)
{
	struct session *s = session;
	int r;

	if (!s->bundle || s->begun)
		return 0;
	r = bundle_discard(s->bundle, e);
	s->bundle = bundle_writer_free(s->bundle);
	return r;
}

static size_t find_arm(const struct session *s, const char *name)
{
	size_t i = 0;

	while (i < s->x->arm_count && (!name || strcmp(s->x->arms[i].name, name)))
		i++;
	return i;
}

/* How long the cells took that are done. */
static void count_cells(struct session *s, const json_t *cells)
{
	const json_t *cell;
	size_t i;

	json_array_foreach(cells, i, cell) {
		json_int_t block = json_integer_value(json_object_get(cell, "block"));
		json_int_t position = json_integer_value(json_object_get(cell, "position"));
		json_int_t ns = json_integer_value(json_object_get(cell, "duration_ns"));
		size_t arm = find_arm(s, json_string_value(json_object_get(cell, "arm")));

		if (arm == s->x->arm_count ||
			!history_is_done(s, (uint32_t)block, (uint32_t)position))
			continue;
		progress_add_cell(&s->progress, arm, (uint64_t)ns);
		s->spent_ns += (uint64_t)ns;
	}
}

/* The number of blocks follows from what was measured, whoever did it. */
static int take_run(void *data, struct result_run *run, struct err *e)
{
	struct session *s = data;

	if (run->position >= s->x->arm_count || !s->x->primary)
		return 0;
	return effects_take(
		&s->past_effects, s->x->primary, run, run->block, run->position, e);
}

/* The bundle of an earlier process, without what its unfinished cells have left. */
static int take_up_bundle(void *session, struct err *e)
{
	struct session *s = session;
	struct bundle b;
	int r = bundle_load(&b, s->o->output, e);

	if (r)
		return r;
	s->begun = true;
	s->has_rows = json_array_size(b.cells) > 0;
	s->environment = json_incref(b.environment);
	s->bundle_path = strdup(s->o->output);
	r = s->bundle_path ? history_take_up(s, b.info.plan_sha256, e)
			   : err_set(e, ENOMEM, "open %s", s->o->output);
	if (!r)
		r = bundle_open(&s->bundle, s->bundle_path, e);
	if (!r)
		r = bundle_keep_cells(s->bundle, history_is_done, s, e);
	if (!r)
		count_cells(s, b.cells);
	if (!r)
		r = bundle_each_run(&b, take_run, s, e);
	if (!r && s->o->mode == RUN_RESUME)
		r = bundle_finish(s->bundle, BUNDLE_RUNNING, "", e);
	bundle_deinit(&b);
	return r;
}

static int record_environment(struct session *s, const char *when, struct err *e)
{
	json_t *snapshot;

	if (!s->bundle)
		return 0;
	if (!s->environment)
		s->environment = json_pack("{ss}", "schema", "jbdlab-environment/1");
	snapshot = surroundings_snapshot(s);
	if (!snapshot || json_object_set_new(s->environment, when, snapshot))
		return err_set(e, ENOMEM, "record the environment");
	return bundle_set_environment(s->bundle, s->environment, e);
}

static int environment_before(void *session, struct err *e)
{
	struct session *s = session;

	s->begun = true;
	return record_environment(
		s, json_object_get(s->environment, "before") ? "resumed" : "before", e);
}

static int environment_after(void *session, struct err *e)
{
	return record_environment(session, "after", e);
}

/* A program that is not there would be found out after hours. */
static int check_workloads(void *session, struct err *e)
{
	const struct session *s = session;
	int r = 0;

	for (size_t i = 0; !r && i < s->x->workload_count; i++)
		r = workload_ready(s->x->workloads[i].workload, e);
	return r;
}

static const struct phase run_phases[] = {
	{"check the workloads", check_workloads, NULL},
	{"find the devices", devices_find, NULL},
	{"check the devices", devices_check, devices_unlock},
	{"make the bundle", make_bundle, discard_bundle},
	{"make scratch disks", disks_make, disks_destroy},
	{"find the scratch disks", devices_find, NULL},
	{"check the scratch disks", devices_check, NULL},
	{"weigh what speaks against it", weigh_confounds, NULL},
	{"record the environment", environment_before, environment_after},
	{"enter a mount namespace", volumes_enter_namespace, volumes_leave_namespace},
	{"make mount points", volumes_make_targets, volumes_remove_targets},
	{"look at the volumes", volumes_look_at, NULL},
	{"precondition the devices", precondition_devices, NULL},
	{"prepare the volumes", volumes_prepare, volumes_put_back},
	{"calibrate", calibration_run, NULL},
	{"measure", blocks_measure, NULL},
};

static const struct phase resume_phases[] = {
	{"check the workloads", check_workloads, NULL},
	{"take up the bundle", take_up_bundle, NULL},
	{"take up scratch disks", disks_take_up, disks_destroy},
	{"make scratch disks", disks_make, NULL},
	{"find the devices", devices_find, NULL},
	{"tear an arm down", arm_tear_down_old, NULL},
	{"check the devices", devices_check, devices_unlock},
	{"record the environment", environment_before, environment_after},
	{"enter a mount namespace", volumes_enter_namespace, volumes_leave_namespace},
	{"make mount points", volumes_make_targets, volumes_remove_targets},
	{"recall the volumes", volumes_recall, NULL},
	{"clean the volumes", volumes_clean, NULL},
	{"look at the volumes", volumes_look_at, NULL},
	{"precondition the devices", precondition_devices, NULL},
	{"prepare the volumes", volumes_prepare, volumes_put_back},
	{"calibrate", calibration_run, NULL},
	{"measure", blocks_measure, NULL},
};

static const struct phase restore_phases[] = {
	{"take up the bundle", take_up_bundle, NULL},
	{"take up scratch disks", disks_take_up, disks_destroy},
	{"find the devices", devices_find, NULL},
	{"tear an arm down", arm_tear_down_old, NULL},
	{"check the devices", devices_check, devices_unlock},
	{"enter a mount namespace", volumes_enter_namespace, volumes_leave_namespace},
	{"make mount points", volumes_make_targets, volumes_remove_targets},
	{"recall the volumes", volumes_recall, NULL},
	{"clean the volumes", volumes_clean, NULL},
	{"take the journals back", volumes_put_back, NULL},
	{"check the volumes", volumes_check_all, NULL},
};

static const struct {
	const struct phase *phases;
	size_t count;
} modes[] = {
	[RUN_NEW] = {run_phases, ARRAY_SIZE(run_phases)},
	[RUN_RESUME] = {resume_phases, ARRAY_SIZE(resume_phases)},
	[RUN_RESTORE] = {restore_phases, ARRAY_SIZE(restore_phases)},
};

static int write_report(struct session *s, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf text = {0};
	_cleanup_(report_deinit) struct report report = {0};
	int r = report_load(&report, s->bundle_path, e);

	if (!r)
		r = render_text(&report, &text, e);
	return r ? r : bundle_set_report(s->bundle, strbuf_text(&text), e);
}

/* The bundle says how it ended; why is the first line of the error. */
static int finish_bundle(struct session *s, int failed, struct err *e)
{
	_cleanup_(err_clear) struct err late = {0};
	struct err *to = failed ? &late : e;
	char reason[600] = "";
	int r;

	if (failed)
		snprintf(reason, sizeof(reason), "%.*s",
			(int)printable_cut(err_message(e),
				MIN(strcspn(err_message(e), "\n"), sizeof(reason) - 1)),
			err_message(e));
	else if (s->calibration_failed && !s->blocks_done)
		snprintf(reason, sizeof(reason),
			"the calibration showed a difference between %s and itself",
			s->x->arms[0].name);
	else if (s->blocks_done < s->step.blocks)
		snprintf(reason, sizeof(reason),
			"max_time ended it after %u of %u block%s", s->blocks_done,
			s->step.blocks, PLURAL(s->step.blocks));
	r = bundle_finish(s->bundle,
		!failed			     ? BUNDLE_COMPLETE
		: e->kind == ERR_INTERRUPTED ? BUNDLE_INTERRUPTED
					     : BUNDLE_FAILED,
		reason, to);
	if (!r)
		r = write_report(s, to);
	if (r && failed)
		log_line(s->o->log, LOG_WARNING, "%s", err_message(&late));
	return failed ? failed : r;
}

static int session_init(struct session *s, const struct run_options *o, struct err *e)
{
	const struct experiment *x = o->experiment;

	*s = (struct session){.o = o, .x = x, .namespace = MOUNT_NAMESPACE_NONE,
		.started_wall_ns = clock_wall_ns()};
	s->disks = calloc(x->disk_count + 1, sizeof(*s->disks));
	s->volumes = calloc(x->volume_count, sizeof(*s->volumes));
	s->journals = calloc(x->arm_count, sizeof(*s->journals));
	s->warned = calloc(x->arm_count, sizeof(*s->warned));
	if (!s->disks || !s->volumes || !s->journals || !s->warned)
		return err_set(e, ENOMEM, "run");
	if (effects_init(&s->effects, x->arm_count, e) ||
		effects_init(&s->calibration, 2, e) ||
		effects_init(&s->past_effects, x->arm_count, e))
		return -e->code;
	return progress_init(&s->progress, x->arm_count, x->blocks, e);
}

static void session_deinit(struct session *s)
{
	for (size_t i = 0; s->volumes && i < s->x->volume_count; i++) {
		session_device_deinit(&s->volumes[i].device);
		session_device_deinit(&s->volumes[i].below);
		session_device_deinit(&s->volumes[i].home);
		placement_deinit(&s->volumes[i].at_start);
		free(s->volumes[i].placement);
		free(s->volumes[i].target);
		free(s->volumes[i].directory);
	}
	for (size_t i = 0; s->journals && i < s->x->arm_count; i++)
		session_device_deinit(&s->journals[i]);
	free(s->disks);
	free(s->volumes);
	free(s->journals);
	free(s->warned);
	free(s->settings);
	progress_deinit(&s->progress);
	effects_deinit(&s->effects);
	effects_deinit(&s->calibration);
	effects_deinit(&s->past_effects);
	json_decref(s->environment);
	json_decref(s->past);
	json_decref(s->done);
	state_log_free(s->log);
	bundle_writer_free(s->bundle);
	free(s->bundle_path);
}

/* The volumes are back; whether the run is complete is as it was. */
static int finish_restore(struct session *s, int failed, struct err *e)
{
	struct bundle b;
	int r = failed ? failed : bundle_load(&b, s->bundle_path, e);

	if (r)
		return r;
	if (b.info.state != BUNDLE_COMPLETE)
		r = bundle_finish(s->bundle, BUNDLE_INTERRUPTED,
			"the volumes were restored", e);
	bundle_deinit(&b);
	return r;
}

int run_experiment(
	const struct run_options *o, struct run_outcome *outcome, struct err *e)
{
	_cleanup_(session_deinit) struct session s;
	_cleanup_close_ int mark = kernel_log_mark();
	int r = session_init(&s, o, e);

	*outcome = (struct run_outcome){0};
	if (r)
		return r;
	r = phases_run(
		modes[o->mode].phases, modes[o->mode].count, &s, status_phase, o->stop, o->log,
		e);
	if (r)
		blame_devices(&s, mark, e);
	if (!s.bundle)
		return r;
	r = o->mode == RUN_RESTORE ? finish_restore(&s, r, e) : finish_bundle(&s, r, e);
	outcome->bundle = take_ptr(s.bundle_path);
	outcome->audit_failed = s.audit_failed;
	outcome->inconclusive = s.calibration_failed && !s.blocks_done;
	return r;
}

void run_outcome_deinit(struct run_outcome *outcome)
{
	free(outcome->bundle);
	*outcome = (struct run_outcome){0};
}
