/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The ledger of a cell; see ledgers.h and watched.h.  What the kernel must have sent
 * follows from the options that are in force, not from those that were asked for.
 *
 * With several volumes the flushes of all are added up by role; jbd2's counters are those
 * of the first volume, so only its commits are known, and the judgement is left at
 * "unknown".
 */

#include "run/ledgers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "evidence/judge.h"
#include "evidence/ledger.h"
#include "mount/mount.h"
#include "run/surroundings.h"
#include "run/volumes.h"
#include "run/watched.h"

/* Facts of the arm as the mount table has them. */
static int read_arm(struct session *s, struct err *e)
{
	struct evidence_arm *arm = &s->evidence_arm;
	struct mount_state m = { 0 };
	int r = mount_state_read(&m, s->volumes[0].device.identity.devno, e);

	if (r == -ENOENT)
		return err_say(e, ENOENT, "%s is not mounted", s->volumes[0].device.path);
	if (r)
		return r;
	arm->placement = session_arm(s)->placement.place == JOURNAL_NONE ? ARM_NO_JOURNAL
		: session_arm(s)->placement.place == JOURNAL_INLINE	 ? ARM_INLINE
									 : ARM_EXTERNAL;
	watched_read_options(arm, m.options);
	mount_state_deinit(&m);
	return 0;
}

int ledgers_open(void *session, struct err *e)
{
	struct session *s = session;
	const struct session_device *journal = &s->journals[s->arm];
	_cleanup_free_ char *name = volumes_jbd2_name(s, 0);
	_cleanup_(watched_deinit) struct watched w = { .count = 0 };
	struct ledger_setup setup = { .disks = w.disks };

	for (size_t i = 0; i < s->x->volume_count; i++)
		watched_add(&w, &s->volumes[i].device.identity, EVIDENCE_DATA);
	if (journal->path)
		watched_add(&w, &journal->identity, EVIDENCE_JOURNAL);
	watched_find_models(&w);
	setup.disk_count = w.count;
	if (session_arm(s)->placement.place != JOURNAL_NONE)
		setup.journal_name = name;
	return read_arm(s, e) ? -e->code : ledger_new(&s->ledger, &setup, e);
}

int ledgers_close(void *session, struct err *e _unused_)
{
	struct session *s = session;

	s->ledger = ledger_free(s->ledger);
	return 0;
}

/* The counters are read within what is traced: all that they count is in the trace. */
static void begin(void *data)
{
	const struct session *s = data;

	if (s->tracer)
		tracer_begin(s->tracer);
	ledger_begin(s->ledger);
}

static void end(void *data, struct result_evidence *sum)
{
	struct session *s = data;

	ledger_end(s->ledger, sum);
	if (s->tracer)
		sum->trace = tracer_end(s->tracer);
	surroundings_look_at_files(s);
}

struct workload_observer ledgers_observer(struct session *s)
{
	return (struct workload_observer){ .data = s, .begin = begin, .end = end };
}

/* Why the phases of this run cannot be judged; NULL: they can. */
static const char *unknown_because(const struct session *s, const struct result_run *run)
{
	if (s->x->volume_count > 1)
		return "several volumes at once: their commits are not counted apart";
	if (!strcmp(run->type, "command"))
		return "how often a program syncs is not counted";
	return NULL;
}

static void say_unknown(struct result_evidence *v, const char *why)
{
	v->verdict = EVIDENCE_UNKNOWN;
	snprintf(v->reason, sizeof(v->reason), "%s", why);
}

void ledgers_judge(struct session *s, struct result_run *run)
{
	const char *why = unknown_because(s, run);

	for (size_t i = 0; i < run->phase_count; i++) {
		struct result_phase *phase = &run->phases[i];
		struct evidence_arm arm = s->evidence_arm;

		if (!phase->evidence)
			continue;
		arm.new_data = phase->counters.bytes > 0;
		if (!why)
			evidence_judge(phase->evidence, &phase->counters, &arm);
		else if (!evidence_judge_models(phase->evidence))
			say_unknown(phase->evidence, why);
		if (phase->evidence->verdict == EVIDENCE_FAILED)
			s->audit_failed = true;
	}
}
