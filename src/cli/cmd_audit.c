/* SPDX-License-Identifier: GPL-3.0-or-later */

/* jbdlab audit BUNDLE: did the syncs reach the devices? */

#include <stdio.h>

#include "cli/command.h"
#include "core/printable.h"
#include "report/report.h"

static int parse(struct option_parser *p, const char **path, struct err *e)
{
	const char *value;
	int id = option_next(p, &value, e);

	if (id)
		return id;
	return option_operand(p, "bundle", path, e);
}

static int run(struct cli *cli, struct option_parser *p, struct err *e)
{
	_cleanup_(report_deinit) struct report report = { 0 };
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };
	const char *path = NULL;
	int r = parse(p, &path, e);

	if (!r)
		r = report_load(&report, path, e);
	if (!r)
		r = cli_json(cli) ? render_json(&report, &out, e)
				  : render_audit(&report, true, &out, e);
	if (!r && !cli_json(cli))
		r = render_traces(&report, &out, e);
	if (!r && !cli_json(cli))
		r = render_surroundings(&report, true, &out, e);
	if (r)
		return r;
	if (!cli_json(cli))
		printable_make(&out);
	fputs(strbuf_text(&out), stdout);
	return report_audit_failed(&report) ? STATUS_AUDIT_FAILED : STATUS_DONE;
}

const struct command command_audit = {
	.name = "audit",
	.arguments = "BUNDLE",
	.summary = "say whether the syncs of an experiment reached the devices",
	.flags = COMMAND_JSON | COMMAND_FILES,
	.run = run,
};
