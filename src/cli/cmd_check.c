/* SPDX-License-Identifier: GPL-3.0-or-later */

/* jbdlab check DEV --to PLACEMENT: every reason why a move would be refused, at once. */

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "placement/move.h"

enum { OPT_TO = 1 };

static const struct option_spec options[] = {
	{ OPT_TO, 't', "to", "PLACEMENT",
		"none, inline[,size=SIZE][,at=WHERE] or external=DEVICE[,size=SIZE]" },
	{ 0 },
};

static int parse(struct option_parser *p, struct move_options *o, struct placement *to,
	struct err *e)
{
	bool has_to = false;
	const char *value;
	int id, r = 0;

	while (!r && (id = option_next(p, &value, e)) != 0) {
		if (id < 0)
			return id;
		placement_deinit(to);
		r = placement_parse(to, value, e);
		has_to = true;
	}
	if (r)
		return r;
	r = option_operand(p, "device", &o->device, e);
	if (r)
		return r;
	return has_to ? 0 : err_usage(e, "check needs --to PLACEMENT");
}

static json_t *lines_to_json(const char *text)
{
	json_t *lines = json_array();

	while (text && *text) {
		size_t n = strcspn(text, "\n");

		json_array_append_new(lines, json_stringn(text, n));
		text += n + (text[n] == '\n');
	}
	return lines;
}

static void print_json(bool refused, const char *reasons, const char *warnings)
{
	json_t *json = json_pack("{s:s, s:b, s:o, s:o}", "schema", "jbdlab-check/1",
		"possible", !refused, "reasons", lines_to_json(reasons), "warnings",
		lines_to_json(warnings));

	json_dumpf(json, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	putchar('\n');
	json_decref(json);
}

static int run(struct cli *cli, struct option_parser *p, struct err *e)
{
	_cleanup_(placement_deinit) struct placement to = { 0 };
	_cleanup_(move_outcome_deinit) struct move_outcome out = { 0 };
	struct move_options o = { .to = &to, .dry_run = true, .log = cli_log(cli) };
	int r = parse(p, &o, &to, e);
	bool refused;

	if (r)
		return r;
	r = move_run(&o, &out, e);
	refused = r && e->kind == ERR_REFUSED;
	if (r && !refused)
		return r;
	cli_progress_done(cli);
	if (cli_json(cli))
		print_json(refused, refused ? err_message(e) : NULL, out.warnings);
	else if (refused)
		cli_printf("%s\n", err_message(e));
	else
		cli_printf("nothing speaks against it\n");
	return refused ? STATUS_REFUSED : STATUS_DONE;
}

const struct command command_check = {
	.name = "check",
	.arguments = "DEV --to PLACEMENT",
	.summary = "list every reason why a move would be refused",
	.options = options,
	.flags = COMMAND_JSON,
	.page = "jbdlab-move(8)",
	.run = run,
};
