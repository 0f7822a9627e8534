/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The blocks of a run; see blocks.h.  Before each block it is asked how many there will
 * be, and whenever that became clear it is said, with the time that it takes.
 */

#include "run/blocks.h"

#include <math.h>

#include "core/clock.h"
#include "core/units.h"
#include "evidence/conditions.h"
#include "plan/order.h"
#include "run/cell.h"
#include "run/history.h"

/* No block is begun that would not be done in time. */
static bool time_is_over(const struct session *s)
{
	uint64_t spent = clock_now_ns() - s->begun_ns;
	uint64_t next = progress_block_ns(&s->progress);

	return s->x->max_time_ns && s->slot && next != UINT64_MAX &&
	       spent + next > s->x->max_time_ns;
}

/* ", about 3min 20s", or nothing */
static void time_text(const struct session *s, uint32_t blocks, char out[static 64])
{
	uint64_t one = progress_block_ns(&s->progress);
	uint64_t left = s->x->max_time_ns - MIN(s->x->max_time_ns,
						    clock_now_ns() - s->begun_ns);
	char time[24];

	out[0] = '\0';
	if (!blocks || one == UINT64_MAX)
		return;
	units_format_duration(one * blocks - (one * blocks > NS_PER_S
						      ? one * blocks % NS_PER_S
						      : 0),
		time);
	snprintf(out, 64, ", about %s%s", time,
		s->x->max_time_ns && one * blocks > left ? ", beyond max_time" : "");
}

static void announce_stein(const struct session *s, const struct schedule_step *step)
{
	double target = 100 * s->x->design.target;
	uint32_t more = step->blocks - s->slot;
	char time[64];

	time_text(s, more, time);
	if (!step->wanted)
		log_line(s->o->log, LOG_WARNING,
			"the pilot has too few valid blocks for a plan: ending with it");
	else if (!more && step->wanted <= step->blocks)
		log_line(s->o->log, LOG_NOTE,
			"spread between blocks %.1f %%: the pilot is enough for the "
			"target of +-%.4g %%",
			100 * expm1(step->sd), target);
	else if (step->wanted > step->blocks)
		log_line(s->o->log, LOG_NOTE,
			"spread between blocks %.1f %%: the target of +-%.4g %% would need "
			"%u blocks, max_blocks allows %u: %u more%s",
			100 * expm1(step->sd), target, step->wanted, step->blocks, more,
			time);
	else
		log_line(s->o->log, LOG_NOTE,
			"spread between blocks %.1f %%: the target of +-%.4g %% needs %u "
			"blocks: %u more%s",
			100 * expm1(step->sd), target, step->blocks, more, time);
}

static void announce_look(const struct session *s, const struct schedule_step *step)
{
	uint32_t more = step->blocks - s->slot;
	char time[64];

	time_text(s, more, time);
	if (!more)
		log_line(s->o->log, LOG_NOTE, "look after %u blocks: it ends here",
			s->slot);
	else
		log_line(s->o->log, LOG_NOTE,
			"look after %u blocks: not decided, the next after %u%s",
			s->slot, step->blocks, time);
}

/* How many blocks there will be, given those that are done. */
static int plan_blocks(struct session *s, struct err *e)
{
	const struct schedule schedule = plan_schedule(s->x);
	uint32_t planned = s->slot ? s->step.blocks : s->x->blocks;
	int r = effects_schedule(&s->effects, &schedule, s->slot, &s->step, e);

	if (r)
		return r;
	s->progress.blocks = s->step.blocks;
	if (s->step.announce && schedule.kind == SCHEDULE_STEIN)
		announce_stein(s, &s->step);
	else if (s->step.announce)
		announce_look(s, &s->step);
	return s->step.blocks == planned
		       ? 0
		       : bundle_set_blocks(s->bundle, s->step.blocks, e);
}

/* A primary metric that does not exist would be noticed after the whole pilot. */
static int check_primary(const struct session *s, struct err *e)
{
	if (plan_schedule(s->x).kind == SCHEDULE_FIXED)
		return 0;
	for (size_t arm = 0; arm < s->x->arm_count; arm++)
		if (s->effects.blocks <= s->slot ||
			isnan(s->effects.values[s->slot * s->effects.arms + arm]))
			return err_usage(e,
				"there is no metric %s in arm %s, from which the number of "
				"blocks was to follow; \"jbdlab report %s --format csv\" "
				"lists all",
				s->x->primary, s->x->arms[arm].name, s->bundle_path);
	return 0;
}

/* A cell that an earlier process has measured. */
static int recall_cell(struct session *s, struct err *e)
{
	s->broken |= history_broken(s, s->block, s->position);
	return effects_copy(&s->effects, s->slot, s->arm, &s->past_effects, s->block,
		s->position, e);
}

static int measure_block(struct session *s, struct err *e)
{
	size_t order[EXPERIMENT_MAX_ARMS];
	int r = 0;

	order_block(s->x->seed, s->step.stage, s->slot, s->x->arm_count, order);
	for (uint32_t i = 0; !r && i < s->x->arm_count; i++) {
		s->position = i;
		s->arm = order[i];
		r = history_is_done(s, s->block, i) ? recall_cell(s, e) : cell_run(s, e);
	}
	return r;
}

/* By the rules that were broken in it: is this block measured again? */
static bool is_repeated(struct session *s)
{
	unsigned tolerated = s->repeat.tolerated, attempts = s->repeat.attempt + 1;
	bool again = repeat_is_needed(&s->repeat, s->broken, s->x->design.repeat);

	if (again)
		log_line(s->o->log, LOG_NOTE,
			"block %u is invalid (%s) and measured again", s->slot + 1,
			validity_text(s->broken));
	else if (s->repeat.tolerated != tolerated)
		log_line(s->o->log, LOG_WARNING,
			"block %u was invalid in all of %u attempts (%s): it counts "
			"nevertheless, the report says so, and this is no reason to repeat "
			"blocks any more",
			s->slot + 1, attempts,
			validity_text(s->repeat.tolerated & ~tolerated));
	return again;
}

int blocks_measure(void *session, struct err *e)
{
	struct session *s = session;
	int r;

	s->begun_ns = clock_now_ns() - s->spent_ns;
	s->step.blocks = s->x->blocks;
	if (s->calibration_failed && s->x->design.calibrate == CALIBRATE_YES)
		return 0;
	for (;; s->block++) {
		r = plan_blocks(s, e);
		if (r || s->slot >= s->step.blocks)
			return r;
		if (time_is_over(s)) {
			log_line(s->o->log, LOG_NOTE,
				"max_time: ending after %u of %u block%s", s->slot,
				s->step.blocks, PLURAL(s->step.blocks));
			return 0;
		}
		s->broken = 0;
		r = measure_block(s, e);
		if (!r && !s->slot)
			r = check_primary(s, e);
		if (r)
			return r;
		if (is_repeated(s)) {
			effects_drop(&s->effects, s->slot);
			continue;
		}
		s->slot++;
		s->blocks_done++;
	}
}
