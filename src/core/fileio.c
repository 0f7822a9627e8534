/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Files read and written whole; see fileio.h. */

#include "core/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/strbuf.h"

#define READ_LIMIT_BYTES ((size_t)64 << 20)

static int read_fd(int fd, struct strbuf *b)
{
	char chunk[16384];
	ssize_t n;

	for (;;) {
		n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return strbuf_failed(b) ? -ENOMEM : 0;
		if (b->length + (size_t)n > READ_LIMIT_BYTES)
			return -EFBIG;
		strbuf_addn(b, chunk, (size_t)n);
	}
}

/* Not to wait for somebody to open the other end of a pipe with a name; once one has, its
 * words are waited for. */
static int open_to_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);

	if (flags >= 0)
		fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	return fd;
}

static int read_path(const char *path, struct strbuf *b)
{
	_cleanup_close_ int fd = open_to_read(path);

	return fd < 0 ? -errno : read_fd(fd, b);
}

int fileio_open_regular(int *fd, const char *path, struct err *e)
{
	_cleanup_close_ int opened = open_to_read(path);
	struct stat st;

	if (opened < 0 || fstat(opened, &st))
		return err_set(e, errno, "open %s", path);
	if (!S_ISREG(st.st_mode))
		return err_say(e, EBADMSG, "%s is not a regular file", path);
	*fd = take_fd(opened);
	return 0;
}

/* Hands over what was read, or says why it was not. */
static int give_text(int r, struct strbuf *b, const char *path, char **text,
	size_t *length, struct err *e)
{
	size_t n = b->length;
	char *taken;

	if (r)
		return err_set(e, -r, "read %s", path);
	taken = strbuf_take(b);
	if (!taken)
		return err_set(e, ENOMEM, "read %s", path);
	*text = taken;
	if (length)
		*length = n;
	return 0;
}

int fileio_read(const char *path, char **text, size_t *length, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	return give_text(read_path(path, &b), &b, path, text, length, e);
}

int fileio_read_regular(const char *path, char **text, size_t *length, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	_cleanup_close_ int fd = -1;
	int r = fileio_open_regular(&fd, path, e);

	return r ? r : give_text(read_fd(fd, &b), &b, path, text, length, e);
}

static char *read_line_v(const char *fmt, va_list ap)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	_cleanup_free_ char *path = NULL;

	if (vasprintf(&path, fmt, ap) < 0) {
		path = NULL;
		return NULL;
	}
	if (read_path(path, &b))
		return NULL;
	if (b.text)
		b.text[strcspn(b.text, "\n")] = '\0';
	return strbuf_take(&b);
}

char *fileio_read_line(const char *path_fmt, ...)
{
	va_list ap;
	char *line;

	va_start(ap, path_fmt);
	line = read_line_v(path_fmt, ap);
	va_end(ap);
	return line;
}

int fileio_read_u64(uint64_t *value, const char *path_fmt, ...)
{
	_cleanup_free_ char *line = NULL;
	unsigned long long number;
	va_list ap;
	char *end;

	va_start(ap, path_fmt);
	line = read_line_v(path_fmt, ap);
	va_end(ap);
	if (!line)
		return -ENOENT;
	errno = 0;
	number = strtoull(line, &end, 10);
	if (errno || end == line || *end)
		return -EINVAL;
	*value = number;
	return 0;
}

static char *parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

int fileio_sync_dir(const char *path, struct err *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_set(e, errno, "open directory %s", path);
	if (fsync(fd))
		return err_set(e, errno, "sync directory %s", path);
	return 0;
}

static int write_new(int fd, const char *path, const void *bytes, size_t n, mode_t mode,
	bool durable, struct err *e)
{
	int r = fileio_pwrite_full(fd, bytes, n, 0, path, e);

	if (r)
		return r;
	if (fchmod(fd, mode))
		return err_set(e, errno, "set mode of %s", path);
	if (durable && fsync(fd))
		return err_set(e, errno, "sync %s", path);
	return 0;
}

static int write_whole(const char *path, const void *bytes, size_t n, mode_t mode,
	bool durable, struct err *e)
{
	_cleanup_free_ char *temporary = NULL;
	_cleanup_close_ int fd = -1;
	int r;

	if (asprintf(&temporary, "%s.XXXXXX", path) < 0) {
		temporary = NULL;
		return err_set(e, ENOMEM, "write %s", path);
	}
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "create %s", temporary);
	r = write_new(fd, temporary, bytes, n, mode, durable, e);
	if (!r && rename(temporary, path))
		r = err_set(e, errno, "rename %s to %s", temporary, path);
	if (r)
		unlink(temporary);
	return r;
}

int fileio_write_durable(const char *path, const void *bytes, size_t n, mode_t mode,
	struct err *e)
{
	_cleanup_free_ char *parent = parent_of(path);
	int r = parent ? write_whole(path, bytes, n, mode, true, e)
		       : err_set(e, ENOMEM, "write %s", path);

	return r ? r : fileio_sync_dir(parent, e);
}

int fileio_write_atomic(const char *path, const void *bytes, size_t n, mode_t mode,
	struct err *e)
{
	return write_whole(path, bytes, n, mode, false, e);
}

int fileio_make_dirs(const char *path, mode_t mode, struct err *e)
{
	_cleanup_free_ char *copy = strdup(path);

	if (!copy)
		return err_set(e, ENOMEM, "create directory %s", path);
	for (char *p = copy + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			if (mkdir(copy, mode) && errno != EEXIST)
				return err_set(e, errno, "create directory %s", copy);
			*p = '/';
		}
	if (mkdir(copy, mode) && errno != EEXIST)
		return err_set(e, errno, "create directory %s", path);
	return 0;
}

int fileio_pread_full(int fd, void *buffer, size_t n, off_t offset, const char *name,
	struct err *e)
{
	char *at = buffer;

	while (n) {
		ssize_t got = pread(fd, at, n, offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set(e, errno, "read %s at byte %lld", name,
				(long long)offset);
		if (got == 0)
			return err_say(e, EIO, "read %s at byte %lld: short read", name,
				(long long)offset);
		at += got;
		n -= (size_t)got;
		offset += got;
	}
	return 0;
}

int fileio_pwrite_full(int fd, const void *buffer, size_t n, off_t offset,
	const char *name, struct err *e)
{
	const char *at = buffer;

	while (n) {
		ssize_t put = pwrite(fd, at, n, offset);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return err_set(e, errno, "write %s at byte %lld", name,
				(long long)offset);
		if (put == 0)
			return err_say(e, EIO, "write %s at byte %lld: nothing written",
				name, (long long)offset);
		at += put;
		n -= (size_t)put;
		offset += put;
	}
	return 0;
}

void fileio_forget_cached(int fd, off_t offset, size_t bytes)
{
	off_t page = sysconf(_SC_PAGESIZE), from = offset - offset % page;
	off_t to = offset + (off_t)bytes + page - 1;

	posix_fadvise(fd, from, to - to % page - from, POSIX_FADV_DONTNEED);
}
