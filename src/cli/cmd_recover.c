/* SPDX-License-Identifier: GPL-3.0-or-later */

/* jbdlab recover DEV: finish or roll back an interrupted move. */

#include <stdio.h>

#include "cli/command.h"
#include "placement/move.h"
#include "placement/recover.h"

enum { OPT_FINISH = 1, OPT_ROLLBACK, OPT_STATE_DIR };

static const struct option_spec options[] = {
	{ OPT_FINISH, 0, "finish", NULL,
		"go on to where the move was going (default, unless it was being rolled back)" },
	{ OPT_ROLLBACK, 0, "rollback", NULL, "go back to where the journal was" },
	{ OPT_STATE_DIR, 0, "state-dir", "DIR",
		"where the intent log is kept (" MOVE_STATE_DIR ")" },
	{ 0 },
};

/* GO_ON: with what was interrupted, be it the move or its rollback. */
enum wish { GO_ON, FINISH, ROLLBACK };

static int parse(struct option_parser *p, struct recover_options *o, enum wish *wish,
	struct err *e)
{
	bool finish = false, rollback = false;
	const char *value;
	int id;

	while ((id = option_next(p, &value, e)) != 0) {
		if (id < 0)
			return id;
		if (id == OPT_STATE_DIR)
			o->state_dir = value;
		finish = finish || id == OPT_FINISH;
		rollback = rollback || id == OPT_ROLLBACK;
	}
	*wish = finish ? FINISH : rollback ? ROLLBACK : GO_ON;
	if (finish && rollback)
		return err_usage(e, "--finish and --rollback exclude each other");
	return option_operand(p, "device", &o->device, e);
}

/* Settled on one side; the wanted one may be the other. */
static int go_on(const struct recover_options *o, const char *wanted, bool undo, struct err *e)
{
	_cleanup_(placement_deinit) struct placement to = { 0 };
	_cleanup_(move_outcome_deinit) struct move_outcome out = { 0 };
	struct move_options m = { .device = o->device, .to = &to, .verify = VERIFY_FSCK,
		.state_dir = o->state_dir, .undo = undo, .takes_log = true,
		.log = o->log };
	int r = placement_parse(&to, wanted, e);

	return r ? r : move_run(&m, &out, e);
}

static int run(struct cli *cli, struct option_parser *p, struct err *e)
{
	_cleanup_(recover_outcome_deinit) struct recover_outcome out = { 0 };
	struct recover_options o = { .keep_log = true, .log = cli_log(cli) };
	const char *wanted;
	enum wish wish;
	bool back;
	int r = parse(p, &o, &wish, e);

	if (!r)
		r = recover_settle(&o, &out, e);
	if (r)
		return r;
	/* Of a rollback the origin is where the move was going. */
	back = wish == (out.undo ? FINISH : ROLLBACK);
	wanted = back ? out.origin : out.target;
	if (wanted) {
		r = go_on(&o, wanted, back != out.undo, e);
		if (r)
			return err_wrap(e, r, "%s is whole, with its journal %s, but not %s",
				o.device, out.placement, wanted);
	}
	cli_progress_done(cli);
	if (!out.found)
		cli_printf("%s: nothing to recover; journal is %s\n", o.device, out.placement);
	else
		cli_printf("%s: recovered; journal is %s\n", o.device,
			wanted ? wanted : out.placement);
	return STATUS_DONE;
}

const struct command command_recover = {
	.name = "recover",
	.arguments = "DEV [--finish|--rollback]",
	.summary = "finish or roll back an interrupted move",
	.options = options,
	.flags = COMMAND_DESTRUCTIVE,
	.page = "jbdlab-move(8)",
	.run = run,
};
