/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Design of an experiment; see design.h. */

#include "plan/design.h"

#include <math.h>
#include <string.h>

#include "core/clock.h"
#include "core/units.h"
#include "plan/experiment.h"
#include "stats/plan_n.h"

#define MARGIN_DEFAULT 0.03
#define MAX_BLOCKS_DEFAULT 100
#define REPEAT_DEFAULT 2
#define REPEAT_MAX 20
#define WARMUP_MAX 100

void plan_design_init(struct plan_design *d)
{
	*d = (struct plan_design){
		.margin = MARGIN_DEFAULT,
		.max_blocks = MAX_BLOCKS_DEFAULT,
		.repeat = REPEAT_DEFAULT,
		.probe = 1};
}

static struct plan_design *design_of(void *experiment)
{
	return &((struct experiment *)experiment)->design;
}

static int set_percent(double *field, const char *value, struct err *e)
{
	int r = units_parse_percent(value, field, e);

	if (!r && !(*field > 0 && *field < 1))
		return err_usage(e, "\"%s\" is not between 0%% and 100%%", value);
	return r;
}

int plan_set_target(void *experiment, const char *value, struct err *e)
{
	return set_percent(&design_of(experiment)->target, value, e);
}

int plan_set_margin(void *experiment, const char *value, struct err *e)
{
	return set_percent(&design_of(experiment)->margin, value, e);
}

int plan_set_max_blocks(void *experiment, const char *value, struct err *e)
{
	uint64_t blocks = 0;
	int r = units_parse_count(
		value, PILOT_BLOCKS, EXPERIMENT_MAX_BLOCKS, &blocks, e);

	design_of(experiment)->max_blocks = (uint32_t)blocks;
	return r;
}

int plan_set_early_stop(void *experiment, const char *value, struct err *e)
{
	return units_parse_bool(value, &design_of(experiment)->early_stop, e);
}

int plan_set_calibrate(void *experiment, const char *value, struct err *e)
{
	struct plan_design *d = design_of(experiment);
	int yes = 0, r;

	if (!strcmp(value, "warn")) {
		d->calibrate = CALIBRATE_WARN;
		return 0;
	}
	r = units_parse_bool(value, &yes, NULL);
	if (r)
		return err_usage(e, "\"%s\" is not yes, warn or no", value);
	d->calibrate = yes ? CALIBRATE_YES : CALIBRATE_NO;
	return 0;
}

int plan_set_warmup(void *experiment, const char *value, struct err *e)
{
	uint64_t count = 0;
	int r = units_parse_count(value, 0, WARMUP_MAX, &count, e);

	design_of(experiment)->warmup = (uint32_t)count;
	return r;
}

int plan_set_probe(void *experiment, const char *value, struct err *e)
{
	return units_parse_bool(value, &design_of(experiment)->probe, e);
}

int plan_set_repeat(void *experiment, const char *value, struct err *e)
{
	uint64_t count = 0;
	int r = units_parse_count(value, 0, REPEAT_MAX, &count, e);

	design_of(experiment)->repeat = (uint32_t)count;
	return r;
}

int plan_set_precondition(void *experiment, const char *value, struct err *e)
{
	uint64_t *ns = &design_of(experiment)->precondition_ns;
	int r;

	*ns = 0;
	if (!strcmp(value, "no"))
		return 0;
	r = units_parse_duration(value, ns, NULL);
	return r || !*ns ? err_usage(e, "\"%s\" is neither \"no\" nor a time", value) : 0;
}

/* The number of blocks follows from one metric of several arms, and from a pilot that is
 * long enough to show a spread. */
static int check_followed(const struct experiment *x, const char *key, struct err *e)
{
	if (!x->primary)
		return err_usage(e,
			"%s is about the primary metric: \"primary = "
			"WORKLOAD/PHASE/METRIC\" is needed",
			key);
	if (x->arm_count < 2)
		return err_usage(e, "%s needs two arms to compare", key);
	if (x->blocks < PILOT_BLOCKS)
		return err_usage(e,
			"%s needs \"blocks = %d\" at least: they are the pilot that shows "
			"the spread",
			key, PILOT_BLOCKS);
	return 0;
}

int plan_design_check(const struct experiment *x, const char **key, struct err *e)
{
	const struct plan_design *d = &x->design;

	*key = "calibrate";
	if (d->calibrate != CALIBRATE_NO && (!x->primary || x->arm_count < 2))
		return err_usage(e,
			"calibrate judges by the primary metric, and moves the journal to "
			"where the second arm has it: \"primary\" and two arms are needed");
	*key = "early_stop";
	if (d->early_stop && d->target > 0)
		return err_usage(e,
			"early_stop and target are two ways to the number of blocks: "
			"choose one");
	if (d->early_stop && x->blocks != PILOT_BLOCKS)
		return err_usage(e,
			"early_stop looks after 6, 12, 24 and 48 blocks: \"blocks = %u\" "
			"does not go with it",
			x->blocks);
	if (d->early_stop)
		return check_followed(x, *key, e);
	*key = "target";
	if (d->target > 0)
		return check_followed(x, *key, e);
	return 0;
}

static void print_percent(struct strbuf *b, const char *key, double fraction)
{
	strbuf_addf(b, "%s = %.12g%%\n", key, 100 * fraction);
}

void plan_design_print(const struct plan_design *d, struct strbuf *b)
{
	struct plan_design usual;

	plan_design_init(&usual);
	if (d->target > 0)
		print_percent(b, "target", d->target);
	if (d->margin != usual.margin)
		print_percent(b, "margin", d->margin);
	if (d->max_blocks != usual.max_blocks)
		strbuf_addf(b, "max_blocks = %u\n", d->max_blocks);
	if (d->calibrate != CALIBRATE_NO)
		strbuf_addf(b, "calibrate = %s\n",
			d->calibrate == CALIBRATE_YES ? "yes" : "warn");
	if (d->warmup)
		strbuf_addf(b, "warmup = %u\n", d->warmup);
	if (d->precondition_ns % NS_PER_S)
		strbuf_addf(b, "precondition = %lluns\n",
			(unsigned long long)d->precondition_ns);
	else if (d->precondition_ns)
		strbuf_addf(b, "precondition = %llus\n",
			(unsigned long long)(d->precondition_ns / NS_PER_S));
	if (!d->probe)
		strbuf_add(b, "probe = no\n");
	if (d->repeat != usual.repeat)
		strbuf_addf(b, "repeat = %u\n", d->repeat);
	if (d->early_stop)
		strbuf_add(b, "early_stop = yes\n");
}

struct schedule plan_schedule(const struct experiment *x)
{
	return (struct schedule){
		.kind = x->design.early_stop   ? SCHEDULE_LOOKS
			: x->design.target > 0 ? SCHEDULE_STEIN
					       : SCHEDULE_FIXED,
		.blocks = x->blocks,
		.max = x->design.max_blocks,
		.target = x->design.target,
		.margin = x->design.margin};
}
