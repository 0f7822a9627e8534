/* SPDX-License-Identifier: GPL-3.0-or-later */

/* jbdlab advise DEV: what the journal of a volume at work costs, and could save at most. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "advise/advice.h"
#include "cli/command.h"
#include "cli/signals.h"
#include "core/clock.h"
#include "core/printable.h"
#include "core/units.h"
#include "placement/placement.h"

enum { OPTION_SECONDS = 1, OPTION_JOURNAL };

enum { SECONDS_MAX = 86400 };

static const struct option_spec options[] = {
	{ OPTION_SECONDS, 's', "seconds", "COUNT", "how long to watch (default 60)" },
	{ OPTION_JOURNAL, 0, "journal", "DEVICE",
		"that could carry the journal, for the experiment file; nothing is done to it" },
	{ 0 },
};

/* As the file will have it; one that cannot stand there is refused now. */
static int check_journal(const char *device, struct err *e)
{
	_cleanup_(placement_deinit) struct placement p = { 0 };
	_cleanup_free_ char *text = NULL;

	if (asprintf(&text, "external=%s", device) < 0) {
		text = NULL;
		return err_set(e, ENOMEM, "advise");
	}
	if (strpbrk(device, " \t\n,;#"))
		return err_usage(e, "--journal %s: no device can have this name", device);
	return placement_parse(&p, text, e);
}

static int parse(struct option_parser *p, struct advice_question *q, struct err *e)
{
	uint64_t seconds = 60;
	const char *value;
	int id, r = 0;

	while (!r && (id = option_next(p, &value, e)) != 0) {
		if (id < 0)
			return id;
		if (id == OPTION_SECONDS)
			r = units_parse_count(value, 1, SECONDS_MAX, &seconds, e);
		else {
			q->journal = value;
			r = check_journal(value, e);
		}
	}
	if (r)
		return r;
	q->duration_ns = seconds * NS_PER_S;
	return option_operand(p, "device", &q->device, e);
}

static int run(struct cli *cli, struct option_parser *p, struct err *e)
{
	_cleanup_(advice_deinit) struct advice advice = { 0 };
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };
	struct advice_question q = { .log = cli_log(cli) };
	int stopped, r = parse(p, &q, e);

	if (r)
		return r;
	q.stop = signals_catch();
	r = advice_make(&advice, &q, e);
	signals_release();
	if (r)
		return r;
	stopped = *q.stop;
	cli_progress_done(cli);
	if (cli_json(cli)) {
		r = advice_json(&advice, &out, e);
	} else {
		advice_text(&advice, &out);
		printable_make(&out);
	}
	if (r)
		return r;
	fputs(strbuf_text(&out), stdout);
	return stopped ? err_interrupted(e, stopped) : STATUS_DONE;
}

const struct command command_advise = {
	.name = "advise",
	.arguments = "DEV [options]",
	.summary = "watch a volume: what its journal costs and could save at most",
	.options = options,
	.flags = COMMAND_JSON,
	.run = run,
};
