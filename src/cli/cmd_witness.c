/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * jbdlab witness: are records that fsync vouched for still there after a power cut?  Who
 * gets the acknowledgements must survive it: another machine, or the host of a virtual one.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/signals.h"
#include "core/fileio.h"
#include "core/units.h"
#include "witness/witness.h"

enum { OPTION_VERIFY = 1, OPTION_WRITERS, OPTION_TIME, OPTION_ACK, OPTION_ACKED, OPTION_LOG };

static const struct option_spec options[] = {
	{OPTION_VERIFY, 0, "verify", NULL,
		"do not write: say which acknowledged records are missing"},
	{OPTION_WRITERS, 'w', "writers", "COUNT",
		"how many write at once, of four kinds in turn (default 4)"},
	{OPTION_TIME, 't', "time", "TIME", "end after this (default: at a signal)"},
	{OPTION_ACK, 0, "ack", "WHERE",
		"where acknowledgements go: - (default), fd:NUMBER, tcp:HOST:PORT, or the path "
		"of a serial line or file"},
	{OPTION_ACKED, 0, "acked", "WRITER:NUMBER,...",
		"with --verify: the last number that each writer acknowledged"},
	{OPTION_LOG, 0, "log", "FILE", "with --verify: what was received, as lines"},
	{0},
};

struct arguments {
	struct witness_options o;
	const char *ack, *acked, *log;
	bool verify;
};

static int parse_writers(unsigned *writers, const char *value, struct err *e)
{
	uint64_t count;
	int r = units_parse_count(value, 1, WITNESS_WRITERS_MAX, &count, e);

	*writers = r ? 0 : (unsigned)count;
	return r ? err_wrap(e, r, "--writers") : 0;
}

static int parse_option(struct arguments *a, int id, const char *value, struct err *e)
{
	switch (id) {
	case OPTION_VERIFY:
		a->verify = true;
		return 0;
	case OPTION_WRITERS:
		return parse_writers(&a->o.writers, value, e);
	case OPTION_TIME:
		return units_parse_duration(value, &a->o.time_ns, e);
	case OPTION_ACK:
		a->ack = value;
		return 0;
	case OPTION_ACKED:
		a->acked = value;
		return 0;
	default:
		a->log = value;
		return 0;
	}
}

static int parse(struct option_parser *p, struct arguments *a, struct err *e)
{
	const char *value;
	int id, r = 0;

	while (!r && (id = option_next(p, &value, e)) != 0)
		r = id < 0 ? id : parse_option(a, id, value, e);
	if (r)
		return r;
	r = option_operand(p, "directory", &a->o.directory, e);
	if (r)
		return r;
	if (a->verify ? a->o.time_ns || a->ack : a->acked || a->log)
		return err_usage(e, a->verify ? "--time and --ack are for writing"
					      : "--acked and --log are for --verify");
	return 0;
}

/* "HOST:PORT" */
static int connect_to(const char *where, int *fd, struct err *e)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	_cleanup_free_ char *host = strdup(where);
	char *port = host ? strrchr(host, ':') : NULL;
	struct addrinfo *list = NULL;
	int r, one = 1, code = ECONNREFUSED;

	if (!port)
		return err_usage(e, "--ack=tcp:HOST:PORT, not \"tcp:%s\"", where);
	*port++ = '\0';
	r = getaddrinfo(host, port, &hints, &list);
	if (r)
		return err_usage(e, "--ack: %s: %s", where, gai_strerror(r));
	for (struct addrinfo *a = list; a && *fd < 0; a = a->ai_next) {
		*fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
		if (*fd < 0 || !connect(*fd, a->ai_addr, a->ai_addrlen))
			continue;
		code = errno;
		close(take_fd(*fd));
	}
	freeaddrinfo(list);
	if (*fd < 0)
		return err_set(e, code, "--ack: connect to %s", where);
	setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return 0;
}

/* A terminal line must not turn our ends of line into others. */
static void make_raw(int fd)
{
	struct termios t;

	if (tcgetattr(fd, &t))
		return;
	cfmakeraw(&t);
	tcsetattr(fd, TCSANOW, &t);
}

static int open_ack(const char *where, int *fd, struct err *e)
{
	uint64_t number;
	int r;

	if (!where || !strcmp(where, "-")) {
		*fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	} else if (!strncmp(where, "fd:", 3)) {
		r = units_parse_count(where + 3, 0, INT32_MAX, &number, e);
		if (r)
			return err_wrap(e, r, "--ack");
		*fd = fcntl((int)number, F_DUPFD_CLOEXEC, 3);
	} else if (!strncmp(where, "tcp:", 4)) {
		return connect_to(where + 4, fd, e);
	} else {
		*fd = open(where, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC, 0644);
		make_raw(*fd);
	}
	return *fd < 0 ? err_set(e, errno, "--ack: open %s", where ? where : "-") : 0;
}

static int write_records(struct arguments *a, struct err *e)
{
	_cleanup_close_ int fd = -1;
	int r = open_ack(a->ack, &fd, e);

	a->o.acknowledge = fd;
	return r ? r : witness_write(&a->o, e);
}

/* "0:17,1:4" */
static int parse_acked(const char *text, unsigned writers, uint64_t acked[], struct err *e)
{
	unsigned writer;
	uint64_t number;
	int used;

	while (sscanf(text, "%u:%" SCNu64 "%n", &writer, &number, &used) == 2) {
		if (writer >= writers)
			return err_usage(
				e, "--acked names writer %u of %u", writer, writers);
		acked[writer] = number;
		text += used;
		text += *text == ',';
	}
	return *text ? err_usage(e, "--acked: not WRITER:NUMBER: %s", text) : 0;
}

static int read_acked(const struct arguments *a, uint64_t acked[], struct err *e)
{
	_cleanup_free_ char *text = NULL;
	int r = 0;

	if (a->log) {
		r = fileio_read(a->log, &text, NULL, e);
		if (!r)
			r = witness_read_log(text, a->o.writers, acked, e);
	}
	return !r && a->acked ? parse_acked(a->acked, a->o.writers, acked, e) : r;
}

static void add_lost(void *data, unsigned writer, const char *kind, uint64_t number,
	const char *path, const char *reason)
{
	json_array_append_new(data,
		json_pack("{si,ss,sI,ss,ss}", "writer", (int)writer, "kind", kind, "number",
			(json_int_t)number, "path", path, "reason", reason));
}

static void print_json(const struct arguments *a, const uint64_t acked[],
	const struct witness_findings *found, json_t *lost)
{
	json_t *writers = json_array();
	json_auto_t *json = NULL;

	for (unsigned i = 0; i < a->o.writers; i++)
		json_array_append_new(writers,
			json_pack("{si,ss,sI,sI}", "writer", (int)i, "kind", witness_kind(i),
				"acknowledged", (json_int_t)acked[i], "found",
				(json_int_t)found->last[i]));
	json = json_pack("{ss,so,sO}", "schema", "jbdlab-witness/1", "writers", writers,
		"lost", lost);
	json_dumpf(json, stdout, JSON_INDENT(2));
	putchar('\n');
}

static void print_text(const struct arguments *a, const struct witness_findings *found,
	const json_t *lost)
{
	const json_t *one;
	size_t i;

	for (unsigned w = 0; w < a->o.writers; w++)
		printf("SEEN %u %" PRIu64 "\n", w, found->last[w]);
	json_array_foreach (lost, i, one)
		printf("LOST %lld %lld: %s: %s\n",
			(long long)json_integer_value(json_object_get(one, "writer")),
			(long long)json_integer_value(json_object_get(one, "number")),
			json_string_value(json_object_get(one, "path")),
			json_string_value(json_object_get(one, "reason")));
}

static int verify(struct cli *cli, const struct arguments *a, struct err *e)
{
	uint64_t acked[WITNESS_WRITERS_MAX] = {0};
	json_auto_t *lost = json_array();
	struct witness_findings found = {.lost = add_lost, .data = lost};
	int r = read_acked(a, acked, e);

	if (!r)
		r = witness_verify(&a->o, acked, &found, e);
	if (r)
		return r;
	if (cli_json(cli))
		print_json(a, acked, &found, lost);
	else
		print_text(a, &found, lost);
	return found.lost_count ? STATUS_AUDIT_FAILED : STATUS_DONE;
}

static int run(struct cli *cli, struct option_parser *p, struct err *e)
{
	struct arguments a = {.o = {.writers = 4, .stop = signals_catch()}};
	struct stat st;
	int r = parse(p, &a, e);

	if (!r && stat(a.o.directory, &st))
		r = err_set(e, errno, "directory %s", a.o.directory);
	if (!r && !S_ISDIR(st.st_mode))
		r = err_set(e, ENOTDIR, "directory %s", a.o.directory);
	if (r)
		return r;
	if (a.verify)
		return verify(cli, &a, e);
	return cli_json(cli) ? err_usage(e, "--json is for --verify") : write_records(&a, e);
}

const struct command command_witness = {
	.name = "witness",
	.arguments = "DIR [options]\n"
		     "DIR --verify [options]",
	.summary = "write and acknowledge records; find those that a power cut took",
	.options = options,
	.flags = COMMAND_JSON | COMMAND_FILES,
	.run = run,
};
