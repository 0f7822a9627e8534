/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Running a table of phases; see phases.h. */

#include "run/phases.h"

static int run_one(const struct phase *p, void *context, phase_begun *begun_one,
	const volatile sig_atomic_t *stop, struct err *e)
{
	int r;

	if (*stop)
		return err_interrupted(e, *stop);
	if (begun_one)
		begun_one(context, p->name, false);
	r = p->run(context, e);
	return r ? err_wrap(e, r, "%s", p->name) : 0;
}

static int undo_one(const struct phase *p, void *context, phase_begun *begun_one,
	int failed, const struct log *log, struct err *e)
{
	_cleanup_(err_clear) struct err late = {0};
	int r;

	if (!p->undo)
		return failed;
	if (begun_one)
		begun_one(context, p->name, true);
	r = p->undo(context, failed ? &late : e);
	if (!r)
		return failed;
	if (!failed)
		return err_wrap(e, r, "undo \"%s\"", p->name);
	log_line(log, LOG_WARNING, "undo \"%s\": %s", p->name, err_message(&late));
	/* A volume in the middle of a move is the worst that can be said. */
	if (late.kind == ERR_NEEDS_RECOVER)
		e->kind = ERR_NEEDS_RECOVER;
	return failed;
}

int phases_run(const struct phase *phases, size_t count, void *context,
	phase_begun *begun_one, const volatile sig_atomic_t *stop, const struct log *log,
	struct err *e)
{
	size_t begun = 0;
	int r = 0;

	while (!r && begun < count)
		r = run_one(&phases[begun++], context, begun_one, stop, e);
	while (begun--)
		r = undo_one(&phases[begun], context, begun_one, r, log, e);
	return r;
}
