/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Global options and the sink for messages.  Progress lines replace each other on a
 * terminal; elsewhere they are ordinary lines, so that a log file shows where a long run
 * was.
 */

#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/printable.h"
#include "core/strbuf.h"
#include "core/wrap.h"

const struct option_spec global_options[] = {
	{ GLOBAL_JSON, 0, "json", NULL, "machine output on stdout, nothing else there" },
	{ GLOBAL_QUIET, 'q', "quiet", NULL, "only warnings and errors on stderr" },
	{ GLOBAL_VERBOSE, 'v', "verbose", NULL, "say more on stderr" },
	{ GLOBAL_NO_PROGRESS, 0, "no-progress", NULL, "no progress lines" },
	{ GLOBAL_COLOR, 0, "color", "WHEN", "auto, always or never (see also NO_COLOR)" },
	{ GLOBAL_YES, 'y', "yes", NULL, "answer yes where a command would ask (run, lease)" },
	{ GLOBAL_HELP, 'h', "help", NULL, "print this help" },
	{ GLOBAL_VERSION, 'V', "version", NULL, "print the version" },
	{ 0 },
};

/* Into a file a line every ten seconds will do. */
static bool progress_due(struct cli *cli)
{
	uint64_t now_ns = clock_now_ns();

	if (cli->progress_ns && now_ns - cli->progress_ns < 10 * NS_PER_S)
		return false;
	cli->progress_ns = now_ns;
	return true;
}

/* How many bytes of a line fit into one of the terminal: what is wider could not be replaced
 * by the next one. */
static int fitting(const char *line)
{
	struct winsize size = {0};
	int at = 0, columns = 1;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		size.ws_col = 80;
	for (; line[at] && columns < size.ws_col; columns++)
		do
			at++;
		while ((line[at] & 0xC0) == 0x80); /* the rest of a character */
	return at;
}

/* On a terminal no word is broken, unless the message has lines of its own. */
static void say(const char *lead, const char *text, bool terminal)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	if (!terminal || strchr(text, '\n')) {
		fprintf(stderr, "%s%s\n", lead, text);
		return;
	}
	strbuf_add(&b, lead);
	wrap_text(&b, text, strlen(lead), 2);
	fputs(strbuf_text(&b), stderr);
}

static void emit(void *data, enum log_level level, const char *line)
{
	struct cli *cli = data;
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	bool terminal = isatty(STDERR_FILENO);

	if (level == LOG_DETAIL && !cli->verbose)
		return;
	if (level != LOG_WARNING && level != LOG_ANSWER && cli->quiet)
		return;
	if (level == LOG_PROGRESS) {
		if (cli->no_progress || (!terminal && !progress_due(cli)))
			return;
		if (terminal)
			fprintf(stderr, "\r\033[K%.*s", fitting(line), line);
		else
			fprintf(stderr, "%s\n", line);
		fflush(stderr);
		cli->progress_open = terminal;
		return;
	}
	cli_progress_done(cli);
	printable_add(&text, line);
	say(level == LOG_WARNING ? "jbdlab: warning: " : "", strbuf_text(&text), terminal);
}

void cli_init(struct cli *cli)
{
	*cli = (struct cli){ .log = { .emit = emit, .data = cli } };
}

void cli_print_entry(const char *name, int width, const char *text)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	if (!isatty(STDOUT_FILENO)) {
		printf("%-*s %s\n", width, name, text);
		return;
	}
	strbuf_addf(&b, "%-*s ", width, name);
	wrap_text(&b, text, (size_t)width + 1, (size_t)width + 1);
	fputs(strbuf_text(&b), stdout);
}

void cli_printf(const char *fmt, ...)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	printable_add(&b, text ? text : "");
	fputs(strbuf_text(&b), stdout);
}

static const char *const color_words[] = {
	[COLOR_AUTO] = "auto",
	[COLOR_ALWAYS] = "always",
	[COLOR_NEVER] = "never",
};

static int parse_color(struct cli *cli, const char *value, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(color_words); i++)
		if (!strcmp(value, color_words[i])) {
			cli->color = (enum color_when)i;
			return 0;
		}
	return err_usage(e, "--color takes auto, always or never, not \"%s\"", value);
}

void global_offer(int id, struct strbuf *words)
{
	for (size_t i = 0; id == GLOBAL_COLOR && i < ARRAY_SIZE(color_words); i++)
		strbuf_addf(words, " %s", color_words[i]);
}

int cli_apply(struct cli *cli, const struct command *command, int id, const char *value,
	struct err *e)
{
	if (id == GLOBAL_JSON && command && !(command->flags & COMMAND_JSON))
		return err_usage(e, "%s has no --json", command->name);
	if (id == GLOBAL_YES && command && !(command->flags & COMMAND_DESTRUCTIVE))
		return err_usage(e, "%s has no --yes", command->name);
	switch (id) {
	case GLOBAL_JSON:
		cli->json = true;
		break;
	case GLOBAL_QUIET:
		cli->quiet = true;
		break;
	case GLOBAL_VERBOSE:
		cli->verbose = true;
		break;
	case GLOBAL_NO_PROGRESS:
		cli->no_progress = true;
		break;
	case GLOBAL_COLOR:
		return parse_color(cli, value, e);
	case GLOBAL_YES:
		cli->yes = true;
		break;
	case GLOBAL_HELP:
		cli->help = true;
		break;
	case GLOBAL_VERSION:
		cli->version = true;
		break;
	}
	return 0;
}

bool cli_json(const struct cli *cli)
{
	return cli->json;
}

bool cli_yes(const struct cli *cli)
{
	return cli->yes;
}

bool cli_quiet(const struct cli *cli)
{
	return cli->quiet;
}

bool cli_color(const struct cli *cli)
{
	const char *no = getenv("NO_COLOR");

	if (cli->color == COLOR_AUTO)
		return isatty(STDOUT_FILENO) && !(no && *no);
	return cli->color == COLOR_ALWAYS;
}

const struct log *cli_log(const struct cli *cli)
{
	return &cli->log;
}

void cli_progress_done(struct cli *cli)
{
	if (cli->progress_open)
		fputs("\r\033[K", stderr);
	cli->progress_open = false;
}
