/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The script for bash: two functions with what the command table says, and one that finds
 * out which word of which command is being typed.  It needs no bash-completion.
 *
 * readline splits words at "=": "--color=au" comes as three words, and so does
 * "external=/dev/sd", of which only the last is replaced.
 */

#include "cli/cli.h"
#include "cli/completion.h"
#include "cli/options.h"

static const char head[] =
	"# bash completion of jbdlab(8); written by \"jbdlab completion bash\".\n"
	"\n"
	"# _jbdlab_words COMMAND: its options; without one, the commands.\n";

static const char between[] =
	"\n"
	"# _jbdlab_takes COMMAND WORD: what follows that option, or stands as operand 0, 1.\n";

static const char tail[] =
	"\n"
	"_jbdlab_from() {\n"
	"    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
	"}\n"
	"\n"
	"_jbdlab_files() {\n"
	"    compopt -o filenames 2>/dev/null\n"
	"    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
	"}\n"
	"\n"
	"# _jbdlab_value COMMAND WORD\n"
	"_jbdlab_value() {\n"
	"    local takes\n"
	"    takes=$(_jbdlab_takes \"$1\" \"$2\")\n"
	"    case $takes in\n"
	"    words*) _jbdlab_from \"${takes#words}\" ;;\n"
	"    placement)\n"
	"        _jbdlab_from 'none inline external='\n"
	"        [[ ${COMPREPLY-} != *= ]] || compopt -o nospace 2>/dev/null\n"
	"        ;;\n"
	"    device)\n"
	"        [[ $cur ]] || _jbdlab_from \"$(lsblk -lnpo NAME 2>/dev/null)\"\n"
	"        _jbdlab_files -f\n"
	"        ;;\n"
	"    file) _jbdlab_files -f ;;\n"
	"    directory) _jbdlab_files -d ;;\n"
	"    esac\n"
	"}\n"
	"\n"
	"_jbdlab() {\n"
	"    local cur=${COMP_WORDS[COMP_CWORD]} command='' option='' word i operands=0\n"
	"    COMPREPLY=()\n"
	"    for ((i = 1; i < COMP_CWORD; i++)); do\n"
	"        word=${COMP_WORDS[i]}\n"
	"        option=''\n"
	"        case $word in\n"
	"        =) ((++i)) ;; # and what is set\n"
	"        -*)\n"
	"            [[ ! $(_jbdlab_takes \"$command\" \"$word\") ]] || option=$word\n"
	"            [[ ! $option || ${COMP_WORDS[i + 1]} == = ]] || ((++i))\n"
	"            ;;\n"
	"        *) if [[ $command ]]; then ((++operands)); else command=$word; fi ;;\n"
	"        esac\n"
	"    done\n"
	"    ((i > COMP_CWORD)) || option='' # it has its value\n"
	"    if [[ $cur == = ]]; then\n"
	"        cur='' option=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"    elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then\n"
	"        option=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"    fi\n"
	"    if [[ $option == external ]]; then\n"
	"        _jbdlab_value '' external\n"
	"    elif [[ $option == -* ]]; then\n"
	"        _jbdlab_value \"$command\" \"$option\"\n"
	"    elif [[ $option ]]; then\n"
	"        return\n"
	"    elif [[ $cur == -* || ! $command ]]; then\n"
	"        _jbdlab_from \"$(_jbdlab_words \"$command\")\"\n"
	"    else\n"
	"        _jbdlab_value \"$command\" $((operands < 1 ? operands : 1))\n"
	"    fi\n"
	"}\n"
	"\n"
	"complete -F _jbdlab jbdlab\n";

static const char *const kind_words[] = {
	[COMPLETE_NOTHING] = "nothing",
	[COMPLETE_PLACEMENT] = "placement",
	[COMPLETE_DEVICE] = "device",
	[COMPLETE_FILE] = "file",
	[COMPLETE_DIRECTORY] = "directory",
};

static void add_option_words(const struct option_spec *spec, struct strbuf *out)
{
	if (spec->letter)
		strbuf_addf(out, " -%c", spec->letter);
	strbuf_addf(out, " --%s", spec->name);
}

static void add_words(const struct command *command, struct strbuf *out)
{
	strbuf_addf(out, "    %s) echo '", command ? command->name : "''");
	for (size_t i = 0; !command && command_table[i]; i++)
		if (!(command_table[i]->flags & COMMAND_HIDDEN))
			strbuf_addf(out, " %s", command_table[i]->name);
	for (const struct option_spec *o = command ? command->options : NULL; o && o->id; o++)
		add_option_words(o, out);
	for (const struct option_spec *g = global_options; g->id; g++)
		if (!command || options_has_global(command, g->id))
			add_option_words(g, out);
	strbuf_add(out, "' ;;\n");
}

static void add_completion(struct completion *c, struct strbuf *out)
{
	if (c->kind == COMPLETE_WORDS)
		strbuf_addf(out, "echo 'words%s' ;;\n", strbuf_text(&c->words));
	else
		strbuf_addf(out, "echo %s ;;\n", kind_words[c->kind]);
	completion_deinit(c);
}

/* Globals count for every command; flags take nothing and have no row. */
static void add_takes(const struct command *command, const struct option_spec *specs,
	struct strbuf *out)
{
	const char *name = command ? command->name : "*";
	struct completion c;

	for (; specs && specs->id; specs++) {
		if (!specs->value)
			continue;
		completion_of_option(command, specs, &c);
		strbuf_addf(out, "    %s' --%s'", name, specs->name);
		if (specs->letter)
			strbuf_addf(out, " | %s' -%c'", name, specs->letter);
		strbuf_add(out, ") ");
		add_completion(&c, out);
	}
	for (unsigned i = 0; command && i < COMPLETION_OPERANDS; i++) {
		completion_of_operand(command, i, &c);
		strbuf_addf(out, "    %s' %u') ", name, i);
		add_completion(&c, out);
	}
}

void completion_bash(struct strbuf *out)
{
	strbuf_addf(out, "%s_jbdlab_words() {\n    case $1 in\n", head);
	add_words(NULL, out);
	for (size_t i = 0; command_table[i]; i++)
		if (!(command_table[i]->flags & COMMAND_HIDDEN))
			add_words(command_table[i], out);
	strbuf_addf(out,
		"    esac\n}\n%s_jbdlab_takes() {\n    case \"$1 $2\" in\n"
		"    ' external') echo device ;;\n",
		between);
	for (size_t i = 0; command_table[i]; i++)
		if (!(command_table[i]->flags & COMMAND_HIDDEN))
			add_takes(command_table[i], command_table[i]->options, out);
	add_takes(NULL, global_options, out);
	strbuf_addf(out, "    esac\n}\n%s", tail);
}
