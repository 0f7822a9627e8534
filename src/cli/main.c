/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Dispatch: finds the command, lets it parse its options, prints its error once and turns
 * the kind of the error into the exit status that jbdlab-results(5) documents.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "core/nearest.h"
#include "core/printable.h"
#include "core/privilege.h"

#define ADDRESS(NAME) &command_##NAME,

const struct command *const command_table[] = {COMMANDS(ADDRESS) NULL};

const char *cli_version(void)
{
	return VERSION;
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; command_table[i]; i++)
		if (!strcmp(command_table[i]->name, name))
			return command_table[i];
	return NULL;
}

static const char *nearest_command(const char *word)
{
	struct nearest near = { .word = word };

	for (size_t i = 0; command_table[i]; i++)
		if (!(command_table[i]->flags & COMMAND_HIDDEN))
			nearest_offer(&near, command_table[i]->name);
	return near.best;
}

int cli_status(const struct err *e)
{
	switch (e->kind) {
	case ERR_USAGE:
		return STATUS_USAGE;
	case ERR_REFUSED:
		return STATUS_REFUSED;
	case ERR_NEEDS_RECOVER:
		return STATUS_NEEDS_RECOVER;
	case ERR_INTERRUPTED:
		return e->code == SIGTERM ? STATUS_TERMINATED : STATUS_INTERRUPTED;
	case ERR_FAILED:
		break;
	}
	return STATUS_FAILED;
}

static int finish(struct cli *cli, const struct command *command, int r, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf message = { 0 };

	cli_progress_done(cli);
	if (fflush(stdout) || ferror(stdout)) {
		if (r >= 0)
			r = err_set(e, errno, "write to standard output");
	}
	if (r >= 0)
		return r;
	printable_add(&message, err_message(e));
	fprintf(stderr, "jbdlab: %s\n", strbuf_text(&message));
	/* Not when a file is missing: no help tells where it is. */
	if (e->kind == ERR_USAGE && e->code == EINVAL)
		fprintf(stderr, "Try \"jbdlab %s%s--help\".\n", command ? command->name : "",
			command ? " " : "");
	return cli_status(e);
}

static int run_command(struct cli *cli, const struct command *command,
	const char *const *words, struct err *e)
{
	_cleanup_(option_parser_deinit) struct option_parser p = { 0 };
	int r = option_parser_init(&p, cli, command, words, e);

	/* --help wins wherever it stands, before anything is opened. */
	for (size_t i = 0; !r && words[i] && strcmp(words[i], "--"); i++)
		if (!strcmp(words[i], "--help") || !strcmp(words[i], "-h")) {
			options_print_help(stdout, command);
			return STATUS_DONE;
		}
	if (r)
		return r;
	r = command->flags & COMMAND_FILES ? privilege_limit(PRIVILEGE_FILES) : 0;
	return r ? err_set(e, -r, "give up capabilities") : command->run(cli, &p, e);
}

/* Moves the command's name in front of the global options that may stand before it, so
 * that "jbdlab --json show" is "jbdlab show --json". */
static void put_command_first(char **words)
{
	char *name;
	size_t i = 0;

	while (words[i] && words[i][0] == '-')
		i += !strcmp(words[i], "--color") && words[i + 1] ? 2 : 1;
	name = words[i];
	if (!name)
		return;
	memmove(words + 1, words, i * sizeof(*words));
	words[0] = name;
}

static int dispatch_without_command(const char *const *first, struct err *e)
{
	const char *const *words = first;

	for (; *words; words++) {
		if (!strcmp(*words, "--version") || !strcmp(*words, "-V")) {
			puts("jbdlab " VERSION);
			return STATUS_DONE;
		}
		if (!strcmp(*words, "--help") || !strcmp(*words, "-h") ||
			!strcmp(*words, "help")) {
			options_print_help(stdout, words[1] ? find_command(words[1]) : NULL);
			return STATUS_DONE;
		}
	}
	for (words = first; *words; words++)
		if (**words == '-' && !option_is_global(*words))
			return option_unknown(NULL, *words, e);
	return err_usage(e, "no command was given");
}

static int dispatch(struct cli *cli, const char *const *words,
	const struct command **command, struct err *e)
{
	const char *near;

	if (!*words) {
		options_print_help(stderr, NULL);
		return STATUS_USAGE;
	}
	if (**words == '-' || !strcmp(*words, "help"))
		return dispatch_without_command(words, e);
	*command = find_command(*words);
	if (*command)
		return run_command(cli, *command, words + 1, e);
	near = nearest_command(*words);
	return err_usage(e, "there is no command \"%s\"%s%s%s", *words,
		near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* Whoever starts us without one of the standard streams shall not have his volume opened
 * in its place, and our messages written into it.  Opened the wrong way round: using one
 * that was closed stays an error. */
static bool open_missing_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return false;
	return true;
}

int main(int argc _unused_, char **argv)
{
	_cleanup_(err_clear) struct err e = { 0 };
	const struct command *command = NULL;
	struct cli cli;
	int r;

	if (!open_missing_streams())
		return STATUS_FAILED;
	cli_init(&cli);
	/* Both are then errors of write(2) like any other, and nothing is left half done. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	put_command_first(argv + 1);
	r = dispatch(&cli, (const char *const *)argv + 1, &command, &e);
	return finish(&cli, command, r, &e);
}
