/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Completion for shells, made from the command table: what a word on the command line can
 * be.  A shell's file (completion_bash.c, completion_zsh.c) turns that into its script.
 */

#include "cli/command.h"
#include "core/strbuf.h"

enum completion_kind {
	COMPLETE_NOTHING, /* a number, a name that only the user knows */
	COMPLETE_WORDS,	  /* those that the command offers */
	COMPLETE_PLACEMENT,
	COMPLETE_DEVICE, /* or an image file */
	COMPLETE_FILE,
	COMPLETE_DIRECTORY, /* a bundle is one as well */
};

struct completion {
	enum completion_kind kind;
	struct strbuf words; /* each with a space before it; of COMPLETE_WORDS only */
};

enum { COMPLETION_OPERANDS = 2 };

/* The value of an option, of a command or (NULL) global.  The caller deinits *out. */
void completion_of_option(const struct command *command, const struct option_spec *spec,
	struct completion *out);

/* The operands in place 0, or from 1 on, as the first form of the command that has some
 * takes them.  The caller deinits *out. */
void completion_of_operand(const struct command *command, unsigned place,
	struct completion *out);
void completion_deinit(struct completion *c);

/* Appends the scripts. */
void completion_bash(struct strbuf *out);
void completion_zsh(struct strbuf *out);
