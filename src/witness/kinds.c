/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kinds of writer: how each lays out its records, makes one durable, and finds after
 * a crash which are there. A scan decides what a cut may have left: records 1 to L in
 * whole, anything where record L + 1 would be, and nothing that contradicts it.
 */

#include "witness/kinds.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/macros.h"
#include "core/sha256.h"

#define RECORD_MIN 64
#define SLOT_BYTES 1024
#define SLOTS 64
#define SPOOL_KEPT 64

/* One step of splitmix64, good enough to make no two records alike. */
static uint64_t mix(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* The first line names the record and begins the SHA-256 of what follows its head of 64
 * bytes.  One record in 32 is large, so that files get extents of several blocks; slots
 * have one size. */
size_t record_make(const struct writer *w, uint64_t n, unsigned char *buf)
{
	uint64_t state = ((uint64_t)w->number << 48) ^ n;
	uint64_t r = mix(&state);
	size_t bytes = RECORD_MIN + r % 2048;
	char checksum[SHA256_TEXT];

	if (r >> 59 == 0)
		bytes = RECORD_MAX - r % 8192;
	if (!strcmp(w->kind->name, "slots"))
		bytes = SLOT_BYTES;
	for (size_t i = 0; i < bytes; i += sizeof(r)) {
		r = mix(&state);
		memcpy(buf + i, &r, MIN(sizeof(r), bytes - i));
	}
	memset(buf, 0, RECORD_MIN);
	sha256_hex(buf + RECORD_MIN, bytes - RECORD_MIN, checksum);
	snprintf((char *)buf, RECORD_MIN, "jbdlab witness %u %" PRIu64 " %zu %.12s\n",
		w->number, n, bytes, checksum);
	return bytes;
}

void record_lost(struct writer *w, uint64_t n, const char *reason)
{
	w->lost++;
	if (w->on_lost)
		w->on_lost(w->data, w, n, reason);
}

/* Reads up to bytes at offset; returns how many there were. */
static ssize_t read_at(int fd, void *buf, size_t bytes, uint64_t offset)
{
	size_t have = 0;

	while (have < bytes) {
		ssize_t r = pread(fd, (char *)buf + have, bytes - have, offset + have);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		have += r;
	}
	return have;
}

static int write_at(
	struct writer *w, const void *buf, size_t bytes, uint64_t offset, struct err *e)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t r = pwrite(
			w->fd, (const char *)buf + done, bytes - done, offset + done);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return err_set(e, errno, "write %s", w->path);
		done += r;
	}
	return 0;
}

/* Makes the entry of a new file or directory durable. */
static int sync_parent(const char *path, struct err *e)
{
	char parent[4096];
	char *slash;
	_cleanup_close_ int fd = -1;

	snprintf(parent, sizeof(parent), "%s", path);
	slash = strrchr(parent, '/');
	if (slash)
		*slash = '\0';
	fd = open(slash ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0)
		return err_set(e, errno, "fsync %s", parent);
	return 0;
}

/* Opens what is the writer's own, a file or a directory: others may write to the directory
 * of the witness, and lay links there, or pipes.  -ENOENT without a message. */
static int open_own(const struct writer *w, int flags, mode_t type, int *fd, struct err *e)
{
	struct stat st;

	*fd = open(w->path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
	if (*fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (*fd < 0 && (errno == ELOOP || errno == EISDIR || errno == ENXIO))
		return err_refuse(e, "%s is not what the witness makes there: it writes to files "
				     "of its own only; give it an empty directory", w->path);
	if (*fd < 0 || fstat(*fd, &st))
		return err_set(e, errno, "open %s", w->path);
	if ((st.st_mode & S_IFMT) == type)
		return 0;
	close(take_fd(*fd));
	return err_refuse(e, "%s is %s: give the witness an empty directory", w->path,
		type == S_IFDIR ? "no directory" : "no regular file");
}

/* For reading; a file that was never made counts as empty: *fd stays -1. */
static int open_existing(const struct writer *w, mode_t type, int *fd, struct err *e)
{
	int r = open_own(w, O_RDONLY, type, fd, e);

	return r == -ENOENT ? 0 : r;
}

/* append and database: records one after the other. */

static int append_scan(struct writer *w, struct err *e)
{
	_cleanup_close_ int fd = -1;
	int ret = open_existing(w, S_IFREG, &fd, e);

	if (ret < 0)
		return ret;
	w->last = 0;
	w->end_bytes = 0;
	while (fd >= 0) {
		size_t bytes = record_make(w, w->last + 1, w->record);
		ssize_t r = read_at(fd, w->other, bytes, w->end_bytes);

		if (r < 0)
			return err_set(e, -r, "read %s", w->path);
		if ((size_t)r < bytes || memcmp(w->record, w->other, bytes))
			break;
		w->last++;
		w->end_bytes += bytes;
	}
	return 0;
}

static int append_open(struct writer *w, struct err *e)
{
	int r = open_own(w, O_RDWR | O_CREAT, S_IFREG, &w->fd, e);

	if (r)
		return r == -ENOENT ? err_set(e, ENOENT, "open %s", w->path) : r;
	if (ftruncate(w->fd, w->end_bytes) < 0)
		return err_set(e, errno, "truncate %s", w->path);
	return sync_parent(w->path, e);
}

static int append_put(struct writer *w, uint64_t n _unused_, size_t bytes, struct err *e)
{
	int r = write_at(w, w->record, bytes, w->end_bytes, e);

	if (r < 0)
		return r;
	if (w->kind->sync(w->fd) < 0)
		return err_set(e, errno, "sync %s", w->path);
	w->end_bytes += bytes;
	return 0;
}

/* spool: a directory with the last SPOOL_KEPT records as files. */

static bool spool_has(struct writer *w, int dir, uint64_t n)
{
	size_t bytes = record_make(w, n, w->record);
	_cleanup_close_ int fd = -1;
	struct stat st;
	char name[32];

	snprintf(name, sizeof(name), "%010" PRIu64, n);
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 && fstat(fd, &st) == 0 && (size_t)st.st_size == bytes &&
	       read_at(fd, w->other, bytes, 0) == (ssize_t)bytes &&
	       !memcmp(w->record, w->other, bytes);
}

/* A name below the oldest that is kept was removed before a later record was durable,
 * and the directory's changes are durable in order: it must not come back. */
static int spool_scan(struct writer *w, struct err *e)
{
	uint64_t first = UINT64_MAX;
	_cleanup_close_ int fd = -1;
	struct dirent *d;
	DIR *dir;
	int r = open_existing(w, S_IFDIR, &fd, e);

	w->last = 0;
	if (r || fd < 0)
		return r;
	dir = fdopendir(dup(fd));
	if (!dir)
		return err_set(e, errno, "read %s", w->path);
	while ((d = readdir(dir))) {
		uint64_t n = strtoull(d->d_name, NULL, 10);

		w->last = MAX(w->last, n);
		first = n ? MIN(first, n) : first;
	}
	closedir(dir);
	for (uint64_t n = w->last; n > 0 && n + SPOOL_KEPT > w->last; n--)
		if (!spool_has(w, fd, n))
			record_lost(w, n, "missing or damaged");
	if (w->last && first + SPOOL_KEPT < w->last)
		record_lost(w, first, "came back after it was removed");
	return 0;
}

/* Removes what a cut left: the file that was being written, and those that should be gone,
 * of which the next put() removes one only. */
static int spool_clean(struct writer *w, struct err *e)
{
	int copy = openat(w->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *d;
	int ret = 0;

	if (!dir) {
		ret = err_set(e, errno, "read %s", w->path);
		closep(&copy);
		return ret;
	}
	if (unlinkat(w->fd, "new", 0) < 0 && errno != ENOENT)
		ret = err_set(e, errno, "unlink new in %s", w->path);
	while ((d = readdir(dir))) {
		uint64_t n = strtoull(d->d_name, NULL, 10);

		if (n && n + SPOOL_KEPT <= w->last && unlinkat(w->fd, d->d_name, 0) < 0)
			ret = err_set(e, errno, "unlink %s in %s", d->d_name, w->path);
	}
	closedir(dir);
	return ret;
}

static int spool_open(struct writer *w, struct err *e)
{
	int r = 0;

	if (mkdir(w->path, 0755) < 0 && errno != EEXIST)
		return err_set(e, errno, "mkdir %s", w->path);
	r = open_own(w, O_RDONLY, S_IFDIR, &w->fd, e);
	if (r)
		return r == -ENOENT ? err_set(e, ENOENT, "open %s", w->path) : r;
	if (spool_clean(w, e) < 0)
		return -e->code;
	return sync_parent(w->path, e);
}

static int spool_put(struct writer *w, uint64_t n, size_t bytes, struct err *e)
{
	_cleanup_close_ int fd = -1;
	char name[32];

	fd = openat(w->fd, "new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_set(e, errno, "create a file in %s", w->path);
	if (write(fd, w->record, bytes) != (ssize_t)bytes)
		return err_set(e, errno ? errno : ENOSPC, "write a file in %s", w->path);
	if (fsync(fd) < 0)
		return err_set(e, errno, "fsync a file in %s", w->path);
	snprintf(name, sizeof(name), "%010" PRIu64, n);
	if (renameat(w->fd, "new", w->fd, name) < 0 || fsync(w->fd) < 0)
		return err_set(e, errno, "rename in %s", w->path);
	if (n > SPOOL_KEPT) {
		snprintf(name, sizeof(name), "%010" PRIu64, n - SPOOL_KEPT);
		if (unlinkat(w->fd, name, 0) < 0 && errno != ENOENT)
			return err_set(e, errno, "unlink %s in %s", name, w->path);
	}
	return 0;
}

/* slots: record n overwrites record n - SLOTS in place. */

/* The number of the record that lies whole in a slot, 0 when none does. */
static uint64_t slot_read(struct writer *w, int fd, unsigned int slot)
{
	unsigned int number;
	uint64_t n;

	if (read_at(fd, w->other, SLOT_BYTES, slot * SLOT_BYTES) != SLOT_BYTES)
		return 0;
	w->other[RECORD_MIN - 1] = '\0';
	if (sscanf((char *)w->other, "jbdlab witness %u %" SCNu64, &number, &n) != 2)
		return 0;
	record_make(w, n, w->record);
	return n % SLOTS == slot && !memcmp(w->record, w->other, SLOT_BYTES) ? n : 0;
}

/* The slot of last + 1 may hold anything: the cut may have come while it was written.
 * All the others must hold the newest number that belongs there. */
static int slots_scan(struct writer *w, struct err *e)
{
	uint64_t found[SLOTS] = {0};
	_cleanup_close_ int fd = -1;
	int r = open_existing(w, S_IFREG, &fd, e);

	w->last = 0;
	if (r || fd < 0)
		return r;
	for (unsigned int i = 0; i < SLOTS; i++) {
		found[i] = slot_read(w, fd, i);
		w->last = MAX(w->last, found[i]);
	}
	for (uint64_t n = w->last; n > 0 && n + SLOTS > w->last + 1; n--)
		if (found[n % SLOTS] != n)
			record_lost(w, n, "not in its slot");
	return 0;
}

static int slots_open(struct writer *w, struct err *e)
{
	static const unsigned char zero[SLOTS * SLOT_BYTES];
	struct stat st;
	int r = open_own(w, O_RDWR | O_CREAT | O_DSYNC, S_IFREG, &w->fd, e);

	if (r && r != -ENOENT)
		return r;
	if (r || fstat(w->fd, &st) < 0)
		return err_set(e, errno, "open %s", w->path);
	if (st.st_size == sizeof(zero))
		return 0;
	if (write_at(w, zero, sizeof(zero), 0, e) < 0)
		return -e->code;
	return sync_parent(w->path, e);
}

static int slots_put(struct writer *w, uint64_t n, size_t bytes, struct err *e)
{
	return write_at(w, w->record, bytes, n % SLOTS * SLOT_BYTES, e);
}

const struct kind witness_kinds[WITNESS_KINDS] = {
	{"append", fsync, append_scan, append_open, append_put},
	{"spool", fsync, spool_scan, spool_open, spool_put},
	{"slots", fsync, slots_scan, slots_open, slots_put},
	{"database", fdatasync, append_scan, append_open, append_put},
};
