/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The kinds of `commit` that are one operation repeated; see commit.h.
 *
 * Whatever changes metadata and then asks for a sync makes the journal commit: an append
 * (size and blocks), a new name, a rename, an unlink.  An overwrite changes the time
 * stamps only: fsync(2) commits them when the kernel's clock has ticked since, and
 * fdatasync(2) never does.  So overwrite-fdatasync and create-nosync are the controls:
 * where the journal is cannot matter to them.
 *
 * Each thread has a directory of its own, so that threads meet in the journal and not at
 * the lock of a directory.
 */

#include "workload/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAIL_FILES = 32 };

uint64_t commit_share(const struct commit_phase *p, unsigned i)
{
	return p->o->count / p->threads + (i < p->o->count % p->threads);
}

static int failed(const struct commit_worker *w, const char *verb, struct err *e)
{
	return err_set(e, errno, "%s %s/%s", verb, w->path, w->name);
}

int commit_worker_init(struct commit_worker *w, const struct commit_phase *p,
	struct engine_thread *t, struct err *e)
{
	uint64_t bytes = MAX(p->o->block_bytes, p->o->record_bytes);

	w->fd = -1;
	w->path = p->trees->paths[t->index];
	w->directory = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->directory < 0)
		return err_set(e, errno, "open %s", w->path);
	w->operations = commit_share(p, t->index);
	return payload_init(&w->payload, bytes, random_next(&t->random), e);
}

void commit_worker_deinit(struct commit_worker *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->directory >= 0)
		close(w->directory);
	payload_deinit(&w->payload);
}

int commit_write(struct commit_worker *w, int fd, size_t bytes, uint64_t at, struct err *e)
{
	const char *from = (const char *)w->payload.block;

	payload_next(&w->payload);
	for (size_t done = 0; done < bytes;) {
		ssize_t n = pwrite(fd, from + done, bytes - done, (off_t)(at + done));

		if (n < 0)
			return err_set(e, errno, "write %s/%s at byte %llu", w->path,
				w->name, (unsigned long long)(at + done));
		done += (size_t)n;
	}
	return 0;
}

static int sync_it(
	struct engine_thread *t, struct commit_worker *w, int fd, struct err *e)
{
	const struct commit_phase *p = t->work;
	bool directory = fd == w->directory;
	int r;

	if (p->sync.kind == SYNCING_NONE)
		return 0;
	if (!directory && !syncing_calls(&p->sync)) {
		t->syncs++; /* by the write */
		return 0;
	}
	r = engine_sync(t, fd, p->sync.kind == SYNCING_FDATASYNC,
		directory ? "." : w->name, e);
	return r ? err_wrap(e, r, "%s", w->path) : 0;
}

static int open_new(struct engine_thread *t, struct commit_worker *w, int flags,
	struct err *e)
{
	const struct commit_phase *p = t->work;

	w->fd = openat(w->directory, w->name,
		O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | flags |
			(p->o->direct ? O_DIRECT : 0),
		0600);
	return w->fd < 0 ? failed(w, "create", e) : 0;
}

static int close_it(struct commit_worker *w, struct err *e)
{
	return close(take_fd(w->fd)) ? failed(w, "close", e) : 0;
}

/* w->name, which exists, with the flags of the sync that is asked for. */
static int open_old(struct engine_thread *t, struct commit_worker *w, struct err *e)
{
	const struct commit_phase *p = t->work;

	w->fd = openat(w->directory, w->name,
		O_RDWR | O_CLOEXEC | syncing_open_flags(&p->sync) |
			(p->o->direct ? O_DIRECT : 0));
	return w->fd < 0 ? failed(w, "open", e) : 0;
}

static uint64_t block_of(const struct engine_thread *t)
{
	const struct commit_phase *p = t->work;

	return p->o->block_bytes;
}

/* append-fsync, append-dsync */

static int set_up_append(struct engine_thread *t, struct commit_worker *w, struct err *e)
{
	const struct commit_phase *p = t->work;

	strcpy(w->name, "log");
	return open_new(t, w, syncing_open_flags(&p->sync), e);
}

static int set_up_dsync(struct engine_thread *t, struct commit_worker *w, struct err *e)
{
	strcpy(w->name, "log");
	return open_new(t, w, O_DSYNC, e);
}

int commit_append(struct engine_thread *t, struct commit_worker *w, uint64_t n,
	bool synced, uint64_t *moved, struct err *e)
{
	int r;

	*moved = block_of(t);
	r = commit_write(w, w->fd, *moved, n * *moved, e);
	return !r && synced ? sync_it(t, w, w->fd, e) : r;
}

static int append_dsync(struct engine_thread *t, struct commit_worker *w, uint64_t n,
	bool synced _unused_, uint64_t *moved, struct err *e)
{
	*moved = block_of(t);
	t->syncs++;
	return commit_write(w, w->fd, *moved, n * *moved, e);
}

/* overwrite-fsync, overwrite-fdatasync */

static uint64_t overwrite_blocks(const struct commit *o)
{
	return MAX(o->file_bytes / o->block_bytes, UINT64_C(1));
}

static int set_up_overwrite(
	struct engine_thread *t, struct commit_worker *w, struct err *e)
{
	const struct commit_phase *p = t->work;
	int r;

	strcpy(w->name, "file");
	r = open_new(t, w, 0, e);
	for (uint64_t i = 0; !r && i < overwrite_blocks(p->o) && engine_next(t); i++)
		r = commit_write(w, w->fd, block_of(t), i * block_of(t), e);
	if (!r && fsync(w->fd))
		r = failed(w, "sync", e);
	if (!r && syncing_open_flags(&p->sync))
		r = close_it(w, e);
	if (!r && w->fd < 0)
		r = open_old(t, w, e);
	return r;
}

static int overwrite(struct engine_thread *t, struct commit_worker *w, uint64_t n _unused_,
	bool synced, uint64_t *moved, struct err *e)
{
	const struct commit_phase *p = t->work;
	uint64_t at;
	int r;

	*moved = block_of(t);
	at = *moved * random_below(&t->random, overwrite_blocks(p->o));
	r = commit_write(w, w->fd, *moved, at, e);
	return !r && synced ? sync_it(t, w, w->fd, e) : r;
}

/* create-fsync, create-nosync, create-rename */

static int make_file(struct engine_thread *t, struct commit_worker *w, bool synced,
	uint64_t *moved, struct err *e)
{
	const struct commit_phase *p = t->work;
	int r = open_new(t, w, synced ? syncing_open_flags(&p->sync) : 0, e);

	*moved = block_of(t);
	if (!r)
		r = commit_write(w, w->fd, *moved, 0, e);
	if (!r && synced)
		r = sync_it(t, w, w->fd, e);
	return r ? r : close_it(w, e);
}

static void number_name(struct commit_worker *w, const char *prefix, uint64_t n)
{
	snprintf(w->name, sizeof(w->name), "%s%llu", prefix, (unsigned long long)n);
}

static int create_fsync(struct engine_thread *t, struct commit_worker *w, uint64_t n,
	bool synced, uint64_t *moved, struct err *e)
{
	number_name(w, "f", n);
	return make_file(t, w, synced, moved, e);
}

static int create_nosync(struct engine_thread *t, struct commit_worker *w, uint64_t n,
	bool synced _unused_, uint64_t *moved, struct err *e)
{
	number_name(w, "f", n);
	return make_file(t, w, false, moved, e);
}

static int create_rename(struct engine_thread *t, struct commit_worker *w, uint64_t n,
	bool synced, uint64_t *moved, struct err *e)
{
	char temporary[sizeof(w->name)];
	int r;

	number_name(w, "new", n);
	strcpy(temporary, w->name);
	r = make_file(t, w, synced, moved, e);
	if (r)
		return r;
	number_name(w, "f", n);
	if (renameat(w->directory, temporary, w->directory, w->name))
		return failed(w, "rename to", e);
	return synced ? sync_it(t, w, w->directory, e) : 0;
}

/* mkdir, unlink */

static int make_directory(struct engine_thread *t, struct commit_worker *w, uint64_t n,
	bool synced, uint64_t *moved, struct err *e)
{
	*moved = 0;
	number_name(w, "d", n);
	if (mkdirat(w->directory, w->name, 0700))
		return failed(w, "create directory", e);
	return synced ? sync_it(t, w, w->directory, e) : 0;
}

static int set_up_files(struct engine_thread *t, struct commit_worker *w, uint64_t count,
	struct err *e)
{
	uint64_t moved;
	int r = 0;

	for (uint64_t i = 0; !r && i < count && engine_next(t); i++) {
		number_name(w, "f", i);
		r = make_file(t, w, false, &moved, e);
	}
	/* The directory is open: it stands for its file system. */
	return !r && syncfs(w->directory) ? failed(w, "sync", e) : r;
}

static int set_up_unlink(struct engine_thread *t, struct commit_worker *w, struct err *e)
{
	return set_up_files(t, w, w->operations, e);
}

static int remove_file(struct engine_thread *t, struct commit_worker *w, uint64_t n,
	bool synced, uint64_t *moved, struct err *e)
{
	*moved = 0;
	number_name(w, "f", n);
	if (unlinkat(w->directory, w->name, 0))
		return failed(w, "remove", e);
	return synced ? sync_it(t, w, w->directory, e) : 0;
}

/*
 * mail: the cycle of a mail server on a spool of 32 files: one is deleted, a new one is
 * written in its place and synced; another is read whole, appended to, and synced; a
 * third is read.  One operation is the whole cycle, with two syncs.
 */

static int set_up_mail(struct engine_thread *t, struct commit_worker *w, struct err *e)
{
	return set_up_files(t, w, MAIL_FILES, e);
}

/* Reads w->name from its start to its end; *end gets its size. */
static int read_whole(
	struct engine_thread *t, struct commit_worker *w, uint64_t *end, struct err *e)
{
	ssize_t n;
	int r = open_old(t, w, e);

	if (r)
		return r;
	*end = 0;
	while ((n = pread(w->fd, w->payload.block, block_of(t), (off_t)*end)) > 0)
		*end += (uint64_t)n;
	return n < 0 ? failed(w, "read", e) : 0;
}

static int mail(struct engine_thread *t, struct commit_worker *w, uint64_t n _unused_,
	bool synced, uint64_t *moved, struct err *e)
{
	uint64_t end = 0;
	int r;

	number_name(w, "f", random_below(&t->random, MAIL_FILES));
	if (unlinkat(w->directory, w->name, 0))
		return failed(w, "remove", e);
	r = make_file(t, w, synced, moved, e);
	if (r)
		return r;
	number_name(w, "f", random_below(&t->random, MAIL_FILES));
	r = read_whole(t, w, &end, e);
	if (!r)
		r = commit_write(w, w->fd, block_of(t), end, e);
	*moved += block_of(t);
	if (!r && synced)
		r = sync_it(t, w, w->fd, e);
	if (!r)
		r = close_it(w, e);
	if (r)
		return r;
	number_name(w, "f", random_below(&t->random, MAIL_FILES));
	r = read_whole(t, w, &end, e);
	return r ? r : close_it(w, e);
}

/* Sizes.  A file takes whole blocks of the file system, and its inode. */

static uint64_t file_space(const struct commit *o)
{
	return (o->block_bytes + 4095) / 4096 * 4096 + 512;
}

static uint64_t bytes_of_blocks(const struct commit *o, unsigned threads _unused_)
{
	return o->count * o->block_bytes;
}

static uint64_t space_of_blocks(const struct commit *o, unsigned threads)
{
	return o->count * o->block_bytes + threads * UINT64_C(4096);
}

static uint64_t space_of_files(const struct commit *o, unsigned threads)
{
	return o->count * file_space(o) + threads * UINT64_C(4096);
}

static uint64_t overwrite_space(const struct commit *o, unsigned threads)
{
	return threads * (overwrite_blocks(o) * o->block_bytes + 4096);
}

static uint64_t overwrite_bytes(const struct commit *o, unsigned threads)
{
	return overwrite_space(o, threads) + bytes_of_blocks(o, threads);
}

static uint64_t no_bytes(const struct commit *o _unused_, unsigned threads _unused_)
{
	return 0;
}

static uint64_t directories_space(const struct commit *o, unsigned threads)
{
	return (o->count + threads) * UINT64_C(4608);
}

static uint64_t mail_bytes(const struct commit *o, unsigned threads)
{
	return 2 * o->count * o->block_bytes + MAIL_FILES * threads * o->block_bytes;
}

/* Appends make files grow; deliveries replace them. */
static uint64_t mail_space(const struct commit *o, unsigned threads)
{
	return o->count * o->block_bytes + MAIL_FILES * threads * file_space(o);
}

static uint64_t stream_bytes(const struct commit *o, unsigned threads)
{
	return o->stream_bytes + bytes_of_blocks(o, threads);
}

static uint64_t stream_space(const struct commit *o, unsigned threads)
{
	return o->stream_bytes + space_of_blocks(o, threads);
}

static uint64_t wal_bytes(const struct commit *o, unsigned threads _unused_)
{
	return o->heap_bytes + o->count * (o->record_bytes + 2 * 8192);
}

static uint64_t wal_space(const struct commit *o, unsigned threads _unused_)
{
	return o->heap_bytes + o->count * o->record_bytes + 8192;
}

static uint64_t heap_space(const struct commit *o, unsigned threads _unused_)
{
	return o->heap_bytes + 8192;
}

const struct commit_kind commit_kinds[] = {
	{"append-fsync", "append, fsync", set_up_append, commit_append, false, false, NULL,
		bytes_of_blocks, space_of_blocks},
	{"append-dsync", "append with O_DSYNC", set_up_dsync, append_dsync, false, true,
		NULL, bytes_of_blocks, space_of_blocks},
	{"overwrite-fsync", "overwrite, fsync", set_up_overwrite, overwrite, false, false,
		NULL, overwrite_bytes, overwrite_space},
	{"overwrite-fdatasync", "overwrite, fdatasync (control)", set_up_overwrite,
		overwrite, true, false, NULL, overwrite_bytes, overwrite_space},
	{"create-fsync", "create, write, fsync", NULL, create_fsync, false, false, NULL,
		bytes_of_blocks, space_of_files},
	{"create-rename", "create, write, fsync, rename, fsync directory", NULL,
		create_rename, false, false, NULL, bytes_of_blocks, space_of_files},
	{"mkdir", "mkdir, fsync directory", NULL, make_directory, false, false, NULL,
		no_bytes, directories_space},
	{"unlink", "unlink, fsync directory", set_up_unlink, remove_file, false, false,
		NULL, bytes_of_blocks, space_of_files},
	{"create-nosync", "create, write (control)", NULL, create_nosync, false, true, NULL,
		bytes_of_blocks, space_of_files},
	{"mail", "mail server", set_up_mail, mail, false, false, NULL, mail_bytes,
		mail_space},
	{"stream+commit", "append, fsync, beside a stream", set_up_append, commit_append,
		false, false, commit_run_stream, stream_bytes, stream_space},
	{"wal", "transactions", NULL, NULL, true, true, commit_run_wal, wal_bytes,
		wal_space},
	{"wal-readonly", "read-only transactions", NULL, NULL, true, true,
		commit_run_wal_readonly, wal_bytes, heap_space},
};

size_t commit_kind_count(void)
{
	return ARRAY_SIZE(commit_kinds);
}
