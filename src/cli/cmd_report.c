/* SPDX-License-Identifier: GPL-3.0-or-later */

/* jbdlab report BUNDLE: what an experiment measured, in one of several formats; of many
 * bundles what they say together, with the host as block. */

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/hosts_report.h"
#include "cli/report_formats.h"
#include "cli/report_watch.h"
#include "cli/signals.h"
#include "report/columns.h"
#include "report/report.h"

enum { OPTION_FORMAT = 1, OPTION_TABLE, OPTION_COLUMNS, OPTION_SCHEMA, OPTION_WATCH,
	OPTION_PLOT };

static const struct option_spec options[] = {
	{OPTION_FORMAT, 'f', "format", "FORMAT",
		"how it is shown, text unless said:"},
	{OPTION_TABLE, 't', "table", "NAME",
		"only this table; of csv comparison is the default; --columns help lists "
		"them"},
	{OPTION_COLUMNS, 'o', "columns", "LIST",
		"only these columns of the table; \"help\" lists them, without a bundle"},
	{OPTION_PLOT, 'p', "plot", "NAME",
		"for svg: ratios (default), all-ratios, threads, latency, sync-latency, "
		"blocks, flushes, written or fsync; one of several as "
		"KIND:WORKLOAD/PHASE"},
	{OPTION_SCHEMA, 0, "schema", NULL,
		"print the JSON Schema of --json, without a bundle"},
	{OPTION_WATCH, 'w', "watch", NULL,
		"show a running experiment, anew at each result, until it ends or ^C"},
	{0},
};

struct report_options {
	const char *bundle;
	const char *const *bundles; /* all of them */
	size_t count;
	struct report_request request;
	bool help_columns, schema, watch;
};

static int parse(struct option_parser *p, struct report_options *o, struct err *e)
{
	const char *value;
	int id;

	while ((id = option_next(p, &value, e)) != 0) {
		if (id == OPTION_FORMAT)
			o->request.format = value;
		else if (id == OPTION_TABLE)
			o->request.table = value;
		else if (id == OPTION_COLUMNS)
			o->request.columns = value;
		else if (id == OPTION_PLOT)
			o->request.plot = value;
		else if (id == OPTION_SCHEMA)
			o->schema = true;
		else if (id == OPTION_WATCH)
			o->watch = true;
		else
			return id;
	}
	o->help_columns = o->request.columns && !strcmp(o->request.columns, "help");
	o->bundles = option_operands(p, &o->count);
	o->bundle = o->bundles[0];
	if (!o->count && !o->help_columns && !o->schema)
		return err_usage(e, "report takes one bundle, or many of several hosts, and none "
				    "was given");
	if (o->count > 1 && (o->watch || o->request.table || o->request.columns ||
				    o->request.plot))
		return err_usage(e, "--watch, --table, --columns and --plot are for one bundle");
	return 0;
}

/* The columns of one table, or of all. */
static int add_help(const char *table, struct strbuf *out, struct err *e)
{
	const struct report_table *t;
	int r;

	if (table) {
		r = columns_find_table(table, &t, e);
		if (!r)
			columns_help(t, out);
		return r;
	}
	for (size_t i = 0; i < TABLE_COUNT; i++) {
		t = &report_table_kinds[i];
		strbuf_addf(out, "%s%s: %s\n", i ? "\n" : "", t->key, t->title);
		columns_help(t, out);
	}
	return 0;
}

static int add_report(
	struct cli *cli, struct report_options *o, struct strbuf *out, struct err *e)
{
	_cleanup_(report_deinit) struct report report = {0};
	const volatile sig_atomic_t *stop = signals_catch();
	int r = 0;

	if (cli_json(cli) && o->request.format && strcmp(o->request.format, "json"))
		return err_usage(e, "--json and --format %s do not go together",
			o->request.format);
	if (cli_json(cli))
		o->request.format = "json";
	r = report_formats_check(&o->request, e);
	if (!r)
		r = report_load(&report, o->bundle, e);
	report.stop = stop;
	if (!r)
		r = report_formats_render(&report, &o->request, out, e);
	signals_release(); /* who reads the output slowly can be left as usual */
	return !r && *stop ? err_interrupted(e, *stop) : r;
}

static int watch(struct cli *cli, const struct report_options *o, struct err *e)
{
	if (cli_json(cli) || o->request.format || o->request.table || o->request.columns)
		return err_usage(e, "--watch shows an overview and takes no format");
	return report_watch(o->bundle, e);
}

/* A report is no verdict: whatever it says, it was made. */
static int report_hosts(struct cli *cli, const struct report_options *o, struct err *e)
{
	int r = hosts_report(cli,
		&(struct hosts_request){.bundles = o->bundles,
			.count = o->count,
			.format = o->request.format},
		e);

	return r < 0 ? r : STATUS_DONE;
}

static int run(struct cli *cli, struct option_parser *p, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf out = {0};
	struct report_options o = {0};
	int r = parse(p, &o, e);

	if (!r && o.schema)
		r = render_json_schema(&out, e);
	else if (!r && o.help_columns)
		r = add_help(o.request.table, &out, e);
	else if (!r && o.watch)
		r = watch(cli, &o, e);
	else if (!r && o.count > 1)
		return report_hosts(cli, &o, e);
	else if (!r)
		r = add_report(cli, &o, &out, e);
	if (r)
		return r;
	fputs(strbuf_text(&out), stdout);
	return STATUS_DONE;
}

static void offer(int id, struct strbuf *words)
{
	if (id == OPTION_FORMAT)
		report_formats_offer(words);
	for (size_t i = 0; id == OPTION_TABLE && i < TABLE_COUNT; i++)
		strbuf_addf(words, " %s", report_table_kinds[i].key);
	if (id == OPTION_COLUMNS)
		strbuf_add(words, " help");
}

const struct command command_report = {
	.name = "report",
	.arguments = "BUNDLE... [options]\n"
		     "--columns help [--table NAME]\n"
		     "--schema",
	.summary = "show what an experiment measured",
	.options = options,
	.flags = COMMAND_JSON | COMMAND_FILES,
	.offer = offer,
	.run = run,
};
