/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * commit: what makes the journal work, one kind of operation after another.  Streams of
 * data hardly touch the journal; appends that are synced, new files, renames and removals
 * wait for it.  Every kind with every number of threads is a phase "KIND/tTHREADS".
 *
 * Before a phase begins everything older is written out, so that no kind pays for the one
 * before it.  A synced operation is timed with its sync; the syncs are shown apart too.
 */

#include "workload/commit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/nearest.h"
#include "core/units.h"
#include "workload/pacing.h"
#include "workload/types.h"

enum { THREADS_MAX = 1024 };

static const struct workload_key keys[] = {
	{"kind", "KIND...", "append-fsync create-fsync overwrite-fdatasync create-nosync",
		"append-fsync, append-dsync, overwrite-fsync, overwrite-fdatasync, "
		"create-fsync, create-rename, mkdir, unlink, create-nosync, mail, "
		"stream+commit, wal, wal-readonly or all"},
	{"count", "COUNT", "1000", "operations of all threads together, in each phase"},
	{"threads", "COUNT...", "1", "threads, each with a directory of its own"},
	{"block", "SIZE", "4k", "bytes of one write, and of a created file"},
	{"sync", "kind|" SYNCING_WORDS, "kind",
		"kind: as the kind is named; else files of the kinds that sync are synced so"},
	{"sync_every", "COUNT", "1", "sync only each n-th operation of a thread"},
	{"direct", "yes|no", "no", "O_DIRECT"},
	{"file", "SIZE", "16M", "file of each thread that the overwrite kinds work on"},
	{"stream", "SIZE", "256M", "stream+commit: the stream begins anew after this"},
	{"stream_block", "SIZE", "256k", "stream+commit: bytes of one write of the stream"},
	{"heap", "SIZE", "64M", "wal: file of 8 KiB pages, in the first directory"},
	{"record", "SIZE", "2k", "wal: what a transaction appends to the log, which lies in "
				 "the last directory"},
	{"checkpoint", "TIME", "5s", "wal: time between two syncs of the heap"},
	PACING_KEYS,
};

static int add_kind(struct commit *o, const char *word, struct err *e)
{
	struct nearest n = {.word = word};
	bool all = !strcmp(word, "all"), found = false;

	for (size_t i = 0; i < commit_kind_count(); i++) {
		nearest_offer(&n, commit_kinds[i].name);
		if (!all && strcmp(word, commit_kinds[i].name))
			continue;
		if (o->kinds.count == VALUES_MAX)
			return err_usage(e, "more than %d kinds", VALUES_MAX);
		found = true;
		o->kinds.at[o->kinds.count++] = i;
	}
	if (found)
		return 0;
	if (n.best)
		return err_usage(e, "there is no kind \"%s\"; did you mean \"%s\"?", word,
			n.best);
	return err_usage(e, "there is no kind \"%s\"", word);
}

static int set_kinds(struct commit *o, const char *value, struct err *e)
{
	_cleanup_free_ char *copy = strdup(value);
	char *rest = copy, *word;
	int r = 0;

	if (!copy)
		return err_set(e, ENOMEM, "kinds");
	o->kinds.count = 0;
	while (!r && (word = strsep(&rest, " \t,")))
		r = *word ? add_kind(o, word, e) : 0;
	if (!r && !o->kinds.count)
		return err_usage(e, "at least one kind is needed");
	return r;
}

static int set_size(const char *value, uint64_t most, uint64_t *bytes, struct err *e)
{
	int r = units_parse_bytes(value, bytes, e);

	if (!r && (!*bytes || *bytes > most))
		return err_usage(e, "\"%s\" is not between 1 and %lluM", value,
			(unsigned long long)(most >> 20));
	return r;
}

static int set(void *options, const char *key, const char *value, struct err *e)
{
	static const struct {
		const char *key;
		size_t offset;
		uint64_t most;
	} sizes[] = {
		{"block", offsetof(struct commit, block_bytes), UINT64_C(64) << 20},
		{"file", offsetof(struct commit, file_bytes), UINT64_C(1) << 40},
		{"stream", offsetof(struct commit, stream_bytes), UINT64_C(1) << 40},
		{"stream_block", offsetof(struct commit, stream_block_bytes),
			UINT64_C(64) << 20},
		{"heap", offsetof(struct commit, heap_bytes), UINT64_C(1) << 40},
		{"record", offsetof(struct commit, record_bytes), UINT64_C(1) << 20},
	};
	struct commit *o = options;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (!strcmp(key, sizes[i].key))
			return set_size(value, sizes[i].most,
				(uint64_t *)((char *)o + sizes[i].offset), e);
	if (!strcmp(key, "kind"))
		return set_kinds(o, value, e);
	if (!strcmp(key, "count"))
		return units_parse_count(value, 1, INT32_MAX, &o->count, e);
	if (!strcmp(key, "threads"))
		return values_parse_counts(value, 1, THREADS_MAX, &o->threads, e);
	if (!strcmp(key, "sync")) {
		o->own_sync = !strcmp(value, "kind");
		return o->own_sync ? 0 : syncing_set(&o->sync, key, value, e);
	}
	if (!strcmp(key, "sync_every"))
		return units_parse_count(value, 1, INT32_MAX, &o->sync_every, e);
	if (!strcmp(key, "direct"))
		return units_parse_bool(value, &o->direct, e);
	if (!strcmp(key, "checkpoint"))
		return units_parse_duration(value, &o->checkpoint_ns, e);
	return pacing_set(&o->pace, key, value, e);
}

static int check(const void *options, struct err *e)
{
	const struct commit *o = options;
	uint64_t seen = 0;

	for (size_t i = 0; i < o->kinds.count; i++) {
		if (seen >> o->kinds.at[i] & 1)
			return err_usage(e, "kind: %s is named twice",
				commit_kinds[o->kinds.at[i]].name);
		seen |= UINT64_C(1) << o->kinds.at[i];
	}
	if (o->direct && o->block_bytes % 512)
		return err_usage(e, "direct: block is no multiple of 512");
	if (!o->own_sync && o->sync_every > 1 && syncing_open_flags(&o->sync))
		return err_usage(e, "sync_every does not go with sync=dsync and sync=sync");
	if (o->heap_bytes < 8192)
		return err_usage(e, "heap: at least one page of 8k");
	if (!o->checkpoint_ns)
		return err_usage(e, "checkpoint: 0 is no interval");
	return pacing_check(&o->pace, e);
}

static uint64_t bytes(const void *options)
{
	const struct commit *o = options;
	uint64_t sum = 0;

	for (size_t t = 0; t < o->threads.count; t++)
		for (size_t k = 0; k < o->kinds.count; k++)
			sum += commit_kinds[o->kinds.at[k]].bytes(
				o, (unsigned)o->threads.at[t]);
	return sum;
}

static uint64_t space(const void *options)
{
	const struct commit *o = options;
	uint64_t most = 0;

	for (size_t t = 0; t < o->threads.count; t++)
		for (size_t k = 0; k < o->kinds.count; k++)
			most = MAX(most, commit_kinds[o->kinds.at[k]].space(
						 o, (unsigned)o->threads.at[t]));
	return most;
}

static int prepare(struct engine_thread *t, struct err *e)
{
	const struct commit_phase *p = t->work;
	struct commit_worker *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return err_set(e, ENOMEM, "thread %u", t->index);
	w->directory = -1;
	t->own = w;
	r = commit_worker_init(w, p, t, e);
	return !r && p->kind->set_up ? p->kind->set_up(t, w, e) : r;
}

static int work(struct engine_thread *t, struct err *e)
{
	const struct commit_phase *p = t->work;
	struct commit_worker *w = t->own;
	const uint64_t every = p->o->sync_every;

	for (uint64_t n = 0; n < w->operations && engine_next_paced(t); n++) {
		uint64_t moved = 0;
		int r = p->kind->operation(t, w, n, (n + 1) % every == 0, &moved, e);

		if (r)
			return r;
		engine_done(t, moved);
	}
	return 0;
}

static void finish(struct engine_thread *t)
{
	struct commit_worker *w = take_ptr(t->own);

	if (!w)
		return;
	commit_worker_deinit(w);
	free(w);
}

const struct engine_ops commit_ops = {prepare, work, finish};

int commit_run_simple(struct commit_phase *p, struct result_run *run, struct err *e)
{
	_cleanup_free_ struct engine_outcome *outcome = malloc(sizeof(*outcome));
	_cleanup_(trees_freep) struct trees *trees = NULL;
	const struct engine_job job = {.ops = &commit_ops,
		.work = p,
		.title = p->name,
		.threads = p->threads,
		.seed = p->seed,
		.expected_bytes = p->o->count * p->o->block_bytes,
		.pace = p->o->pace};
	struct result_phase *phase;
	int r;

	if (!outcome)
		return err_set(e, ENOMEM, "%s", p->name);
	engine_outcome_init(outcome);
	r = trees_new(&trees, p->env, "commit", p->threads, e);
	p->trees = trees;
	if (!r)
		r = engine_run(&job, p->env, outcome, e);
	if (!r)
		r = engine_outcome_add_phase(
			outcome, run, p->name, p->kind->title, &phase, e);
	if (r)
		return r;
	phase->counters.block_bytes = p->o->block_bytes;
	phase->counters.requested_bytes = outcome->counters.bytes;
	return 0;
}

static int run_phase(const struct commit *o, const struct commit_kind *kind,
	unsigned threads, const struct workload_env *env, struct result_run *run,
	struct err *e)
{
	struct commit_phase p = {.o = o,
		.kind = kind,
		.env = env,
		.threads = threads,
		.seed = random_derive(env->seed, run->phase_count)};
	int r = trees_settle(env, e);

	if (r)
		return r;
	if (o->own_sync || kind->fixed_sync) {
		p.sync.kind = kind->data_only ? SYNCING_FDATASYNC : SYNCING_FSYNC;
		snprintf(p.name, sizeof(p.name), "%s/t%u", kind->name, threads);
	} else {
		p.sync = o->sync;
		snprintf(p.name, sizeof(p.name), "%s/%s/t%u", kind->name,
			syncing_word(&o->sync), threads);
	}
	return kind->run ? kind->run(&p, run, e) : commit_run_simple(&p, run, e);
}

static int run(const void *options, const struct workload_env *env,
	struct result_run *result, struct err *e)
{
	const struct commit *o = options;
	int r = 0;

	for (size_t t = 0; !r && t < o->threads.count; t++)
		for (size_t k = 0; !r && k < o->kinds.count; k++)
			r = run_phase(o, &commit_kinds[o->kinds.at[k]],
				(unsigned)o->threads.at[t], env, result, e);
	return r;
}

const struct workload_type workload_commit = {
	.name = "commit",
	.summary = "operations that make the journal commit, and controls",
	.keys = keys,
	.key_count = ARRAY_SIZE(keys),
	.options_bytes = sizeof(struct commit),
	.set = set,
	.check = check,
	.bytes = bytes,
	.space = space,
	.run = run,
};
