/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Blocks to and from files; see blockio.h.
 *
 * The file is opened, and mapped, before the clock starts and closed before it stops; so
 * is the sync at the end.  Reads open the file read-only.  A short transfer is an error:
 * the rest is tried once more only to learn why (a full file system says so on the second
 * call).
 */

#include "workload/blockio.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "workload/mapping.h"
#include "workload/pacing.h"
#include "workload/payload.h"

struct worker {
	int fd;
	const char *path;
	uint64_t operations;
	uint64_t base; /* of its slice of a device */
	struct payload payload; /* also the buffer of reads */
	struct mapping mapping;
};

uint64_t blockio_share(const struct blockio *b, unsigned thread)
{
	return b->operations / b->threads + (thread < b->operations % b->threads);
}

static int open_file(const struct blockio *b, struct worker *w, struct err *e)
{
	int flags = O_CLOEXEC | (!b->write   ? O_RDONLY
				    : b->mapped ? O_RDWR
						: O_WRONLY);

	if (!b->mapped)
		flags |= b->open_flags;

	if (b->create)
		flags |= O_CREAT | O_EXCL;
	w->fd = open(w->path, flags, 0600);
	if (w->fd < 0)
		return err_set(e, errno, "%s %s%s", b->create ? "create" : "open",
			w->path, b->open_flags & O_DIRECT ? " with O_DIRECT" : "");
	if (b->create && b->preset_size &&
		ftruncate(w->fd, (off_t)(b->file_blocks * b->block_bytes)))
		return err_set(e, errno, "set the size of %s", w->path);
	if (b->mapped)
		return mapping_open(&w->mapping, w->fd,
			w->base + b->file_blocks * b->block_bytes, b->write, w->path, e);
	return 0;
}

static int prepare(struct engine_thread *t, struct err *e)
{
	const struct blockio *b = t->work;
	unsigned index = t->index + b->first_file;
	struct worker *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return err_set(e, ENOMEM, "thread %u", index);
	t->own = w;
	w->fd = -1;
	w->path = b->files->paths[index];
	w->operations = blockio_share(b, index);
	if (b->devices)
		w->base = index / b->devices * b->file_blocks * b->block_bytes;
	r = payload_init(&w->payload, b->block_bytes, random_next(&t->random), e);
	return r ? r : open_file(b, w, e);
}

/* Why a page of the map could not be had: what a read of it says, else a write. */
static ssize_t ask_by_calls(const struct blockio *b, const struct worker *w, uint64_t at)
{
	ssize_t n = pread(w->fd, w->payload.block, b->block_bytes, (off_t)at);

	if (n >= 0 && b->write)
		n = pwrite(w->fd, w->payload.block, b->block_bytes, (off_t)at);
	return n;
}

/* moved: what the call returned instead of the whole block; errno is as it left it.  A map
 * has no errno. */
static int transfer_failed(const struct blockio *b, const struct worker *w, uint64_t at,
	ssize_t moved, struct err *e)
{
	const char *verb = b->write ? "write" : "read";
	uint64_t rest_at = at;
	size_t rest = b->block_bytes;
	char *from = (char *)w->payload.block;

	if (!moved && b->mapped) {
		moved = ask_by_calls(b, w, at);
	} else if (moved > 0) {
		rest_at += (uint64_t)moved;
		rest -= (size_t)moved;
		from += moved;
		moved = b->write ? pwrite(w->fd, from, rest, (off_t)rest_at)
				 : pread(w->fd, from, rest, (off_t)rest_at);
	}
	if (moved < 0)
		return err_set(e, errno, "%s %s at byte %llu", verb, w->path,
			(unsigned long long)rest_at);
	if (b->mapped)
		return err_say(e, EIO,
			"%s %s at byte %llu through a map: SIGBUS, because the file system "
			"is full or the device has failed",
			verb, w->path, (unsigned long long)at);
	return err_say(e, EIO, "%s %s at byte %llu: short %s", verb, w->path,
		(unsigned long long)at, verb);
}

static int sync_file(
	struct engine_thread *t, const struct blockio *b, struct worker *w, struct err *e)
{
	return engine_sync(t, w->fd, b->end == BLOCKIO_END_FDATASYNC, w->path, e);
}

static int end_file(
	struct engine_thread *t, const struct blockio *b, struct worker *w, struct err *e)
{
	int r = 0;

	if (b->end != BLOCKIO_END_NONE && engine_next(t))
		r = sync_file(t, b, w, e);
	if (r)
		return r;
	mapping_close(&w->mapping);
	if (close(take_fd(w->fd)))
		return err_set(e, errno, "close %s", w->path);
	return 0;
}

/* Through the map; as pread(2) and pwrite(2). */
static ssize_t move_mapped(const struct blockio *b, struct worker *w, uint64_t at)
{
	void *block = w->payload.block;
	const size_t n = b->block_bytes;

	if (!b->write)
		return mapping_read(&w->mapping, at, block, n) ? (ssize_t)n : 0;
	if (!mapping_write(&w->mapping, at, block, n))
		return 0;
	if (b->open_flags & (O_SYNC | O_DSYNC) && mapping_sync(&w->mapping, at, n))
		return -1;
	return (ssize_t)n;
}

static int work(struct engine_thread *t, struct err *e)
{
	const struct blockio *b = t->work;
	struct worker *w = t->own;
	const uint64_t block_bytes = b->block_bytes;
	const bool paced = pacing_is_on(&b->pace);
	const bool synced = b->write && b->open_flags & (O_SYNC | O_DSYNC);

	for (uint64_t i = 0;
		i < w->operations && (paced ? engine_next_paced(t) : engine_next(t));
		i++) {
		uint64_t at = w->base +
			      block_bytes * (b->random ? random_below(&t->random,
								 b->file_blocks)
						       : i);
		ssize_t moved;

		if (b->write)
			payload_next(&w->payload);
		if (b->mapped)
			moved = move_mapped(b, w, at);
		else if (b->write)
			moved = pwrite(w->fd, w->payload.block, block_bytes, (off_t)at);
		else
			moved = pread(w->fd, w->payload.block, block_bytes, (off_t)at);
		if (moved != (ssize_t)block_bytes)
			return transfer_failed(b, w, at, moved, e);
		if (b->sync_every && (i + 1) % b->sync_every == 0) {
			int r = sync_file(t, b, w, e);

			if (r)
				return r;
		}
		engine_done(t, block_bytes);
		t->syncs += synced;
	}
	return end_file(t, b, w, e);
}

static void finish(struct engine_thread *t)
{
	struct worker *w = t->own;

	if (!w)
		return;
	mapping_close(&w->mapping);
	if (w->fd >= 0)
		close(w->fd);
	payload_deinit(&w->payload);
	free(w);
	t->own = NULL;
}

const struct engine_ops blockio_ops = {prepare, work, finish};

int blockio_run(const struct blockio *b, const char *title, bool one_by_one,
	const struct workload_env *env, struct engine_outcome *o, struct err *e)
{
	struct blockio one = *b;
	struct engine_job job = {.ops = &blockio_ops,
		.work = b,
		.title = title,
		.threads = b->threads,
		.seed = b->seed,
		.pace = b->pace,
		.expected_bytes = b->operations * b->block_bytes};
	int r = 0;

	if (!one_by_one)
		return engine_run(&job, env, o, e);
	job.work = &one;
	job.threads = 1;
	for (unsigned i = 0; !r && i < b->threads; i++) {
		one.first_file = i;
		job.seed = random_derive(b->seed, i);
		job.expected_bytes = blockio_share(b, i) * b->block_bytes;
		r = engine_run(&job, env, o, e);
	}
	o->counters.threads = b->threads;
	return r;
}
