/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* State of the command line that handlers see through the accessors of command.h. */

#include <stdint.h>

#include "cli/command.h"

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct cli {
	bool json, quiet, verbose, no_progress, yes, help, version;
	enum color_when color;
	bool progress_open; /* an unfinished progress line is on the terminal */
	uint64_t progress_ns; /* last progress line that went into a file */
	struct log log;
};

void cli_init(struct cli *cli);

/* Ids of the global options; above any id of a command. */
enum {
	GLOBAL_JSON = 1000,
	GLOBAL_QUIET,
	GLOBAL_VERBOSE,
	GLOBAL_NO_PROGRESS,
	GLOBAL_COLOR,
	GLOBAL_YES,
	GLOBAL_HELP,
	GLOBAL_VERSION,
};
extern const struct option_spec global_options[]; /* ends with id 0 */
void global_offer(int id, struct strbuf *words); /* as `offer` of a command */

/* Applies a global option.  -EINVAL for a bad value or one that the command lacks. */
int cli_apply(struct cli *cli, const struct command *command, int id, const char *value,
	struct err *e);
