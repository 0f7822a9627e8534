/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Validity of a cell; see validity.h.  Settings are compared with those at the start of
 * the block: arms that were measured under different ones cannot be compared.  Where
 * programs set arms up, changed settings may be what is compared: then they must only stay
 * during a cell.  All devices of the experiment are watched in every arm, so that the
 * rules are the same for all.
 */

#include "run/validity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "evidence/conditions.h"
#include "mount/kernel_log.h"

struct validity {
	const char **disks; /* kernel names; they belong to the session */
	size_t count;
	int kernel_log;
	struct conditions before;
	json_t *reasons;
};

static void validity_free(struct validity *v)
{
	free(v->disks);
	closep(&v->kernel_log);
	conditions_deinit(&v->before);
	json_decref(v->reasons);
	free(v);
}
DEFINE_CLEANUP(struct validity *, validity_free)

static void add_disk(struct validity *v, const struct session_device *d)
{
	const char *name = d->path ? d->identity.kernel_name : NULL;

	for (size_t i = 0; name && i < v->count; i++)
		if (!strcmp(v->disks[i], name))
			return;
	if (name)
		v->disks[v->count++] = name;
}

static bool arms_are_set_up(const struct experiment *x)
{
	for (size_t i = 0; i < x->arm_count; i++)
		if (x->arms[i].setup)
			return true;
	return false;
}

/* Within a block all cells are compared with its start. */
static int keep_settings(struct session *s, struct validity *v, struct err *e)
{
	char **kept = s->position && s->settings ? &v->before.settings : &s->settings;
	const char *text = kept == &s->settings ? v->before.settings : s->settings;
	char *copy;

	if (arms_are_set_up(s->x))
		return 0;
	copy = strdup(text);
	if (!copy)
		return err_set(e, ENOMEM, "watch the conditions");
	free(*kept);
	*kept = copy;
	return 0;
}

int validity_open(void *session, struct err *e)
{
	struct session *s = session;
	_cleanup_(validity_freep) struct validity *v = calloc(1, sizeof(*v));
	int r;

	if (!v)
		return err_set(e, ENOMEM, "watch the conditions");
	v->kernel_log = -1;
	v->disks = calloc(s->x->volume_count + s->x->arm_count + 1, sizeof(*v->disks));
	v->reasons = json_array();
	if (!v->disks || !v->reasons)
		return err_set(e, ENOMEM, "watch the conditions");
	for (size_t i = 0; i < s->x->volume_count; i++)
		add_disk(v, &s->volumes[i].device);
	for (size_t i = 0; i < s->x->arm_count; i++)
		add_disk(v, &s->journals[i]);
	v->kernel_log = kernel_log_mark();
	r = conditions_read(&v->before, v->disks, v->count, e);
	if (!r)
		r = keep_settings(s, v, e);
	if (!r)
		s->validity = take_ptr(v);
	return r;
}

int validity_close(void *session, struct err *e _unused_)
{
	struct session *s = session;

	validity_freep(&s->validity);
	s->validity = NULL;
	return 0;
}

void validity_take_run(struct session *s, const struct result_run *run)
{
	/* Programs may have others read for them: a server, a daemon. */
	bool own_reads = strcmp(run->type, "command") != 0;

	for (size_t i = 0; i < run->phase_count; i++) {
		const struct result_phase *phase = &run->phases[i];
		char name[160];

		if (!phase->evidence)
			continue;
		snprintf(name, sizeof(name), "%s/%s", run->workload, phase->name);
		s->broken |= validity_of_evidence(
			s->validity->reasons, phase->evidence, name, own_reads);
		if (phase->evidence->verdict == EVIDENCE_FAILED)
			s->broken |= validity_add(s->validity->reasons, RULE_AUDIT,
				"%s: %s", name, phase->evidence->reason);
	}
}

int validity_judge(void *session, struct err *e)
{
	struct session *s = session;
	struct validity *v = s->validity;
	_cleanup_(conditions_deinit) struct conditions after = {0};
	_cleanup_free_ char *errors = NULL;
	int r = conditions_read(&after, v->disks, v->count, e);

	if (r)
		return r;
	s->broken |= validity_of_conditions(v->reasons, &v->before, &after);
	errors = kernel_log_errors(v->kernel_log, v->disks, v->count);
	if (errors)
		s->broken |= validity_add(v->reasons, RULE_IO_ERROR, "%s", errors);
	if (json_array_size(v->reasons) &&
		json_object_set(s->cell, "invalid", v->reasons))
		return err_set(e, ENOMEM, "record");
	return 0;
}
