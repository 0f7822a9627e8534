/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The command table.  Each command is one file cmd_NAME.c with one `struct command`,
 * and a row below.  The table is the only source of --help, of option parsing, of shell
 * completion and of the test that compares the manual.  Only this directory prints,
 * prompts or exits.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"
#include "core/log.h"

/* Exit status; documented in jbdlab-results(5). */
enum exit_status {
	STATUS_DONE = 0,
	STATUS_DIFFERENCE = 1,
	STATUS_USAGE = 2,
	STATUS_REFUSED = 3,
	STATUS_FAILED = 4,
	STATUS_INCONCLUSIVE = 5,
	STATUS_AUDIT_FAILED = 6,
	STATUS_NEEDS_RECOVER = 7,
	STATUS_INTERRUPTED = 130,
	STATUS_TERMINATED = 143,
};

struct option_spec {
	int id; /* > 0, unique in its command; what option_next() returns */
	char letter; /* 0: long form only */
	const char *name; /* long name without dashes */
	const char *value; /* what it takes, for --help; NULL: a flag */
	const char *help; /* --help adds to one that ends with ":" what offer() offers */
};

struct strbuf;
struct cli; /* options that every command has, and the sink for messages */
struct option_parser;

/* What a command can do; dispatch refuses global options that it does not declare. */
enum command_flags {
	COMMAND_JSON = 1,	 /* understands --json */
	COMMAND_DESTRUCTIVE = 2, /* understands --yes */
	COMMAND_HIDDEN = 4,	 /* not in --help: internal */
	COMMAND_FILES = 8,	 /* needs no right of root but that to all files */
};

struct command {
	const char *name;
	const char *arguments; /* "DEV --to PLACEMENT"; another way to call it is another line */
	const char *summary;   /* one line, no capital, no full stop */
	const struct option_spec *options; /* ends with id 0; NULL: none */
	unsigned flags;
	const char *page; /* of the manual, "jbdlab-run(8)"; NULL: jbdlab(8) */
	/* Appends " WORD" for each word that option id can take (0: the first operand), for
	 * completion; nothing for the others, of which their value's name says what it is.
	 * NULL: all are such. */
	void (*offer)(int id, struct strbuf *words);
	/* Returns an exit status, or a negative errno with e filled; dispatch prints e
	 * and turns its kind into an exit status. */
	int (*run)(struct cli *cli, struct option_parser *options, struct err *e);
};

bool cli_json(const struct cli *cli);	/* --json */
bool cli_yes(const struct cli *cli);	/* --yes */
bool cli_quiet(const struct cli *cli);	/* --quiet */
bool cli_color(const struct cli *cli);	/* colour on stdout is wanted */
const struct log *cli_log(const struct cli *cli);
/* "name   text" on stdout: on a terminal with the text in lines of its own column, else a
 * line, for programs. */
void cli_print_entry(const char *name, int width, const char *text);
/* printf() for texts that may hold names of the user's or of a disk: their control characters
 * are shown and not sent. */
void cli_printf(const char *fmt, ...) _printf_(1, 2);
/* Marks the end of a progress line, before results are printed. */
void cli_progress_done(struct cli *cli);

/*
 * Next option of the command: its id with *value set (NULL for flags), 0 when only
 * operands are left, -EINVAL with e filled for anything unknown.  Names are matched
 * exactly, never by prefix: tiobench.pl's "--dir" once meant --directio by abbreviation.
 */
int option_next(struct option_parser *p, const char **value, struct err *e);

/* The one operand of a command, a "device" or whatever it is called.  -EINVAL with e filled
 * for none and for more. */
int option_operand(const struct option_parser *p, const char *what, const char **out,
	struct err *e);

/* Operands (words that are no options), after option_next() has returned 0.  NULL-ended;
 * valid as long as the parser. */
const char *const *option_operands(const struct option_parser *p, size_t *count);

/* The commands, in the order of --help: "ROW(name)" for command_name of cmd_name.c. */
#define COMMANDS(ROW) \
	ROW(advise) \
	ROW(audit) \
	ROW(bench) \
	ROW(check) \
	ROW(check_disks) \
	ROW(compare) \
	ROW(completion) \
	ROW(import) \
	ROW(keys) \
	ROW(move) \
	ROW(recover) \
	ROW(report) \
	ROW(run) \
	ROW(scratch) \
	ROW(show) \
	ROW(tiobench) \
	ROW(witness) \
	ROW(workloads) \
	ROW(model_serve)

#define COMMAND_DECLARE(NAME) extern const struct command command_##NAME;
COMMANDS(COMMAND_DECLARE)
#undef COMMAND_DECLARE

int cli_status(const struct err *e); /* exit status of an error; in main.c */
const char *cli_version(void); /* in main.c, which alone knows it */

extern const struct command *const command_table[]; /* NULL-ended; in main.c */
