/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * dd: one thread writes `count` blocks of `bs` bytes to a new file, or over an existing
 * one, and may read them back from a cold cache.  The data is prepared, not read from
 * /dev/zero.  As in dd the timed part ends with the sync that was asked for; unlike in dd
 * it includes the close.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "core/units.h"
#include "workload/blockio.h"
#include "workload/pacing.h"
#include "workload/syncing.h"
#include "workload/types.h"

struct dd {
	uint64_t block_bytes, count;
	struct syncing sync;
	struct pace pace;
	int overwrite, read, direct;
};

static const struct workload_key keys[] = {
	{"bs", "SIZE", "256k", "bytes of one write"},
	{"count", "COUNT", "10000", "number of writes"},
	{"sync", SYNCING_WORDS "|direct", "fdatasync",
		"one sync at the end, or every write synced; direct: none, with O_DIRECT"},
	SYNCING_EVERY_KEY,
	{"direct", "yes|no", "no", "O_DIRECT"},
	{"overwrite", "yes|no", "no", "write over blocks that are allocated already"},
	{"read", "yes|no", "no", "read the file back from a cold cache"},
	PACING_KEYS,
};

static int set(void *options, const char *key, const char *value, struct err *e)
{
	struct dd *o = options;
	int r;

	if (!strcmp(key, "bs")) {
		r = units_parse_bytes(value, &o->block_bytes, e);
		if (!r && (!o->block_bytes || o->block_bytes > UINT64_C(1) << 30))
			return err_usage(e, "\"%s\" is not between 1 and 1G", value);
		return r;
	}
	if (!strcmp(key, "count"))
		return units_parse_count(value, 1, INT64_MAX, &o->count, e);
	if (!strcmp(key, "sync") && !strcmp(value, "direct")) {
		o->sync.kind = SYNCING_NONE;
		o->direct = true;
		return 0;
	}
	if (!strcmp(key, "direct"))
		return units_parse_bool(value, &o->direct, e);
	r = syncing_set(&o->sync, key, value, e);
	if (r > 0)
		r = pacing_set(&o->pace, key, value, e);
	if (r <= 0)
		return r;
	return units_parse_bool(
		value, !strcmp(key, "read") ? &o->read : &o->overwrite, e);
}

static int check(const void *options, struct err *e)
{
	const struct dd *o = options;
	int r = syncing_check(&o->sync, e);

	if (r)
		return r;
	if (o->count > INT64_MAX / o->block_bytes)
		return err_usage(e, "bs times count is too large");
	if (o->direct && o->block_bytes % 512)
		return err_usage(e, "direct: bs is no multiple of 512");
	return pacing_check(&o->pace, e);
}

static uint64_t space(const void *options)
{
	const struct dd *o = options;

	return o->block_bytes * o->count;
}

static uint64_t bytes(const void *options)
{
	const struct dd *o = options;

	return space(options) * (uint64_t)(1 + o->overwrite + o->read);
}

static struct blockio blockio_of(
	const struct dd *o, const struct files *files, uint64_t seed)
{
	return (struct blockio){
		.files = files,
		.block_bytes = o->block_bytes,
		.file_blocks = o->count,
		.operations = o->count,
		.threads = 1,
		.seed = seed,
		.open_flags = o->direct ? O_DIRECT : 0,
	};
}

/* Settles, runs b, and adds the phase. */
static int run_phase(const struct dd *o, const struct blockio *b, const char *name,
	const char *title, const struct workload_env *env, struct result_run *run,
	struct err *e)
{
	_cleanup_free_ struct engine_outcome *outcome = malloc(sizeof(*outcome));
	struct result_phase *phase;
	enum result_cache cache;
	double cached = 0;
	int r;

	if (!outcome)
		return err_set(e, ENOMEM, "%s", title);
	engine_outcome_init(outcome);
	r = files_settle(b->files, env, &cache, e);
	if (!r && !b->write)
		r = files_cached_fraction(b->files, &cached, e);
	if (!r)
		r = blockio_run(b, title, false, env, outcome, e);
	if (!r && b->write && b->open_flags & O_DIRECT)
		r = files_warn_if_buffered(b->files, title, e);
	if (!r)
		r = engine_outcome_add_phase(outcome, run, name, title, &phase, e);
	if (r)
		return r;
	phase->cache = cache;
	phase->counters.requested_bytes = space(o);
	phase->counters.block_bytes = o->block_bytes;
	if (!b->write)
		r = result_phase_add_metric(
			phase, "cached_before", UNIT_FRACTION, NO_DIRECTION, cached, e);
	return r;
}

/* The file that is overwritten: made with other data and outside of any result. */
static int make_file(
	const struct blockio *b, const struct workload_env *env, struct err *e)
{
	_cleanup_free_ struct engine_outcome *outcome = malloc(sizeof(*outcome));
	struct blockio first = *b;

	if (!outcome)
		return err_set(e, ENOMEM, "dd");
	engine_outcome_init(outcome);
	first.seed = random_derive(b->seed, 1);
	first.create = true;
	first.write = true;
	first.end = BLOCKIO_END_FSYNC;
	return blockio_run(&first, "dd, file to be overwritten", false, env, outcome, e);
}

static int run(const void *options, const struct workload_env *env,
	struct result_run *result, struct err *e)
{
	const struct dd *o = options;
	_cleanup_(files_freep) struct files *files = NULL;
	int r = files_new(&files, env, "dd", 1, e);
	struct blockio b;

	if (r)
		return r;
	b = blockio_of(o, files, random_derive(env->seed, 0));
	if (o->overwrite)
		r = make_file(&b, env, e);
	if (r)
		return r;
	b.write = true;
	b.create = !o->overwrite;
	b.sync_every = o->sync.every;
	b.pace = o->pace;
	b.open_flags |= syncing_open_flags(&o->sync);
	b.end = o->sync.kind == SYNCING_FSYNC	    ? BLOCKIO_END_FSYNC
		: o->sync.kind == SYNCING_FDATASYNC ? BLOCKIO_END_FDATASYNC
						    : BLOCKIO_END_NONE;
	r = run_phase(o, &b, "write", o->overwrite ? "dd overwrite" : "dd write", env,
		result, e);
	if (r || !o->read)
		return r;
	b = blockio_of(o, files, 0);
	b.pace = o->pace;
	/* What a limit of the time let be written. */
	b.operations = result->phases[0].counters.operations;
	return run_phase(o, &b, "read", "dd read", env, result, e);
}

const struct workload_type workload_dd = {
	.name = "dd",
	.summary = "one thread writes a file in blocks and may read it back",
	.keys = keys,
	.key_count = ARRAY_SIZE(keys),
	.options_bytes = sizeof(struct dd),
	.set = set,
	.check = check,
	.bytes = bytes,
	.space = space,
	.run = run,
};
