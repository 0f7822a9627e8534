/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * stream+commit: one thread writes a stream through the page cache, without any sync, for
 * as long as the others append and fsync.  With data=ordered a commit waits for whatever
 * data of other files belongs to it, and the device is busy with write-back: the latency
 * of the committing threads is what an external journal should save, and the rate of the
 * stream what it may cost.
 *
 * The stream goes into a file that is emptied whenever it has reached its full size, so
 * that it allocates blocks all the time.  Its numbers are a phase of their own,
 * "stream/tN"; they end when the last committing thread has ended.
 */

#include "workload/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static bool is_stream(const struct engine_thread *t, const struct commit_phase *p)
{
	return t->index == p->threads;
}

static int prepare(struct engine_thread *t, struct err *e)
{
	const struct commit_phase *p = t->work;
	struct commit_worker *w;
	int r;

	if (!is_stream(t, p))
		return commit_ops.prepare(t, e);
	t->background = true;
	w = calloc(1, sizeof(*w));
	if (!w)
		return err_set(e, ENOMEM, "thread %u", t->index);
	w->directory = -1;
	t->own = w;
	r = commit_worker_init(w, p, t, e);
	if (r)
		return r;
	payload_deinit(&w->payload);
	r = payload_init(&w->payload, p->o->stream_block_bytes, random_next(&t->random), e);
	if (r)
		return r;
	strcpy(w->name, "stream");
	w->fd = openat(w->directory, w->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return w->fd < 0 ? err_set(e, errno, "create %s/%s", w->path, w->name) : 0;
}

static int stream(struct engine_thread *t, struct err *e)
{
	const struct commit_phase *p = t->work;
	const uint64_t block = p->o->stream_block_bytes;
	struct commit_worker *w = t->own;
	struct engine_outcome *streamed = p->shared;
	uint64_t at = 0;
	int r;

	while (engine_next(t) && !engine_foreground_ended(t)) {
		if (at + block > p->o->stream_bytes) {
			at = 0;
			if (ftruncate(w->fd, 0))
				return err_set(e, errno, "empty %s/%s", w->path, w->name);
		}
		r = commit_write(w, w->fd, block, at, e);
		if (r)
			return r;
		at += block;
		engine_done(t, block);
	}
	streamed->counters.threads = 1;
	streamed->counters.operations = t->operations;
	streamed->counters.bytes = t->bytes;
	streamed->counters.wall_ns = clock_now_ns() - t->started_ns;
	hist_merge(&streamed->latency, &t->latency);
	return 0;
}

static int work(struct engine_thread *t, struct err *e)
{
	return is_stream(t, t->work) ? stream(t, e) : commit_ops.thread(t, e);
}

static void finish(struct engine_thread *t)
{
	commit_ops.finish(t);
}

static const struct engine_ops stream_ops = {prepare, work, finish};

static int add_phases(struct commit_phase *p, struct engine_outcome *commits,
	struct engine_outcome *streamed, struct result_run *run, struct err *e)
{
	struct result_phase *phase;
	char name[sizeof(p->name)];
	int r = engine_outcome_add_phase(
		commits, run, p->name, p->kind->title, &phase, e);

	if (r)
		return r;
	phase->counters.block_bytes = p->o->block_bytes;
	phase->counters.requested_bytes = commits->counters.bytes;
	snprintf(name, sizeof(name), "stream/t%u", p->threads);
	r = engine_outcome_add_phase(
		streamed, run, name, "stream beside appends", &phase, e);
	if (r)
		return r;
	phase->counters.block_bytes = p->o->stream_block_bytes;
	phase->counters.requested_bytes = streamed->counters.bytes;
	return 0;
}

int commit_run_stream(struct commit_phase *p, struct result_run *run, struct err *e)
{
	_cleanup_free_ struct engine_outcome *commits = malloc(sizeof(*commits));
	_cleanup_free_ struct engine_outcome *streamed = malloc(sizeof(*streamed));
	_cleanup_(trees_freep) struct trees *trees = NULL;
	struct engine_job job = {.ops = &stream_ops,
		.work = p,
		.title = p->name,
		.threads = p->threads + 1,
		.seed = p->seed,
		.pace = p->o->pace};
	int r;

	if (!commits || !streamed)
		return err_set(e, ENOMEM, "%s", p->name);
	engine_outcome_init(commits);
	engine_outcome_init(streamed);
	p->shared = streamed;
	/* The rate is that of the committing threads. */
	job.pace.rate *= (double)job.threads / p->threads;
	r = trees_new(&trees, p->env, "commit", job.threads, e);
	p->trees = trees;
	if (!r)
		r = engine_run(&job, p->env, commits, e);
	return r ? r : add_phases(p, commits, streamed, run, e);
}
