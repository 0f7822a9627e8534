/* SPDX-License-Identifier: GPL-3.0-or-later */

/* jbdlab import FILE...: published outputs of other programs as a bundle. */

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/import_files.h"
#include "core/printable.h"
#include "core/strbuf.h"

enum { OPTION_OUTPUT = 1, OPTION_FORMAT, OPTION_ARM, OPTION_CORRECT, OPTION_LIST };

static const struct option_spec options[] = {
	{OPTION_OUTPUT, 'o', "output", "DIR", "the bundle; without it nothing is written"},
	{OPTION_FORMAT, 'f', "format", "NAME", "read only what is of this format"},
	{OPTION_ARM, 'a', "arm", "NAME", "names the first arm, the second, ..."},
	{OPTION_CORRECT, 'c', "correct", NULL,
		"take known faults of the programs out of the numbers"},
	{OPTION_LIST, 'l', "list", NULL, "list the formats"},
	{0},
};

struct words {
	const char *output;
	bool list;
	struct import_options import;
	struct import_names names;
	const char *const *files;
	size_t count;
};

static bool is_name(const char *text)
{
	json_auto_t *json = json_string(text);

	return json && printable_is_name(text);
}

static int parse(struct option_parser *p, struct words *o, struct err *e)
{
	const char *value;
	int id;

	while ((id = option_next(p, &value, e)) != 0) {
		if (id == OPTION_OUTPUT)
			o->output = value;
		else if (id == OPTION_FORMAT)
			o->import.format = value;
		else if (id == OPTION_CORRECT)
			o->import.correct = true;
		else if (id == OPTION_LIST)
			o->list = true;
		else if (id != OPTION_ARM)
			return id;
		else if (o->names.count == IMPORT_NAMES_MAX)
			return err_usage(e, "--arm: more than %d", IMPORT_NAMES_MAX);
		else if (!is_name(value))
			return err_usage(e,
				"--arm takes a name: in UTF-8, not empty and without "
				"control characters");
		else
			o->names.names[o->names.count++] = value;
	}
	o->files = option_operands(p, &o->count);
	if (!o->count && !o->list)
		return err_usage(e, "import takes the files to read");
	return 0;
}

static int list_formats(void)
{
	for (size_t i = 0; import_format_name(i); i++)
		cli_print_entry(import_format_name(i), 10, import_format_help(i));
	return STATUS_DONE;
}

static bool is_first_of_workload(const struct import_arm *arm, size_t run)
{
	for (size_t i = 0; i < run; i++)
		if (!strcmp(arm->runs[i].workload, arm->runs[run].workload))
			return false;
	return true;
}

static size_t phases_of_workload(const struct import_arm *arm, const char *workload)
{
	size_t n = 0;

	for (size_t i = 0; i < arm->run_count; i++)
		if (!strcmp(arm->runs[i].workload, workload))
			n += arm->runs[i].phase_count;
	return n;
}

static void print_arm(const struct import_arm *arm)
{
	cli_printf("  %s:", arm->name);
	for (size_t i = 0; i < arm->run_count; i++)
		if (is_first_of_workload(arm, i))
			cli_printf("%s %zu of %s", i ? "," : "",
				phases_of_workload(arm, arm->runs[i].workload),
				arm->runs[i].workload);
	printf("\n");
}

static int print_text(const struct import_set *set, struct err *e)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct import *im = &set->imports[i];
		_cleanup_free_ char *formats = import_format_names(im->formats);

		if (!formats)
			return err_set(e, ENOMEM, "import");
		cli_printf("%s: %zu row%s of %s", im->name, im->rows, PLURAL(im->rows),
			formats);
		if (im->malformed)
			cli_printf(", %zu could not be read", im->malformed);
		printf("\n");
		for (size_t k = 0; k < im->arm_count; k++)
			print_arm(&im->arms[k]);
	}
	return 0;
}

static int print_json(const struct import_set *set, struct err *e)
{
	json_auto_t *files = json_array(), *json = NULL;
	_cleanup_free_ char *text = NULL;

	for (size_t i = 0; files && i < set->count; i++)
		if (json_array_append_new(files, import_to_json(&set->imports[i], true)))
			return err_set(e, ENOMEM, "write JSON");
	json = json_pack("{ss,sO}", "schema", "jbdlab-import/1", "files", files);
	if (json)
		text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
	if (!text)
		return err_set(e, ENOMEM, "write JSON");
	puts(text);
	return 0;
}

static int run(struct cli *cli, struct option_parser *p, struct err *e)
{
	_cleanup_(import_set_deinit) struct import_set set = {0};
	struct words o = {0};
	int r = parse(p, &o, e);

	if (r)
		return r;
	if (o.list && cli_json(cli))
		return err_usage(e, "--list has no --json");
	if (o.list)
		return list_formats();
	for (size_t i = 0; !r && i < o.count; i++)
		r = import_set_add(&set, o.files[i], &o.import, cli_log(cli), e);
	if (!r)
		r = import_set_name_arms(&set, &o.names, e);
	if (!r && o.output)
		r = import_write_bundle(
			set.imports, set.count, o.output, cli_version(), e);
	if (!r)
		r = cli_json(cli) ? print_json(&set, e) : print_text(&set, e);
	if (!r && o.output)
		log_line(cli_log(cli), LOG_NOTE, "written: %s", o.output);
	return r ? r : STATUS_DONE;
}

static void offer(int id, struct strbuf *words)
{
	for (size_t i = 0; id == OPTION_FORMAT && import_format_name(i); i++)
		strbuf_addf(words, " %s", import_format_name(i));
}

const struct command command_import = {
	.name = "import",
	.arguments = "FILE... [--output DIR] [options]\n"
		     "--list",
	.summary = "read published outputs of other programs",
	.options = options,
	.flags = COMMAND_JSON | COMMAND_FILES,
	.offer = offer,
	.run = run,
};
