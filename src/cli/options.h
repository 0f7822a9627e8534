/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Option parsing and --help, both from the table of a command; see command.h. */

#include <stdio.h>

#include "cli/command.h"

struct option_parser {
	const struct command *command; /* NULL: only global options are known */
	struct cli *cli;
	const char *const *words; /* NULL-ended; not owned */
	size_t at;
	const char *cluster; /* rest of "-abc" */
	const char **operands;
	size_t operand_count;
	bool only_operands; /* after "--" */
};

int option_parser_init(struct option_parser *p, struct cli *cli,
	const struct command *command, const char *const *words, struct err *e);
void option_parser_deinit(struct option_parser *p);

/* "unknown option --colums; did you mean --columns?"  Returns -EINVAL. */
int option_unknown(const struct command *command, const char *word, struct err *e);

/* Is this word an option of every command, or no option at all? */
bool option_is_global(const char *word);

/* Does this command have the global option of that id? */
bool options_has_global(const struct command *command, int id);

/* Prints the help of one command, or of the program when command is NULL. */
void options_print_help(FILE *to, const struct command *command);
