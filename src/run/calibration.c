/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Calibration; see calibration.h.  It takes as many blocks as a pilot, fewer cannot show
 * anything: six blocks and the exact test at 95 % make a false alarm in 3 % of cases.
 * Which of the two cells of a block is "the other one" is drawn like the order of arms.
 */

#include "run/calibration.h"

#include <errno.h>
#include <math.h>

#include "plan/order.h"
#include "run/cell.h"
#include "run/history.h"
#include "run/volumes.h"
#include "stats/plan_n.h"
#include "stats/verdict.h"

int calibration_move_away(void *session, struct err *e)
{
	struct session *s = session;
	int r;

	/* What programs of an arm set up is theirs to explain. */
	if (!s->calibrating || s->x->arms[1].setup)
		return 0;
	s->arm = 1;
	r = volumes_place(s, e);
	s->arm = 0;
	return r;
}

static int measure_block(struct session *s, struct err *e)
{
	const struct order_stage stage = {0, PILOT_BLOCKS};
	size_t order[2];
	int r = 0;

	order_block(s->x->seed, stage, s->slot, 2, order);
	for (uint32_t i = 0; !r && i < 2; i++) {
		s->position = i;
		s->arm = 0;
		s->role = (uint32_t)order[i];
		if (history_is_done(s, s->block, i))
			r = effects_copy(&s->calibration, s->slot, s->role,
				&s->past_effects, s->block, i, e);
		else
			r = cell_run(s, e);
	}
	return r;
}

/* The verdict over what was measured. */
static int judge(struct session *s, struct err *e)
{
	const struct experiment *x = s->x;
	_cleanup_free_ double *a = calloc(PILOT_BLOCKS, sizeof(*a));
	_cleanup_free_ double *b = calloc(PILOT_BLOCKS, sizeof(*b));
	struct contrast c;
	size_t n = 0;

	if (!a || !b)
		return err_set(e, ENOMEM, "calibrate");
	for (uint32_t i = 0; i < s->calibration.blocks && i < PILOT_BLOCKS; i++) {
		const double *values = s->calibration.values;

		if (!(values[2 * i] > 0 && values[2 * i + 1] > 0))
			continue;
		a[n] = values[2 * i];
		b[n++] = values[2 * i + 1];
	}
	if (!n)
		return err_usage(e,
			"there is no metric %s in arm %s, with which it was to be calibrated",
			x->primary, x->arms[0].name);
	contrast_make(&c, a, b, n, x->design.margin, 0.95);
	s->calibration_failed = contrast_is_alarm(&c);
	log_line(s->o->log, s->calibration_failed ? LOG_WARNING : LOG_NOTE,
		"calibration: %s against itself, %zu blocks: ratio %.3f (%.3f to %.3f), %s",
		x->arms[0].name, n, c.ratio, c.ratio_low, c.ratio_high,
		!s->calibration_failed ? contrast_of_itself(&c)
		: x->design.calibrate == CALIBRATE_YES
			? "which cannot be: this setup shows differences where there are "
			  "none, ending here"
			: "which cannot be: what follows is not to be believed");
	return 0;
}

int calibration_run(void *session, struct err *e)
{
	struct session *s = session;
	int r = 0;

	if (s->x->design.calibrate == CALIBRATE_NO)
		return 0;
	s->calibrating = true;
	s->step.blocks = PILOT_BLOCKS;
	for (s->slot = 0; !r && s->slot < PILOT_BLOCKS; s->slot++, s->block++)
		r = measure_block(s, e);
	s->calibrating = false;
	s->slot = 0;
	s->broken = 0;
	return r ? r : judge(s, e);
}
