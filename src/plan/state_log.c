/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The log that survives; see state_log.h. */

#include "plan/state_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "core/fileio.h"
#include "core/sha256.h"

/* A run that was killed may take a moment to be gone. */
enum { LOCK_TRIES = 100, LOCK_PAUSE_MS = 50 };

struct state_log {
	char *path;
	int fd;
	off_t length; /* of the complete lines */
	char sum[SHA256_TEXT]; /* of the last line; "" when there is none */
};

static int checksum(const char *before, const char *text, size_t n,
	char out[static SHA256_TEXT])
{
	_cleanup_free_ char *both = NULL;
	int length = asprintf(&both, "%s%.*s", before, (int)n, text);

	if (length < 0) {
		both = NULL;
		return -ENOMEM;
	}
	sha256_hex(both, (size_t)length, out);
	return 0;
}

/* The record of a line without newline; NULL: it is not as it was written. */
static json_t *parse_line(const struct state_log *l, const char *line, size_t n,
	char sum[static SHA256_TEXT])
{
	enum { DIGITS = SHA256_TEXT - 1 };
	json_t *record;

	if (n < DIGITS + 2 || line[DIGITS] != ' ' ||
		checksum(l->sum, line + DIGITS + 1, n - DIGITS - 1, sum) ||
		strncmp(sum, line, DIGITS))
		return NULL;
	record = json_loadb(line + DIGITS + 1, n - DIGITS - 1, 0, NULL);
	if (json_string_value(json_object_get(record, "what")))
		return record;
	json_decref(record);
	return NULL;
}

/* Fills l->length and l->sum, too. */
static int parse(struct state_log *l, const char *text, size_t n, json_t *records,
	struct err *e)
{
	const char *line = text, *end;
	char sum[SHA256_TEXT];

	for (unsigned number = 1; line < text + n; number++) {
		json_t *record = NULL;

		end = memchr(line, '\n', (size_t)(text + n - line));
		if (end)
			record = parse_line(l, line, (size_t)(end - line), sum);
		if (!record && end && end + 1 < text + n)
			return err_say(e, EBADMSG,
				"%s:%u: the state log is damaged: the line is not as it "
				"was written, or one before it is missing",
				l->path, number);
		if (!record)
			return 0; /* the torn end */
		if (json_array_append_new(records, record))
			return err_set(e, ENOMEM, "read %s", l->path);
		memcpy(l->sum, sum, sizeof(sum));
		line = end + 1;
		l->length = line - text;
	}
	return 0;
}

static int load(struct state_log *l, json_t **records, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	json_auto_t *list = json_array();
	size_t n = 0;
	int r = fileio_read_regular(l->path, &text, &n, e);

	if (!r && !list)
		r = err_set(e, ENOMEM, "read %s", l->path);
	if (!r)
		r = parse(l, text, n, list, e);
	if (r)
		return r;
	*records = take_ptr(list);
	return 0;
}

static int take_lock(const struct state_log *l, struct err *e)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000L};

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!flock(l->fd, LOCK_EX | LOCK_NB))
			return 0;
		if (errno != EWOULDBLOCK)
			return err_set(e, errno, "lock %s", l->path);
		nanosleep(&pause, NULL);
	}
	return err_refuse(e,
		"another jbdlab is working on this run: it holds the lock of %s", l->path);
}

static int open_log(struct state_log **out, const char *path, int flags, struct err *e)
{
	_cleanup_(state_log_freep) struct state_log *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return err_set(e, ENOMEM, "open %s", path);
	l->fd = -1;
	l->path = strdup(path);
	if (!l->path)
		return err_set(e, ENOMEM, "open %s", path);
	l->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0644);
	if (l->fd < 0)
		return err_set(e, errno, "open %s", path);
	r = take_lock(l, e);
	if (!r)
		*out = take_ptr(l);
	return r;
}

static int sync_parent(const char *path, struct err *e)
{
	_cleanup_free_ char *copy = strdup(path);
	char *slash = copy ? strrchr(copy, '/') : NULL;

	if (!copy)
		return err_set(e, ENOMEM, "open %s", path);
	if (slash)
		slash[slash == copy] = '\0';
	return fileio_sync_dir(slash ? copy : ".", e);
}

int state_log_create(
	struct state_log **out, const char *path, json_t *first, struct err *e)
{
	_cleanup_(state_log_freep) struct state_log *l = NULL;
	int r = open_log(&l, path, O_CREAT | O_EXCL, e);

	if (r) {
		json_decref(first);
		return r;
	}
	r = state_log_add(l, first, e);
	if (!r)
		r = sync_parent(path, e);
	if (!r)
		*out = take_ptr(l);
	return r;
}

int state_log_open(
	struct state_log **out, const char *path, json_t **records, struct err *e)
{
	_cleanup_(state_log_freep) struct state_log *l = NULL;
	json_auto_t *list = NULL;
	int r = open_log(&l, path, 0, e);

	if (!r)
		r = load(l, &list, e);
	if (!r && (ftruncate(l->fd, l->length) || fsync(l->fd)))
		r = err_set(e, errno, "cut off the incomplete end of %s", path);
	if (r)
		return r;
	*records = take_ptr(list);
	*out = take_ptr(l);
	return 0;
}

int state_log_read(const char *path, json_t **records, struct err *e)
{
	struct state_log l = {.path = (char *)path, .fd = -1};

	return load(&l, records, e);
}

static int append(struct state_log *l, const char *text, const char *sum, struct err *e)
{
	_cleanup_free_ char *line = NULL;
	int n = asprintf(&line, "%s %s\n", sum, text), r;

	if (n < 0) {
		line = NULL;
		return err_set(e, ENOMEM, "append to %s", l->path);
	}
	r = fileio_pwrite_full(l->fd, line, (size_t)n, l->length, l->path, e);
	if (!r && fsync(l->fd))
		r = err_set(e, errno, "sync %s", l->path);
	if (r) {
		if (ftruncate(l->fd, l->length))
			err_wrap(e, r, "%s now ends with an incomplete line", l->path);
		return r;
	}
	l->length += n;
	return 0;
}

int state_log_add(struct state_log *l, json_t *record, struct err *e)
{
	_cleanup_free_ char *text =
		record ? json_dumps(record, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	char sum[SHA256_TEXT];
	int r;

	json_decref(record);
	if (!text || checksum(l->sum, text, strlen(text), sum))
		return err_set(e, ENOMEM, "append to %s", l->path);
	r = append(l, text, sum, e);
	if (!r)
		memcpy(l->sum, sum, sizeof(sum));
	return r;
}

struct state_log *state_log_free(struct state_log *l)
{
	if (!l)
		return NULL;
	closep(&l->fd);
	free(l->path);
	free(l);
	return NULL;
}

static bool has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = words; (p = strstr(p, word)); p += n)
		if ((p == words || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return true;
	return false;
}

const json_t *state_log_last(const json_t *records, const char *words, const char *name)
{
	for (size_t i = json_array_size(records); i--;) {
		const json_t *record = json_array_get(records, i);
		const char *what = json_string_value(json_object_get(record, "what"));
		const char *of = json_string_value(json_object_get(record, "name"));

		if (what && has_word(words, what) && (!name || (of && !strcmp(of, name))))
			return record;
	}
	return NULL;
}

bool state_log_ends(const json_t *records, const char *words, const char *name,
	const char *word)
{
	const json_t *last = state_log_last(records, words, name);
	const char *what = json_string_value(json_object_get(last, "what"));

	return what && !strcmp(what, word);
}
