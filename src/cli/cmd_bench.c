/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * jbdlab bench: any workload in one or several directories.  No root, no move; the
 * journal stays where it is.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>


#include "cli/bench.h"
#include "cli/key_text.h"
#include "core/nearest.h"
#include "report/layouts.h"
#include "report/render_dd.h"
#include "report/render_phases.h"
#include "report/report.h"
#include "run/directory.h"
#include "workload/program.h"

enum { OPTION_WORKLOAD = 1, OPTION_SET, OPTION_LIST, OPTION_SEED, OPTION_DROP, OPTION_AUDIT,
	OPTION_TRACE, OPTION_FORMAT };

static const struct option_spec options[] = {
	{OPTION_WORKLOAD, 'w', "workload", "TYPE", "what to run; jbdlab workloads lists it"},
	{OPTION_SET, 's', "set", "KEY=VALUE", "sets a key of the workload (repeatable)"},
	{OPTION_LIST, 'l', "list", NULL,
		"list the types and their keys, or the keys of --workload"},
	{OPTION_SEED, 0, "seed", "NUMBER", "seed of data and places; without, a new one"},
	{OPTION_DROP, 0, "drop-caches", NULL,
		"drop the whole page cache between phases (root)"},
	{OPTION_AUDIT, 0, "audit", NULL,
		"say whether the syncs reached the devices, and what speaks against it (root)"},
	{OPTION_TRACE, 0, "trace", NULL,
		"with --audit: record transactions and requests, and explain one fsync"},
	{OPTION_FORMAT, 'f', "format", "NAME",
		"how it is shown, text unless said; the others are each for one type:"},
	{0},
};

struct bench_options {
	const struct workload_type *type;
	const char *definition;	     /* its command = ...; NULL: none */
	const struct report_layout *layout; /* NULL: text */
	bool list, audit, trace;
};

static int find_layout(
	const char *name, const struct report_layout **layout, struct err *e)
{
	*layout = NULL;
	if (!strcmp(name, "text"))
		return 0;
	*layout = report_find_layout(name);
	return *layout ? 0 : err_usage(e, "there is no format \"%s\"; see --help", name);
}

/* The definition of a command goes by its own name, too. */
static bool is_definition(const char *name)
{
	char **names;
	size_t count;
	bool found = false;

	program_list(&names, &count, NULL);
	for (size_t i = 0; i < count; i++) {
		found |= !strcmp(names[i], name);
		free(names[i]);
	}
	free(names);
	return found;
}

static int find_type(const char *name, struct bench_options *o, struct err *e)
{
	struct nearest n = {.word = name};

	o->type = workload_type_find(name);
	o->definition = NULL;
	if (!o->type && is_definition(name)) {
		o->type = workload_type_find("command");
		o->definition = name;
	}
	if (o->type)
		return 0;
	for (size_t i = 0; i < workload_type_count(); i++)
		nearest_offer(&n, workload_type_at(i)->name);
	if (n.best)
		return err_usage(e, "there is no workload \"%s\"; did you mean \"%s\"?",
			name, n.best);
	return err_usage(e, "there is no workload \"%s\"; jbdlab workloads lists them",
		name);
}

static int parse(
	struct option_parser *p, struct bench_options *o, struct bench *b, struct err *e)
{
	_cleanup_free_ const char **assignments = NULL;
	const char *value;
	size_t count = 0;
	int id, r = 0;

	while (!r && (id = option_next(p, &value, e)) != 0) {
		if (id < 0)
			return id;
		if (id == OPTION_WORKLOAD)
			r = find_type(value, o, e);
		else if (id == OPTION_SET) {
			const char **more = reallocarray(
				assignments, count + 1, sizeof(*assignments));

			if (!more)
				return err_set(e, ENOMEM, "--set");
			assignments = more;
			assignments[count++] = value;
		} else if (id == OPTION_LIST)
			o->list = true;
		else if (id == OPTION_AUDIT)
			o->audit = true;
		else if (id == OPTION_TRACE)
			o->trace = true;
		else if (id == OPTION_SEED)
			b->seed = value;
		else if (id == OPTION_FORMAT)
			r = find_layout(value, &o->layout, e);
		else
			b->drop_caches = true;
	}
	b->directories = option_operands(p, &b->directory_count);
	if (r || o->list)
		return r;
	if (!o->type)
		return err_usage(e, "--workload is missing; --list names the types");
	if (!b->directory_count)
		return err_usage(e, "in which directory?");
	if (o->trace && !o->audit)
		return err_usage(e, "--trace is a part of --audit");
	if (o->layout && strcmp(o->layout->type, o->type->name))
		return err_usage(e, "the format %s is for the workload %s",
			o->layout->name, o->layout->type);
	r = workload_new(&b->workload, o->type,
		o->definition ? o->definition : o->type->name, e);
	if (!r && o->definition)
		r = workload_set(b->workload, "command", o->definition, e);
	for (size_t i = 0; !r && i < count; i++)
		r = bench_set(b->workload, assignments[i], e);
	return r;
}

static void list(const struct workload_type *only)
{
	for (size_t i = 0; i < workload_type_count(); i++) {
		const struct workload_type *type = workload_type_at(i);

		if (only && type != only)
			continue;
		if (!only && i)
			putchar('\n');
		printf("%s: %s\n", type->name, type->summary);
		for (size_t k = 0; k < type->key_count; k++)
			key_text_print(type->keys[k].name, type->keys[k].value,
				type->keys[k].default_value, type->keys[k].help);
	}
}

static int print(struct cli *cli, const struct report_layout *layout,
	const struct result_run *run, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};
	int r = 0;

	if (cli_json(cli))
		return bench_print_json(run, e);
	if (!layout && !strcmp(run->type, "dd")) {
		render_dd(run, &b);
		strbuf_add(&b, "\n");
	}
	if (layout && layout->head)
		layout->head(&b);
	if (layout)
		layout->render(run, "here", &b);
	else
		r = render_phases(run, &b, e);
	if (!r && strbuf_failed(&b))
		r = err_set(e, ENOMEM, "print results");
	if (!r)
		fputs(strbuf_text(&b), stdout);
	return r;
}

static int print_audit(struct cli *cli, const struct report *report,
	struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};
	int r;

	if (cli_json(cli))
		r = render_json(report, &b, e);
	else
		r = render_audit(report, true, &b, e);
	if (!r && !cli_json(cli))
		r = render_traces(report, &b, e);
	if (!r && !cli_json(cli))
		r = render_surroundings(report, true, &b, e);
	if (!r)
		printf("%s%s", cli_json(cli) ? "" : "\n", strbuf_text(&b));
	return r;
}

/* The workload with its evidence: the ordinary table and the audit below it; with --json
 * the whole report. */
static int bench_audited(struct cli *cli, struct bench *b, const struct bench_options *o,
	struct err *e)
{
	const struct directory_setup setup = {.directory = b->directories[0],
		.version = cli_version(),
		.trace = o->trace,
		.log = cli_log(cli)};
	_cleanup_(directory_watch_freep) struct directory_watch *watch = NULL;
	_cleanup_(result_run_deinit) struct result_run run = {0};
	_cleanup_(report_deinit) struct report report = {0};
	struct workload_observer observer;
	struct bundle bundle;
	int r = b->directory_count == 1 ? 0 : err_usage(e, "--audit takes one directory");

	if (!r)
		r = directory_watch_begin(&watch, &setup, e);
	if (r)
		return r;
	observer = directory_watch_observer(watch);
	/* cppcheck-suppress autoVariables; taken back below */
	b->observer = &observer;
	r = bench_run(cli, b, &run, e);
	b->observer = NULL;
	cli_progress_done(cli);
	if (!r && !cli_json(cli))
		r = print(cli, o->layout, &run, e);
	if (!r)
		r = directory_watch_end(watch, &run, &bundle, e);
	if (!r)
		r = report_build_run(&report, &bundle, &run, e);
	if (!r)
		r = print_audit(cli, &report, e);
	if (r)
		return r;
	return report_audit_failed(&report) ? STATUS_AUDIT_FAILED : STATUS_DONE;
}

static int bench(struct cli *cli, struct option_parser *p, struct err *e)
{
	_cleanup_(result_run_deinit) struct result_run run = {0};
	_cleanup_(workload_freep) struct workload *workload = NULL;
	struct bench_options o = {0};
	struct bench b = {0};
	int r = parse(p, &o, &b, e);

	workload = b.workload;
	if (r)
		return r;
	if (o.list && cli_json(cli))
		return err_usage(e, "--list has no --json");
	if (o.list) {
		list(o.type);
		return STATUS_DONE;
	}
	if (o.audit)
		return bench_audited(cli, &b, &o, e);
	r = bench_run(cli, &b, &run, e);
	cli_progress_done(cli);
	return r ? r : print(cli, o.layout, &run, e);
}

static void offer(int id, struct strbuf *words)
{
	if (id == OPTION_WORKLOAD)
		bench_offer_workloads(words);
	if (id == OPTION_FORMAT)
		strbuf_add(words, " text");
	for (size_t i = 0; id == OPTION_FORMAT && report_layouts[i]; i++)
		strbuf_addf(words, " %s", report_layouts[i]->name);
}

const struct command command_bench = {
	.name = "bench",
	.arguments = "DIR... --workload TYPE [--set KEY=VALUE...] [options]\n"
		     "--list [--workload TYPE]",
	.summary = "run a workload in directories, without moving anything",
	.options = options,
	.flags = COMMAND_JSON,
	.offer = offer,
	.run = bench,
};
