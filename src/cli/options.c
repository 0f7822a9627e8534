/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Option parsing; see command.h for the rules.  getopt_long(3) is not used because it
 * accepts abbreviations, which cannot be switched off, and because the table here also
 * gives --help and the completion.  "--name=value", "--name value", "-n value", "-nvalue"
 * and clusters of flags are understood; options and operands may be mixed.
 */

#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "core/nearest.h"
#include "core/wrap.h"

int option_parser_init(struct option_parser *p, struct cli *cli,
	const struct command *command, const char *const *words, struct err *e)
{
	size_t n = 0;

	while (words[n])
		n++;
	*p = (struct option_parser){ .command = command, .cli = cli, .words = words };
	p->operands = calloc(n + 1, sizeof(*p->operands));
	return p->operands ? 0 : err_set(e, ENOMEM, "parse options");
}

void option_parser_deinit(struct option_parser *p)
{
	free(p->operands);
	*p = (struct option_parser){ 0 };
}

static const struct option_spec *find_in(const struct option_spec *specs,
	const char *name, size_t length, char letter)
{
	for (; specs && specs->id; specs++)
		if (name ? strlen(specs->name) == length &&
				    !strncmp(specs->name, name, length)
			 : letter && specs->letter == letter)
			return specs;
	return NULL;
}

static const struct option_spec *find(const struct option_parser *p, const char *name,
	size_t length, char letter)
{
	const struct option_spec *spec = NULL;

	if (p->command)
		spec = find_in(p->command->options, name, length, letter);
	return spec ? spec : find_in(global_options, name, length, letter);
}

static int value_missing(const struct option_spec *spec, struct err *e)
{
	return err_usage(e, "--%s needs a value (%s)", spec->name, spec->value);
}

int option_unknown(const struct command *command, const char *word, struct err *e)
{
	_cleanup_free_ char *name = strndup(word, strcspn(word, "="));
	struct nearest near = { .word = name ? name + strspn(name, "-") : "" };

	for (const struct option_spec *s = command ? command->options : NULL; s && s->id; s++)
		nearest_offer(&near, s->name);
	for (const struct option_spec *g = global_options; g->id; g++)
		nearest_offer(&near, g->name);
	if (near.best)
		return err_usage(e, "unknown option %s; did you mean --%s?", name, near.best);
	return err_usage(e, "unknown option %s", name ? name : word);
}

bool option_is_global(const char *word)
{
	if (!strncmp(word, "--", 2))
		return !word[2] ||
		       find_in(global_options, word + 2, strcspn(word + 2, "="), 0);
	for (word += *word == '-'; *word; word++)
		if (!find_in(global_options, NULL, 0, *word))
			return false;
	return true;
}

static int parse_long(struct option_parser *p, const char *word, const char **value,
	const struct option_spec **out, struct err *e)
{
	const char *name = word + 2;
	size_t length = strcspn(name, "=");
	const struct option_spec *spec = find(p, name, length, 0);

	if (!spec)
		return option_unknown(p->command, word, e);
	*value = name[length] == '=' ? name + length + 1 : NULL;
	if (*value && !spec->value)
		return err_usage(e, "--%s takes no value", spec->name);
	if (spec->value && !*value) {
		*value = p->words[p->at];
		if (!*value)
			return value_missing(spec, e);
		p->at++;
	}
	*out = spec;
	return 0;
}

static int parse_letter(struct option_parser *p, const char **value,
	const struct option_spec **out, struct err *e)
{
	char letter = *p->cluster++;
	const struct option_spec *spec = find(p, NULL, 0, letter);

	if (!spec)
		return err_usage(e, "unknown option -%c", letter);
	*value = NULL;
	if (spec->value) {
		*value = *p->cluster ? p->cluster : p->words[p->at];
		if (!*value)
			return value_missing(spec, e);
		if (!*p->cluster)
			p->at++;
		p->cluster = NULL;
	}
	*out = spec;
	return 0;
}

int option_next(struct option_parser *p, const char **value, struct err *e)
{
	const char *word;
	int r;

	for (;;) {
		const struct option_spec *spec = NULL;

		if (p->cluster && *p->cluster) {
			r = parse_letter(p, value, &spec, e);
		} else {
			word = p->words[p->at];
			if (!word)
				return 0;
			p->at++;
			if (p->only_operands || word[0] != '-' || !word[1]) {
				p->operands[p->operand_count++] = word;
				continue;
			}
			if (!strcmp(word, "--")) {
				p->only_operands = true;
				continue;
			}
			p->cluster = word[1] == '-' ? NULL : word + 1;
			if (p->cluster)
				continue;
			r = parse_long(p, word, value, &spec, e);
		}
		if (!spec)
			return r;
		if (spec->id < GLOBAL_JSON)
			return spec->id;
		r = cli_apply(p->cli, p->command, spec->id, *value, e);
		if (r)
			return r;
	}
}

const char *const *option_operands(const struct option_parser *p, size_t *count)
{
	if (count)
		*count = p->operand_count;
	return p->operands;
}

int option_operand(const struct option_parser *p, const char *what, const char **out,
	struct err *e)
{
	if (!p->operand_count)
		return err_usage(e, "%s takes one %s, and none was given", p->command->name, what);
	if (p->operand_count > 1)
		return err_usage(e, "%s takes one %s, not %zu", p->command->name, what,
			p->operand_count);
	*out = p->operands[0];
	return 0;
}

/* The help of an option, also with the words that it can take. */
static void add_help(
	struct strbuf *b, const struct command *command, const struct option_spec *spec)
{
	_cleanup_(strbuf_deinit) struct strbuf text = {0}, words = {0};
	_cleanup_free_ char *list = NULL;
	const char *lead = " ";
	char *rest, *word;

	strbuf_add(&text, spec->help);
	if (command && command->offer && spec->help[strlen(spec->help) - 1] == ':')
		command->offer(spec->id, &words);
	list = rest = strbuf_take(&words);
	while ((word = strsep(&rest, " ")) != NULL) {
		if (!*word)
			continue;
		strbuf_addf(&text, "%s%s", lead, word);
		lead = ", ";
	}
	wrap_text(b, strbuf_text(&text), 30, 30);
}

static void print_specs(
	FILE *to, const struct command *command, const struct option_spec *specs)
{
	for (; specs && specs->id; specs++) {
		_cleanup_(strbuf_deinit) struct strbuf b = {0};
		char left[64];

		snprintf(left, sizeof(left), "%c%c%s --%s%s%s", specs->letter ? '-' : ' ',
			specs->letter ? specs->letter : ' ', specs->letter ? "," : " ",
			specs->name, specs->value ? " " : "",
			specs->value ? specs->value : "");
		if (strlen(left) > 26)
			strbuf_addf(&b, "  %s\n%30s", left, "");
		else
			strbuf_addf(&b, "  %-26s  ", left);
		add_help(&b, command, specs);
		fputs(strbuf_text(&b), to);
	}
}

bool options_has_global(const struct command *command, int id)
{
	if (id == GLOBAL_JSON)
		return command->flags & COMMAND_JSON;
	if (id == GLOBAL_YES)
		return command->flags & COMMAND_DESTRUCTIVE;
	return true;
}

static void print_program_help(FILE *to)
{
	fputs("usage: jbdlab COMMAND [options]\n\n"
	      "Move the journal of an ext3/ext4 volume and measure what that changes.\n\n"
	      "Commands:\n",
		to);
	for (size_t i = 0; command_table[i]; i++)
		if (!(command_table[i]->flags & COMMAND_HIDDEN))
			fprintf(to, "  %-11s %s\n", command_table[i]->name,
				command_table[i]->summary);
	fputs("\nOptions of every command:\n", to);
	print_specs(to, NULL, global_options);
	fputs("\n\"jbdlab COMMAND --help\" lists the options of a command; see jbdlab(8).\n",
		to);
}

/* A line for each way to call it. */
static void print_usage(FILE *to, const struct command *command)
{
	const char *line = command->arguments, *lead = "usage:";

	for (;; line++, lead = "") {
		size_t length = strcspn(line, "\n");

		fprintf(to, "%-6s jbdlab %s%s%.*s\n", lead, command->name,
			length ? " " : "", (int)length, line);
		line += length;
		if (!*line)
			return;
	}
}

void options_print_help(FILE *to, const struct command *command)
{
	if (!command) {
		print_program_help(to);
		return;
	}
	print_usage(to, command);
	fprintf(to, "\n%c%s.\n", toupper((unsigned char)*command->summary),
		command->summary + 1);
	if (command->options) {
		fputs("\nOptions:\n", to);
		print_specs(to, command, command->options);
	}
	fputs("\nOptions of every command:\n", to);
	for (const struct option_spec *g = global_options; g->id; g++) {
		struct option_spec one[2] = { *g, { 0 } };

		if (options_has_global(command, g->id))
			print_specs(to, NULL, one);
	}
	fprintf(to, "\nManual: %s\n", command->page ? command->page : "jbdlab(8)");
}
