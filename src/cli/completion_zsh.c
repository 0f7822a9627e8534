/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The script for zsh: for each command one call of _arguments, with the help of every
 * option.  Installed as _jbdlab in a directory of $fpath.
 */

#include <string.h>

#include "cli/cli.h"
#include "cli/completion.h"
#include "cli/options.h"

static const char head[] =
	"#compdef jbdlab\n"
	"# zsh completion of jbdlab(8); written by \"jbdlab completion zsh\".\n"
	"\n"
	"_jbdlab_device() {\n"
	"    local -a devices\n"
	"    devices=(${(f)\"$(lsblk -lnpo NAME 2>/dev/null)\"})\n"
	"    compadd -a devices\n"
	"    _files\n"
	"}\n"
	"\n"
	"_jbdlab_placement() {\n"
	"    if compset -P 'external='; then\n"
	"        _jbdlab_device\n"
	"    else\n"
	"        compadd none inline\n"
	"        compadd -S '' external=\n"
	"    fi\n"
	"}\n"
	"\n"
	"_jbdlab() {\n"
	"    local context state state_descr line curcontext=$curcontext\n"
	"    local -A opt_args\n"
	"    local -a commands\n"
	"    commands=(\n";

static const char middle[] =
	"    case $state in\n"
	"    command) _describe command commands ;;\n"
	"    words)\n"
	"        curcontext=${curcontext%:*:*}:jbdlab-$words[1]:\n"
	"        case $words[1] in\n";

static const char tail[] =
	"        esac\n"
	"        ;;\n"
	"    esac\n"
	"}\n"
	"\n"
	"if [[ $funcstack[1] == _jbdlab ]]; then\n"
	"    _jbdlab \"$@\"\n"
	"else\n"
	"    compdef _jbdlab jbdlab\n"
	"fi\n";

static const char *const actions[] = {
	[COMPLETE_NOTHING] = "",
	[COMPLETE_PLACEMENT] = "_jbdlab_placement",
	[COMPLETE_DEVICE] = "_jbdlab_device",
	[COMPLETE_FILE] = "_files",
	[COMPLETE_DIRECTORY] = "_files -/",
};

/* Within '...', where _arguments and _describe give a meaning to [, ] and :.  A ":" at the
 * end leads to words that the shell lists itself. */
static void add_quoted(const char *text, struct strbuf *out)
{
	for (; *text && strcmp(text, ":") != 0; text++) {
		if (*text == '\'')
			strbuf_add(out, "'\\''");
		else if (strchr("[]:\\", *text))
			strbuf_addf(out, "\\%c", *text);
		else
			strbuf_addn(out, text, 1);
	}
}

/* ":MESSAGE:ACTION" */
static void add_action(const char *message, struct completion *c, struct strbuf *out)
{
	strbuf_add(out, ":");
	add_quoted(message, out);
	if (c->kind == COMPLETE_WORDS)
		strbuf_addf(out, ":(%s)", strbuf_text(&c->words) + 1);
	else
		strbuf_addf(out, ":%s", actions[c->kind]);
	completion_deinit(c);
}

/* One line for each form of the option; what takes a value may be given again. */
static void add_option(const struct command *command, const struct option_spec *spec,
	const char *indent, struct strbuf *out)
{
	char letter[] = { spec->letter, 0 };

	for (int l = !spec->letter; l < 2; l++) {
		struct completion c;

		strbuf_addf(out, " \\\n%s'%s%s%s%s[", indent, spec->value ? "*" : "",
			l ? "--" : "-", l ? spec->name : letter,
			spec->value ? l ? "=" : "+" : "");
		add_quoted(spec->help, out);
		strbuf_add(out, "]");
		if (spec->value) {
			completion_of_option(command, spec, &c);
			add_action(spec->value, &c, out);
		}
		strbuf_add(out, "'");
	}
}

static void add_globals(
	const struct command *command, const char *indent, struct strbuf *out)
{
	for (const struct option_spec *g = global_options; g->id; g++)
		if (!command || options_has_global(command, g->id))
			add_option(NULL, g, indent, out);
}

static void add_command(const struct command *command, struct strbuf *out)
{
	static const char indent[] = "                ";

	strbuf_addf(out, "        %s)\n            _arguments -s -S", command->name);
	for (const struct option_spec *o = command->options; o && o->id; o++)
		add_option(command, o, indent, out);
	add_globals(command, indent, out);
	for (unsigned i = 0; i < COMPLETION_OPERANDS; i++) {
		struct completion c;

		completion_of_operand(command, i, &c);
		strbuf_addf(out, " \\\n%s'%s", indent, i ? "*" : "1");
		add_action("operand", &c, out);
		strbuf_add(out, "'");
	}
	strbuf_add(out, "\n            ;;\n");
}

void completion_zsh(struct strbuf *out)
{
	strbuf_add(out, head);
	for (size_t i = 0; command_table[i]; i++) {
		if (command_table[i]->flags & COMMAND_HIDDEN)
			continue;
		strbuf_addf(out, "        '%s:", command_table[i]->name);
		add_quoted(command_table[i]->summary, out);
		strbuf_add(out, "'\n");
	}
	strbuf_add(out, "    )\n    _arguments -C -s -S");
	add_globals(NULL, "        ", out);
	strbuf_add(out, " \\\n        '1: :->command' \\\n        '*:: :->words'\n");
	strbuf_add(out, middle);
	for (size_t i = 0; command_table[i]; i++)
		if (!(command_table[i]->flags & COMMAND_HIDDEN))
			add_command(command_table[i], out);
	strbuf_add(out, tail);
}
