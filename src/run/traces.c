/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The tracer of a cell; see traces.h.  A trace explains, it decides nothing: whatever
 * goes wrong with it is a note, never the end of a run.
 */

#include "run/traces.h"

#include "run/traced.h"

static int set_up(const struct session *s, struct tracer_setup *setup, struct err *e)
{
	const struct session_device *journal = &s->journals[s->arm];
	int r = 0;

	setup->process = s->o->process;
	for (size_t i = 0; !r && i < s->x->volume_count; i++)
		r = traced_add(setup, &s->volumes[i].device.identity,
			journal->path ? &journal->identity : NULL, e);
	return r;
}

int traces_open(void *session, struct err *e _unused_)
{
	struct session *s = session;
	_cleanup_(traced_deinit) struct tracer_setup setup = { 0 };
	_cleanup_(err_clear) struct err why = { 0 };
	int r;

	if (!s->x->trace || s->no_trace)
		return 0;
	r = set_up(s, &setup, &why);
	if (!r)
		r = tracer_new(&s->tracer, &setup, &why);
	if (!r)
		return 0;
	s->no_trace = true;
	log_line(s->o->log, LOG_NOTE, "nothing is traced: %s", err_message(&why));
	return 0;
}

int traces_close(void *session, struct err *e _unused_)
{
	struct session *s = session;

	s->tracer = tracer_free(s->tracer);
	return 0;
}

static int keep_one(struct session *s, const struct result_run *run,
	const struct result_phase *phase, struct err *e)
{
	_cleanup_(timeline_freep) struct timeline *t = NULL;
	_cleanup_(err_clear) struct err why = { 0 };
	int r;

	if (tracer_take(s->tracer, phase->evidence->trace, &t, &why))
		log_line(s->o->log, LOG_NOTE, "%s/%s is not traced: %s", run->workload,
			phase->name, err_message(&why));
	if (!t)
		return 0;
	r = timeline_label(t, run->workload, phase->name, run->arm, run->block, e);
	return r ? r : bundle_add_trace(s->bundle, t, e);
}

int traces_keep(struct session *s, const struct result_run *run, struct err *e)
{
	int r = 0;

	if (!s->tracer)
		return 0;
	for (size_t i = 0; !r && i < run->phase_count; i++)
		if (run->phases[i].evidence)
			r = keep_one(s, run, &run->phases[i], e);
	tracer_forget(s->tracer);
	return r;
}
