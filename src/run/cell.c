/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A cell as a table of phases; see phases.h and volumes.h.  Its record is made first and
 * filled by the phases; it is written to the bundle when everything in it was done, so
 * that a line in cells.jsonl means: moved, checked, mounted, measured and unmounted.
 *
 * What the workloads of a block do follows from its number alone: equal for all arms.
 */

#include "run/cell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/units.h"
#include "plan/order.h"
#include "run/arm_programs.h"
#include "run/calibration.h"
#include "run/features.h"
#include "run/history.h"
#include "run/ledgers.h"
#include "run/phases.h"
#include "run/probe.h"
#include "run/repetitions.h"
#include "run/status.h"
#include "run/surroundings.h"
#include "run/traces.h"
#include "run/validity.h"
#include "run/volumes.h"
#include "workload/random.h"

/* "3min 20s left: block 2 of 6, arm ssd: WHAT"; a terminal that is narrow shows its begin. */
static void show_progress(const struct session *s, const char *what)
{
	uint64_t left = progress_left_ns(&s->progress, s->arm, clock_now_ns());
	char text[24] = "1s";

	if (left != UINT64_MAX && left >= NS_PER_S)
		units_format_duration(left - left % NS_PER_S, text);
	log_line(s->o->log, LOG_PROGRESS, "%s%s%sblock %u of %u%s, arm %s: %s",
		left == UINT64_MAX ? "" : text, left == UINT64_MAX ? "" : " left: ",
		s->calibrating ? "calibration, " : "", s->slot + 1, s->step.blocks,
		s->repeat.attempt ? " again" : "",
		session_arm(s)->name, what);
}

/* What a workload says of its progress is put behind ours. */
struct workload_log {
	const struct session *session;
	const char *workload;
};

static void emit_workload_line(void *data, enum log_level level, const char *line)
{
	const struct workload_log *w = data;
	char text[160];

	if (level != LOG_PROGRESS) {
		log_line(w->session->o->log, level, "%s: %s", w->workload, line);
		return;
	}
	snprintf(text, sizeof(text), "%s %s", w->workload, line);
	show_progress(w->session, text);
}

static int begin_record(void *session, struct err *e)
{
	struct session *s = session;
	json_auto_t *volumes = json_array();

	for (size_t i = 0; volumes && i < s->x->volume_count; i++)
		if (json_array_append_new(
			    volumes, json_pack("{ss,ss}", "volume", s->x->volumes[i].name,
					     "device", s->volumes[i].device.path)))
			return err_set(e, ENOMEM, "record");
	s->cell = json_pack("{ss,sI,sI,sI,sI,ss,sI,sO}", "schema", "jbdlab-cell/1",
		"block", (json_int_t)s->block, "slot", (json_int_t)s->slot, "attempt",
		(json_int_t)s->repeat.attempt, "position", (json_int_t)s->position, "arm",
		session_arm(s)->name, "started_wall_ns", (json_int_t)clock_wall_ns(),
		"volumes", volumes);
	if (s->cell && s->calibrating &&
		json_object_update_new(s->cell,
			json_pack("{ss,sI}", "stage", "calibrate", "role",
				(json_int_t)s->role)))
		return err_set(e, ENOMEM, "record");
	show_progress(s, "placing the journal");
	return s->cell ? 0 : err_set(e, ENOMEM, "record");
}

/* Everything is on disk and nothing is in memory when a workload begins. */
static int settle(void *session _unused_, struct err *e)
{
	_cleanup_close_ int fd = -1;

	sync();
	fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "3", 1) != 1)
		return err_set(e, errno, "drop the page cache");
	return 0;
}

static int label_run(
	const struct session *s, struct result_run *run, bool warm, struct err *e)
{
	char *arm = strdup(session_arm(s)->name);

	if (!arm)
		return err_set(e, ENOMEM, "record");
	free(run->arm);
	run->arm = arm;
	run->block = s->block;
	run->position = s->position;
	run->stage = warm			? STAGE_WARMUP
		     : s->calibrating ? STAGE_CALIBRATE
				      : STAGE_MEASURE;
	return 0;
}

/* Running out of space in the middle would waste all that was measured before. */
static int check_space(
	const struct session *s, const struct plan_workload *w, struct err *e)
{
	uint64_t needed = workload_space(w->workload), free_bytes = 0;
	char needed_text[16], free_text[16];

	for (size_t i = 0; i < s->x->volume_count; i++) {
		struct statvfs st;

		if (statvfs(s->volumes[i].directory, &st))
			return err_set(e, errno, "stat %s", s->volumes[i].directory);
		free_bytes += (uint64_t)st.f_bavail * st.f_frsize;
	}
	if (needed <= free_bytes)
		return 0;
	units_format_bytes(needed, needed_text);
	units_format_bytes(free_bytes, free_text);
	return err_say(e, ENOSPC, "workload %s needs %s of space, and there are %s",
		w->name, needed_text, free_text);
}

/* A run that counts: judged by its ledger, and a value from which plans follow. */
static int judge_run(struct session *s, struct result_run *run, struct err *e)
{
	ledgers_judge(s, run);
	validity_take_run(s, run);
	if (!s->x->primary)
		return 0;
	return s->calibrating ? effects_take(&s->calibration, s->x->primary, run, s->slot,
					s->role, e)
			      : effects_take(&s->effects, s->x->primary, run, s->slot,
					s->arm, e);
}

/* "+" is in no name of a workload. */
static char *output_path(const struct session *s, const char *workload, uint32_t repetition)
{
	_cleanup_free_ char *name = NULL;

	if (!repetition)
		return bundle_output_path(
			s->bundle_path, s->block, session_arm(s)->name, workload);
	if (asprintf(&name, "%s+%u", workload, repetition) < 0) {
		name = NULL;
		return NULL;
	}
	return bundle_output_path(s->bundle_path, s->block, session_arm(s)->name, name);
}

/* One run of a workload; the first repetition has the seed and the output's name to
 * itself, as if there were no others. */
static int run_once(struct session *s, size_t workload, uint32_t repetition,
	const char *const *directories, struct result_run *run, struct err *e)
{
	const struct plan_workload *w = &s->x->workloads[workload];
	struct workload_log named = {s, w->name};
	const struct log log = {emit_workload_line, &named};
	const struct workload_observer observer = ledgers_observer(s);
	uint64_t seed = order_workload_seed(s->x->seed, s->block, workload);
	_cleanup_free_ char *keep = output_path(s, w->name, repetition);
	const struct workload_env env = {.directories = directories,
		.directory_count = s->x->volume_count,
		.seed = repetition ? random_derive(seed, repetition) : seed,
		.drop_caches = true,
		.stop = (volatile sig_atomic_t *)s->o->stop,
		.log = &log,
		.observer = &observer,
		.keep = keep};
	int r;

	if (!keep)
		return err_set(e, ENOMEM, "measure");
	if (*s->o->stop)
		return err_interrupted(e, *s->o->stop);
	r = settle(s, e);
	return r ? r : workload_run(w->workload, &env, run, e);
}

/* Runs that only make everything warm for the next one. */
static int warm_up(struct session *s, size_t workload, const char *const *directories,
	struct err *e)
{
	const struct plan_workload *w = &s->x->workloads[workload];
	_cleanup_(result_run_deinit) struct result_run run = {0};
	int r;

	status_step(s, "warm up", workload_quiet_ns(w->workload));
	show_progress(s, "warming up");
	r = run_once(s, workload, 0, directories, &run, e);
	if (!r)
		r = label_run(s, &run, true, e);
	if (!r)
		r = surroundings_end_workload(s, w->name, e);
	if (!r)
		r = bundle_add_run(s->bundle, &run, e);
	return r ? r : traces_keep(s, &run, e);
}

static int run_all(struct session *s, size_t workload, const char *const *directories,
	struct result_run *runs, struct err *e)
{
	const struct plan_workload *w = &s->x->workloads[workload];
	int r = 0;

	for (uint32_t i = 0; !r && i < w->repeat; i++) {
		status_step(s, "measure", workload_quiet_ns(w->workload));
		show_progress(s, w->name);
		r = run_once(s, workload, i, directories, &runs[i], e);
		if (!r)
			r = label_run(s, &runs[i], false, e);
		/* Together they could hide what one of them did not sync. */
		if (!r && w->repeat > 1) {
			ledgers_judge(s, &runs[i]);
			validity_take_run(s, &runs[i]);
		}
	}
	return r ? r : surroundings_end_workload(s, w->name, e);
}

static int measure_one(struct session *s, size_t workload, const char *const *directories,
	struct err *e)
{
	uint32_t count = s->x->workloads[workload].repeat;
	_cleanup_(result_run_deinit) struct result_run run = {0};
	struct result_run *runs = calloc(count, sizeof(*runs));
	int r = runs ? 0 : err_set(e, ENOMEM, "measure");

	if (!r)
		r = run_all(s, workload, directories, runs, e);
	if (!r)
		r = repetitions_merge(&run, runs, count, e);
	for (uint32_t i = 0; runs && i < count; i++)
		result_run_deinit(&runs[i]);
	free(runs);
	if (!r)
		r = label_run(s, &run, false, e);
	if (!r)
		r = judge_run(s, &run, e);
	if (!r)
		r = bundle_add_run(s->bundle, &run, e);
	return r ? r : traces_keep(s, &run, e);
}

static int measure_workload(struct session *s, size_t workload,
	const char *const *directories, struct err *e)
{
	int r = 0;

	s->workload = s->x->workloads[workload].name;
	for (uint32_t k = 0; !r && k < s->x->design.warmup; k++)
		r = warm_up(s, workload, directories, e);
	if (!r)
		r = measure_one(s, workload, directories, e);
	s->workload = NULL;
	return r;
}

static int measure(void *session, struct err *e)
{
	struct session *s = session;
	_cleanup_free_ const char **directories =
		calloc(s->x->volume_count, sizeof(*directories));
	int r = 0;

	if (!directories)
		return err_set(e, ENOMEM, "measure");
	for (size_t i = 0; i < s->x->volume_count; i++)
		directories[i] = s->volumes[i].directory;
	for (size_t i = 0; !r && i < s->x->workload_count; i++)
		r = check_space(s, &s->x->workloads[i], e);
	for (size_t i = 0; !r && i < s->x->workload_count; i++)
		r = measure_workload(s, i, directories, e);
	return r;
}

static const struct phase cell_phases[] = {
	{"record the cell", begin_record, NULL},
	{"mark the kernel's log", surroundings_mark, surroundings_forget},
	{"set the arm up", arm_set_up, arm_tear_down},
	{"make the volumes anew", volumes_remake, NULL},
	{"switch features", features_switch, NULL},
	{"move the journal away", calibration_move_away, NULL},
	{"place the journal", volumes_place, NULL},
	{"check the volumes", volumes_fsck, NULL},
	{"mount the volumes", volumes_mount, volumes_unmount},
	{"verify where the journal is", volumes_verify, NULL},
	{"open the flush ledger", ledgers_open, ledgers_close},
	{"probe the devices", probe_devices, NULL},
	{"open the tracer", traces_open, traces_close},
	{"watch the conditions", validity_open, validity_close},
	{"settle", settle, NULL},
	{"look around", surroundings_before, NULL},
	{"measure", measure, NULL},
	{"look around again", surroundings_after, NULL},
	{"judge the conditions", validity_judge, NULL},
};

static int write_record(struct session *s, struct err *e)
{
	uint64_t ns = clock_now_ns() - s->progress.cell_begun_ns;

	if (json_object_set_new(s->cell, "duration_ns", json_integer((json_int_t)ns)))
		return err_set(e, ENOMEM, "record");
	return bundle_add_cell(s->bundle, s->cell, e);
}

static int note_cell(struct session *s, const char *what, struct err *e)
{
	return history_add(s,
		json_pack("{ss,sI,sI,ss,sb,sI}", "what", what, "block",
			(json_int_t)s->block, "position", (json_int_t)s->position, "arm",
			session_arm(s)->name, "audit_failed", s->audit_failed, "broken",
			(json_int_t)s->broken),
		e);
}

int cell_run(struct session *s, struct err *e)
{
	int r;

	progress_begin_cell(&s->progress, clock_now_ns());
	r = note_cell(s, "cell", e);
	if (!r)
		r = phases_run(cell_phases, ARRAY_SIZE(cell_phases), s, status_phase,
			s->o->stop, s->o->log, e);
	if (!r)
		r = write_record(s, e);
	if (!r)
		r = note_cell(s, "cell-done", e);
	if (!r)
		progress_end_cell(&s->progress, s->arm, clock_now_ns());
	json_decref(take_ptr(s->cell));
	/* "Refused" would say that nothing has changed. */
	if (r && e->kind == ERR_REFUSED && (s->position || s->slot || s->has_rows))
		e->kind = ERR_FAILED;
	return r ? err_wrap(e, r, "block %u, arm %s", s->slot + 1, session_arm(s)->name)
		 : 0;
}
