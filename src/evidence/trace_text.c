/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Lines of a trace; see trace_text.h.  The name of a command may hold anything, so the
 * line is taken apart from the first "-PID [CPU] ": everything before that is the name.
 */

#include "evidence/trace_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/clock.h"
#include "core/macros.h"

static bool read_command(struct trace_event *v, const char *line, const char *end)
{
	const char *begin = line + strspn(line, " "), *dash;
	size_t n;

	while (end > begin && end[-1] == ' ')
		end--;
	for (dash = end; dash > begin && isdigit((unsigned char)dash[-1]); dash--)
		;
	if (dash == end || dash - 1 <= begin || dash[-1] != '-')
		return false;
	v->thread = (int)strtol(dash, NULL, 10);
	n = MIN((size_t)(dash - 1 - begin), sizeof(v->command) - 1);
	memcpy(v->command, begin, n);
	v->command[n] = '\0';
	return true;
}

static bool read_device(struct trace_event *v, const char *text)
{
	unsigned high, low;

	if (sscanf(text, "dev %u,%u", &high, &low) != 2 &&
		sscanf(text, "%u,%u", &high, &low) != 2)
		return false;
	v->devno = makedev(high, low);
	return true;
}

static bool read_sync(struct trace_event *v, const char *text)
{
	const char *data_only = strstr(text, "datasync ");

	v->data_only = data_only && data_only[9] == '1';
	return sscanf(text, "dev %*u,%*u ino %" SCNu64, &v->inode) == 1;
}

static bool read_commit(struct trace_event *v, const char *text)
{
	return sscanf(text, "dev %*u,%*u transaction %" SCNu32, &v->tid) == 1;
}

static bool read_run_stats(struct trace_event *v, const char *text)
{
	return sscanf(text,
		       "dev %*u,%*u tid %" SCNu32 " wait %" SCNu32 " request_delay %*u "
		       "running %" SCNu32 " locked %" SCNu32 " flushing %" SCNu32
		       " logging %" SCNu32 " handle_count %" SCNu32 " blocks %" SCNu32
		       " blocks_logged %" SCNu32,
		       &v->tid, &v->wait_ms, &v->running_ms, &v->locked_ms, &v->flushing_ms,
		       &v->logging_ms, &v->handles, &v->blocks, &v->logged_blocks) == 9;
}

static bool read_nothing(struct trace_event *v _unused_, const char *text _unused_)
{
	return true;
}

/* "7,1 FWFSM 72 + 8 [...]", with the bytes and the command of a request in between where
 * the event is one of a request. */
static bool read_request(struct trace_event *v, const char *text)
{
	const char *plus = strstr(text, " + "), *sector = plus;

	if (!plus || sscanf(text, "%*u,%*u %11s", v->rwbs) != 1 ||
		sscanf(plus, " + %" SCNu32, &v->sectors) != 1)
		return false;
	while (sector > text && isdigit((unsigned char)sector[-1]))
		sector--;
	return sscanf(sector, "%" SCNu64, &v->sector) == 1;
}

static const struct {
	const char *name;
	enum trace_kind kind;
	bool (*read)(struct trace_event *v, const char *text);
} known[] = {
	{ "block_bio_queue: ", TRACE_QUEUE, read_request },
	{ "block_rq_issue: ", TRACE_ISSUE, read_request },
	{ "block_rq_complete: ", TRACE_COMPLETE, read_request },
	{ "block_bio_complete: ", TRACE_BIO_COMPLETE, read_request },
	{ "ext4_sync_file_enter: ", TRACE_SYNC_ENTER, read_sync },
	{ "ext4_sync_file_exit: ", TRACE_SYNC_EXIT, read_sync },
	{ "jbd2_commit_locking: ", TRACE_COMMIT_LOCKING, read_commit },
	{ "jbd2_commit_flushing: ", TRACE_COMMIT_FLUSHING, read_commit },
	{ "jbd2_commit_logging: ", TRACE_COMMIT_LOGGING, read_commit },
	{ "jbd2_run_stats: ", TRACE_RUN_STATS, read_run_stats },
	{ "jbd2_checkpoint: ", TRACE_CHECKPOINT, read_nothing },
};

/* The "[000] " behind a command and its number, which are read on the way. */
static const char *find_processor(struct trace_event *v, const char *line)
{
	for (const char *at = strchr(line, '['); at; at = strchr(at + 1, '[')) {
		size_t digits = strspn(at + 1, "0123456789");

		if (digits && at[digits + 1] == ']' && at > line && at[-1] == ' ' &&
			read_command(v, line, at))
			return at;
	}
	return NULL;
}

int trace_parse(struct trace_event *v, const char *line)
{
	const char *processor, *at;
	uint64_t seconds, us;
	int n = 0;

	*v = (struct trace_event){ 0 };
	processor = find_processor(v, line);
	if (!processor)
		return -EBADMSG;
	/* "[000] ..s1.   639.187866: ": flags, if they are shown, and the time. */
	at = strstr(processor, ": ");
	while (at && at > processor && (isdigit((unsigned char)at[-1]) || at[-1] == '.'))
		at--;
	if (!at || sscanf(at, "%" SCNu64 ".%6" SCNu64 ": %n", &seconds, &us, &n) != 2 || !n)
		return -EBADMSG;
	v->ns = seconds * NS_PER_S + us * NS_PER_US;
	at += n;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		size_t length = strlen(known[i].name);

		if (strncmp(at, known[i].name, length))
			continue;
		v->kind = known[i].kind;
		return read_device(v, at + length) && known[i].read(v, at + length)
			? 0
			: -EBADMSG;
	}
	return -EBADMSG;
}

bool trace_flush_first(const struct trace_event *v)
{
	return v->rwbs[0] == 'F';
}

/* Behind the letter of the operation, F means FUA. */
bool trace_fua(const struct trace_event *v)
{
	const char *operation = v->rwbs + trace_flush_first(v);

	return *operation && *operation != 'F' && strchr(operation + 1, 'F');
}

bool trace_write(const struct trace_event *v)
{
	return v->rwbs[trace_flush_first(v)] == 'W';
}

bool trace_metadata(const struct trace_event *v)
{
	return strchr(v->rwbs, 'M');
}

bool trace_flush_only(const struct trace_event *v)
{
	return !strncmp(v->rwbs, "FF", 2);
}
