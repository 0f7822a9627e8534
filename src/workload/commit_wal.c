/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * wal: the shape of a database with a write-ahead log, as pgbench drives it.
 *
 * k clients share a heap of 8 KiB pages and a log.  A transaction reads a random page,
 * appends a record to the log, waits until the log is on the device up to its record, and
 * writes the page back into the page cache.  Who finds no sync of the log under way syncs
 * it for all that have been appended by then; the others wait (group commit).  A thread
 * in the background syncs the heap from time to time, as a checkpoint does.
 *
 * The log grows: each sync commits its new size and blocks to the journal.  The heap lies
 * in the first directory, the log in the last, so that they may be on two volumes.
 *
 * wal-readonly: the same without log, pages are read only.
 */

#include "workload/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/fileio.h"

enum { PAGE_BYTES = 8192 };

struct wal {
	int heap, log;
	char heap_path[4096], log_path[4096];
	uint64_t pages;
	bool readonly;
	unsigned clients;
	uint64_t checkpoints;

	pthread_mutex_t lock;
	pthread_cond_t synced;
	uint64_t appended, durable; /* bytes of the log */
	bool syncing, failed;
};

struct client {
	struct payload page, record;
	uint64_t transactions;
};

static int prepare(struct engine_thread *t, struct err *e)
{
	const struct commit_phase *p = t->work;
	const struct wal *wal = p->shared;
	struct client *c;
	int r;

	t->background = t->index == wal->clients;
	c = calloc(1, sizeof(*c));
	if (!c)
		return err_set(e, ENOMEM, "thread %u", t->index);
	t->own = c;
	c->transactions = commit_share(p, t->index);
	r = payload_init(&c->page, PAGE_BYTES, random_next(&t->random), e);
	return r ? r
		 : payload_init(&c->record, p->o->record_bytes, random_next(&t->random), e);
}

static void finish(struct engine_thread *t)
{
	struct client *c = take_ptr(t->own);

	if (!c)
		return;
	payload_deinit(&c->page);
	payload_deinit(&c->record);
	free(c);
}

static void fail(struct wal *wal)
{
	__atomic_store_n(&wal->failed, true, __ATOMIC_RELAXED);
}

/* Syncs the log up to what has been appended; called and returns with the lock held. */
static int lead(struct engine_thread *t, struct wal *wal, struct err *e)
{
	uint64_t upto = wal->appended;
	int r;

	wal->syncing = true;
	pthread_mutex_unlock(&wal->lock);
	r = engine_sync(t, wal->log, true, wal->log_path, e);
	pthread_mutex_lock(&wal->lock);
	wal->syncing = false;
	if (r)
		fail(wal);
	else
		wal->durable = upto;
	pthread_cond_broadcast(&wal->synced);
	return r;
}

/*
 * Appends a record and returns when it is durable.  The record is written under the lock:
 * all before `appended` has been handed to the kernel when a sync begins.
 */
static int commit(struct engine_thread *t, struct wal *wal, struct client *c,
	size_t bytes, struct err *e)
{
	uint64_t end;
	int r;

	payload_next(&c->record);
	pthread_mutex_lock(&wal->lock);
	r = fileio_pwrite_full(
		wal->log, c->record.block, bytes, (off_t)wal->appended, wal->log_path, e);
	if (r)
		fail(wal);
	else
		wal->appended += bytes;
	end = wal->appended;
	while (!r && !wal->failed && wal->durable < end) {
		if (wal->syncing)
			pthread_cond_wait(&wal->synced, &wal->lock);
		else
			r = lead(t, wal, e);
	}
	pthread_mutex_unlock(&wal->lock);
	return r;
}

static int transact(struct engine_thread *t, const struct commit_phase *p,
	struct wal *wal, struct client *c, struct err *e)
{
	off_t at = (off_t)(PAGE_BYTES * random_below(&t->random, wal->pages));
	int r = fileio_pread_full(
		wal->heap, c->page.block, PAGE_BYTES, at, wal->heap_path, e);

	if (r || wal->readonly)
		return r;
	r = commit(t, wal, c, p->o->record_bytes, e);
	if (r)
		return r;
	payload_next(&c->page);
	return fileio_pwrite_full(
		wal->heap, c->page.block, PAGE_BYTES, at, wal->heap_path, e);
}

static int checkpoints(
	struct engine_thread *t, const struct commit_phase *p, struct wal *wal, struct err *e)
{
	const struct timespec tick = {.tv_nsec = 10 * (long)NS_PER_MS};
	uint64_t next_ns = t->started_ns + p->o->checkpoint_ns;

	while (engine_next(t) && !engine_foreground_ended(t)) {
		if (clock_now_ns() < next_ns) {
			nanosleep(&tick, NULL);
			continue;
		}
		if (fdatasync(wal->heap))
			return err_set(e, errno, "sync %s", wal->heap_path);
		wal->checkpoints++;
		next_ns += p->o->checkpoint_ns;
	}
	return 0;
}

static int work(struct engine_thread *t, struct err *e)
{
	const struct commit_phase *p = t->work;
	const uint64_t moved = p->o->record_bytes + PAGE_BYTES;
	struct wal *wal = p->shared;
	struct client *c = t->own;

	if (t->background)
		return checkpoints(t, p, wal, e);
	for (uint64_t n = 0; n < c->transactions && engine_next_paced(t); n++) {
		int r = transact(t, p, wal, c, e);

		if (r)
			return r;
		/* Another client's error ended this one: what it did does not count. */
		if (__atomic_load_n(&wal->failed, __ATOMIC_RELAXED))
			break;
		engine_done(t, wal->readonly ? PAGE_BYTES : moved);
	}
	return 0;
}

static const struct engine_ops wal_ops = {prepare, work, finish};

static int create(const char *directory, const char *name, char path[4096], int *fd,
	struct err *e)
{
	if (snprintf(path, 4096, "%s/%s", directory, name) >= 4096)
		return err_set(e, ENAMETOOLONG, "%s", directory);
	*fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return *fd < 0 ? err_set(e, errno, "create %s", path) : 0;
}

static bool stopped(const struct commit_phase *p)
{
	return p->env->stop && *p->env->stop;
}

static int fill_heap(const struct commit_phase *p, struct wal *wal, struct err *e)
{
	enum { CHUNK = 128 * PAGE_BYTES };
	uint64_t size = wal->pages * PAGE_BYTES;
	struct payload chunk = {0};
	int r = payload_init(&chunk, CHUNK, random_derive(p->seed, 1), e);

	for (uint64_t at = 0; !r && at < size && !stopped(p); at += CHUNK) {
		payload_next(&chunk);
		r = fileio_pwrite_full(wal->heap, chunk.block, MIN(size - at, CHUNK + 0UL),
			(off_t)at, wal->heap_path, e);
	}
	payload_deinit(&chunk);
	if (!r && stopped(p))
		return err_interrupted(e, *p->env->stop);
	if (!r && fsync(wal->heap))
		return err_set(e, errno, "sync %s", wal->heap_path);
	return r;
}

static int open_files(
	const struct commit_phase *p, struct wal *wal, size_t last, struct err *e)
{
	int r = create(p->trees->paths[0], "heap", wal->heap_path, &wal->heap, e);

	if (!r)
		r = create(p->trees->paths[last], "log", wal->log_path, &wal->log, e);
	return r ? r : fill_heap(p, wal, e);
}

static int add_phase(const struct commit_phase *p, const struct wal *wal,
	const struct engine_outcome *outcome, struct result_run *run, struct err *e)
{
	const struct result_counters *c = &outcome->counters;
	struct result_phase *phase;
	int r = engine_outcome_add_phase(
		outcome, run, p->name, p->kind->title, &phase, e);

	if (r)
		return r;
	phase->counters.block_bytes = PAGE_BYTES;
	phase->counters.requested_bytes = c->bytes;
	if (wal->readonly || !c->syncs)
		return 0;
	r = result_phase_add_metric(phase, "transactions_per_sync", UNIT_COUNT,
		NO_DIRECTION, (double)c->operations / (double)c->syncs, e);
	return r ? r
		 : result_phase_add_metric(phase, "checkpoints", UNIT_COUNT, NO_DIRECTION,
			   (double)wal->checkpoints, e);
}

static int run_wal(
	struct commit_phase *p, struct wal *wal, struct result_run *run, struct err *e)
{
	_cleanup_free_ struct engine_outcome *outcome = malloc(sizeof(*outcome));
	_cleanup_(trees_freep) struct trees *trees = NULL;
	_cleanup_close_ int heap = -1, log = -1;
	struct engine_job job = {.ops = &wal_ops,
		.work = p,
		.title = p->name,
		.threads = p->threads + !wal->readonly,
		.seed = p->seed,
		.pace = p->o->pace};
	int r;

	if (!outcome)
		return err_set(e, ENOMEM, "%s", p->name);
	engine_outcome_init(outcome);
	job.pace.rate *= (double)job.threads / p->threads;
	r = trees_new(&trees, p->env, "commit", p->env->directory_count, e);
	p->trees = trees;
	if (!r)
		r = open_files(p, wal, p->env->directory_count - 1, e);
	heap = wal->heap;
	log = wal->log;
	if (!r)
		r = engine_run(&job, p->env, outcome, e);
	return r ? r : add_phase(p, wal, outcome, run, e);
}

static int run_either(
	struct commit_phase *p, bool readonly, struct result_run *run, struct err *e)
{
	struct wal wal = {.heap = -1,
		.log = -1,
		.pages = p->o->heap_bytes / PAGE_BYTES,
		.readonly = readonly,
		.clients = p->threads,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.synced = PTHREAD_COND_INITIALIZER};
	int r;

	/* cppcheck-suppress autoVariables; it is taken back below */
	p->shared = &wal;
	r = run_wal(p, &wal, run, e);
	p->shared = NULL;
	return r;
}

int commit_run_wal(struct commit_phase *p, struct result_run *run, struct err *e)
{
	return run_either(p, false, run, e);
}

int commit_run_wal_readonly(struct commit_phase *p, struct result_run *run, struct err *e)
{
	return run_either(p, true, run, e);
}
