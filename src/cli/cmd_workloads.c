/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * jbdlab workloads: what can be measured here, the types that are built in and the
 * programs that come as definitions, what each needs and whether it is there; or one of
 * them with all that it says.
 */

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/command.h"
#include "core/strbuf.h"
#include "workload/program.h"

enum { NAME_COLUMN = 18, INSTALLED_COLUMN = 10, NEEDS_COLUMN = 16, WIDTH = 80 };

static const char *const direction_words[] = {
	[HIGHER_IS_BETTER] = "higher is better",
	[LOWER_IS_BETTER] = "lower is better",
	[NO_DIRECTION] = "neither is better",
};

/* A definition as it was read. */
struct definition {
	struct program program;
	struct program_needs needs;
	bool installed; /* all of them */
};

static void definition_deinit(struct definition *d)
{
	program_deinit(&d->program);
	program_needs_deinit(&d->needs);
}

static int definition_read(struct definition *d, const char *name, struct err *e)
{
	int r = program_load(&d->program, name, e);

	if (!r)
		r = program_needs_read(&d->needs, &d->program, e);
	d->installed = true;
	for (size_t i = 0; !r && i < d->needs.count; i++)
		d->installed = d->installed && d->needs.at[i].installed;
	return r;
}

static const char *summary_of(const struct definition *d)
{
	const char *summary = program_field(&d->program, PROGRAM_SUMMARY);

	return summary ? summary : "";
}

/* Packages, each once; the program where its package is not said. */
static char *packages_of(const struct program_needs *needs)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < needs->count; i++) {
		const char *word = needs->at[i].package;
		bool seen = false;

		if (!word)
			word = needs->at[i].program;
		for (size_t k = 0; k < i; k++)
			seen |= needs->at[k].package &&
				!strcmp(needs->at[k].package, word);
		if (!seen)
			strbuf_addf(&b, "%s%s", b.length ? " " : "", word);
	}
	return strbuf_take(&b);
}

/* As many words of *text as go into width columns; *text moves behind them. */
static int take_words(const char **text, int width)
{
	int n = 0, end = 0;

	for (const char *p = *text; *p && n < width; n++, p++)
		if (p[1] == ' ' || !p[1])
			end = n + 1;
	return end ? end : n;
}

/* The last two columns are broken between words. */
static void print_row(
	const char *name, const char *installed, const char *needs, const char *summary)
{
	int left = NAME_COLUMN + INSTALLED_COLUMN;

	printf("%-*s%-*s", NAME_COLUMN, name, INSTALLED_COLUMN, installed);
	for (bool first = true; first || *needs || *summary; first = false) {
		int n = take_words(&needs, NEEDS_COLUMN - 2);
		int s = take_words(&summary, WIDTH - left - NEEDS_COLUMN);

		printf("%*s%-*.*s%.*s\n", first ? 0 : left, "", s ? NEEDS_COLUMN : 0, n,
			needs, s, summary);
		needs += n;
		summary += s;
		needs += *needs == ' ';
		summary += *summary == ' ';
	}
}

static json_t *needs_to_json(const struct program_needs *needs)
{
	json_t *array = json_array();

	for (size_t i = 0; i < needs->count; i++)
		json_array_append_new(array,
			json_pack("{ss,ss*,sb}", "program", needs->at[i].program,
				"package", needs->at[i].package, "installed",
				needs->at[i].installed));
	return array;
}

static int add_to_json(void *array, const struct program_metric *m, struct err *e)
{
	json_t *metric = json_pack("{ss,ss,ss}", "phase", m->phase, "name", m->name,
		"reads", m->spec);

	return json_array_append_new(array, metric)
		       ? err_set(e, ENOMEM, "list of workloads")
		       : 0;
}

static json_t *definition_to_json(
	const char *name, const struct definition *d, struct err *e)
{
	json_t *variables = json_object(), *metrics = json_array();

	for (size_t i = 0; i < d->program.shipped.variable_count; i++)
		json_object_set_new(variables, d->program.shipped.variables[i].name,
			json_string(d->program.shipped.variables[i].value));
	if (program_each_metric(&d->program, add_to_json, metrics, e)) {
		json_decref(variables);
		json_decref(metrics);
		return NULL;
	}
	return json_pack("{ss,ss,ss,so,sb,so,so}", "name", name, "type", "command",
		"summary", summary_of(d), "needs", needs_to_json(&d->needs), "installed",
		d->installed, "variables", variables, "metrics", metrics);
}

/* To the array, or as a row when there is none. */
static int list_definition(const char *name, json_t *array, struct err *e)
{
	_cleanup_(definition_deinit) struct definition d = {.installed = false};
	_cleanup_free_ char *packages = NULL;
	int r = definition_read(&d, name, e);

	if (r)
		return r;
	if (array)
		return json_array_append_new(array, definition_to_json(name, &d, e))
			       ? err_set(e, ENOMEM, "list of workloads")
			       : 0;
	packages = packages_of(&d.needs);
	if (!packages)
		return err_set(e, ENOMEM, "list of workloads");
	print_row(name, d.installed ? "yes" : "no", packages, summary_of(&d));
	return 0;
}

static int list_type(const struct workload_type *type, json_t *array, struct err *e)
{
	if (!array) {
		print_row(type->name, "built in", "", type->summary);
		return 0;
	}
	return json_array_append_new(array,
		       json_pack("{ss,ss,ss,s[],sb}", "name", type->name, "type",
			       type->name, "summary", type->summary, "needs", "installed",
			       true))
		       ? err_set(e, ENOMEM, "list of workloads")
		       : 0;
}

static int print_json(json_t *array, struct err *e)
{
	json_auto_t *root = json_pack(
		"{ss,sO}", "schema", "jbdlab-workloads/1", "workloads", array);

	if (!root || json_dumpf(root, stdout, JSON_INDENT(2)) || putchar('\n') == EOF)
		return err_set(e, root ? EIO : ENOMEM, "write JSON");
	return 0;
}

static int list_all(bool json, struct err *e)
{
	json_auto_t *array = json ? json_array() : NULL;
	char **names;
	size_t count;
	int r = program_list(&names, &count, e);

	if (!r && !json)
		print_row("WORKLOAD", "INSTALLED", "DEBIAN PACKAGE", "WHAT IT DOES");
	for (size_t i = 0; !r && i < workload_type_count(); i++)
		r = list_type(workload_type_at(i), array, e);
	for (size_t i = 0; i < count; i++) {
		if (!r)
			r = list_definition(names[i], array, e);
		free(names[i]);
	}
	free(names);
	return !r && json ? print_json(array, e) : r;
}

static int print_metric(
	void *data _unused_, const struct program_metric *m, struct err *e _unused_)
{
	printf("  %s/%s: %s\n", m->phase, m->name, direction_words[m->direction]);
	return 0;
}

static int show_definition(const char *name, struct err *e)
{
	static const struct {
		enum program_field field;
		const char *key;
	} lines[] = {{PROGRAM_SETUP, "setup"}, {PROGRAM_EXEC, "exec"},
		{PROGRAM_CLEANUP, "cleanup"}, {PROGRAM_TIMEOUT, "timeout"},
		{PROGRAM_SPACE, "space"}, {PROGRAM_DURATION, "duration"}};
	_cleanup_(definition_deinit) struct definition d = {.installed = false};
	int r = definition_read(&d, name, e);

	if (r)
		return r;
	printf("%s: %s\n", name, summary_of(&d));
	for (size_t i = 0; i < d.needs.count; i++)
		printf("needs %s%s%s: %s\n", d.needs.at[i].program,
			d.needs.at[i].package ? ", Debian package " : "",
			d.needs.at[i].package ? d.needs.at[i].package : "",
			d.needs.at[i].installed ? "installed" : "not installed");
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (program_field(&d.program, lines[i].field))
			printf("%s = %s\n", lines[i].key,
				program_field(&d.program, lines[i].field));
	for (size_t i = 0; i < d.program.shipped.variable_count; i++)
		printf("env.%s = %s\n", d.program.shipped.variables[i].name,
			d.program.shipped.variables[i].value);
	printf("metrics:\n");
	return program_each_metric(&d.program, print_metric, NULL, e);
}

static int show(const char *name, bool json, struct err *e)
{
	const struct workload_type *type = workload_type_find(name);
	json_auto_t *array = json ? json_array() : NULL;
	int r;

	if (!json && !type)
		return show_definition(name, e);
	r = type ? list_type(type, array, e) : list_definition(name, array, e);
	if (!r && json)
		r = print_json(array, e);
	else if (!r)
		printf("its keys: jbdlab bench --list --workload %s\n", name);
	return r;
}

static int run(struct cli *cli, struct option_parser *p, struct err *e)
{
	const char *value;
	const char *const *names;
	size_t count;
	int r = option_next(p, &value, e);

	if (r)
		return r;
	names = option_operands(p, &count);
	if (count > 1)
		return err_usage(e, "workloads takes one name, not %zu", count);
	return count ? show(names[0], cli_json(cli), e) : list_all(cli_json(cli), e);
}

static void offer(int id, struct strbuf *words)
{
	if (!id)
		bench_offer_workloads(words);
}

const struct command command_workloads = {
	.name = "workloads",
	.arguments = "[NAME]",
	.summary = "list what can be measured, and whether it is installed",
	.flags = COMMAND_JSON | COMMAND_FILES,
	.offer = offer,
	.run = run,
};
