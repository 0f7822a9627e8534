/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * jbdlab run --dry-run: the resolved plan, the order of the arms, and what it would cost
 * and could show.  Nobody knows the spread of a disk before it was measured; what a number
 * of blocks would show is said for a quiet, a usual and a noisy one.
 */

#include "cli/run_dry.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "core/sha256.h"
#include "core/strbuf.h"
#include "core/units.h"
#include "plan/order.h"
#include "plan/schedule.h"
#include "report/report.h"
#include "run/estimate.h"
#include "stats/plan_n.h"
#include "stats/steady.h"

#define POWER 0.8

/* Standard deviations of the log ratio of two arms in a block. */
static const double assumed_spreads[] = {0.02, 0.05, 0.1};

static void print_order(const struct experiment *x)
{
	const struct order_stage stage = {0, x->blocks};
	size_t order[EXPERIMENT_MAX_ARMS];

	for (uint32_t block = 0; block < x->blocks; block++) {
		order_block(x->seed, stage, block, x->arm_count, order);
		_cleanup_(strbuf_deinit) struct strbuf b = {0};
		char name[24];

		for (size_t i = 0; i < x->arm_count; i++)
			strbuf_addf(&b, "%s%s", i ? " " : "", x->arms[order[i]].name);
		snprintf(name, sizeof(name), "block %u:", block + 1);
		cli_print_entry(name, (int)strlen(name), strbuf_text(&b));
	}
}

/* What a number of blocks could show, if the log ratios of blocks spread so much. */
static double detectable(const struct experiment *x, double spread)
{
	const struct schedule s = plan_schedule(x);

	return exp(plan_n_detectable(spread, x->blocks, schedule_level(&s), POWER));
}

static void print_detectable(const struct experiment *x)
{
	if (x->arm_count < 2)
		return;
	if (x->blocks < REPORT_BLOCKS_FOR_A_STATEMENT) {
		printf("shows: nothing about noise: that takes %d blocks\n",
			REPORT_BLOCKS_FOR_A_STATEMENT);
		return;
	}
	printf("shows: with %u blocks in %.0f %% of cases, if ratios spread by", x->blocks,
		100 * POWER);
	for (size_t i = 0; i < ARRAY_SIZE(assumed_spreads); i++)
		printf("%s %.0f %%", i ? "," : "", 100 * assumed_spreads[i]);
	printf(":\n       differences of");
	for (size_t i = 0; i < ARRAY_SIZE(assumed_spreads); i++)
		printf("%s %.1f %%", i ? "," : "",
			100 * (detectable(x, assumed_spreads[i]) - 1));
	printf("\n");
}

static json_t *detectable_to_json(const struct experiment *x)
{
	json_t *list = json_array();

	for (size_t i = 0; x->arm_count > 1 &&
			   x->blocks >= REPORT_BLOCKS_FOR_A_STATEMENT &&
			   i < ARRAY_SIZE(assumed_spreads);
		i++)
		json_array_append_new(list,
			json_pack("{sf,sf}", "spread", assumed_spreads[i], "ratio",
				detectable(x, assumed_spreads[i])));
	return list;
}

/* The devices are not looked at here: their sizes and how soon they are steady are unknown. */
static void print_precondition(const struct experiment *x)
{
	uint64_t round_ns = x->design.precondition_ns;
	char least[24], most[24];

	if (!round_ns)
		return;
	units_format_duration(STEADY_WINDOW * round_ns, least);
	units_format_duration(STEADY_ROUNDS_MAX * round_ns, most);
	printf("first: each device is filled twice, then written at random for\n"
	       "       %s to %s, which is not in that time\n",
		least, most);
}

static void print_dry_text(const struct experiment *x, const char *plan, const char *hash)
{
	struct estimate est;
	char bytes[16], cell[16], space[16], duration[24];

	estimate_run(x, &est);
	units_format_bytes(est.bytes, bytes);
	units_format_bytes(est.cell_bytes, cell);
	units_format_bytes(est.space_bytes, space);
	units_format_duration(est.time_ns, duration);
	printf("%s\n", plan);
	print_order(x);
	if (x->notes)
		printf("\n%s\n", x->notes);
	printf("\nplan:  SHA-256 %s\n", hash);
	printf("cells: %u, each writes and reads %s, in all %s\n", est.cells, cell,
		bytes);
	printf("space: %s free%s\n", space,
		x->volume_count > 1 ? ", spread over the volumes" : "");
	printf("time:  about %s, if the disks move %d MB/s; synced writes take longer\n",
		duration, (int)(ESTIMATE_BYTES_PER_SECOND / 1000000));
	print_precondition(x);
	print_detectable(x);
}

static json_t *order_to_json(const struct experiment *x)
{
	const struct order_stage stage = {0, x->blocks};
	size_t order[EXPERIMENT_MAX_ARMS];
	json_t *blocks = json_array();

	for (uint32_t block = 0; block < x->blocks; block++) {
		json_t *arms = json_array();

		order_block(x->seed, stage, block, x->arm_count, order);
		for (size_t i = 0; i < x->arm_count; i++)
			json_array_append_new(arms, json_string(x->arms[order[i]].name));
		json_array_append_new(blocks, arms);
	}
	return blocks;
}

static int print_dry_json(
	const struct experiment *x, const char *plan, const char *hash, struct err *e)
{
	struct estimate est;
	json_auto_t *json = NULL;

	estimate_run(x, &est);
	json = json_pack("{ss,ss,ss,ss,ss,sI,so,so,sI,sI,sI,sI,sI}", "schema", "jbdlab-plan/1",
		"name", x->name, "plan", plan, "notes", x->notes ? x->notes : "",
		"plan_sha256", hash, "seed", (json_int_t)x->seed, "order",
		order_to_json(x), "detectable", detectable_to_json(x), "cells",
		(json_int_t)est.cells, "cell_bytes", (json_int_t)est.cell_bytes, "bytes",
		(json_int_t)est.bytes, "space_bytes", (json_int_t)est.space_bytes,
		"estimated_ns", (json_int_t)est.time_ns);
	if (!json)
		return err_set(e, ENOMEM, "print the plan");
	json_dumpf(json, stdout, JSON_INDENT(2));
	putchar('\n');
	return 0;
}

int run_dry(struct cli *cli, const struct experiment *x, struct err *e)
{
	_cleanup_free_ char *plan = experiment_print(x);
	char hash[SHA256_TEXT];

	if (!plan)
		return err_set(e, ENOMEM, "print the plan");
	sha256_hex(plan, strlen(plan), hash);
	if (cli_json(cli))
		return print_dry_json(x, plan, hash, e);
	print_dry_text(x, plan, hash);
	return 0;
}
