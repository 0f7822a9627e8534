/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * tiobench: n threads, a file each, four phases in the order of the original: sequential
 * write into files made for it, random write, sequential read, random read.  Sizes,
 * blocks and thread counts may be lists; every combination is run.
 *
 * What differs from the original, because it made the numbers wrong:
 * - threads start together, on a monotonic clock, and nothing but their work is timed;
 *   the sync at the end of the write phases is inside, and its latency is shown apart;
 * - data is incompressible, data and places are seeded;
 * - between phases everything is synced and the page cache dropped, outside the clock;
 * - what is counted is what was done: a size that does not divide into whole blocks for
 *   each thread is rounded down (up to one block at least), random operations are spread
 *   over the threads without a remainder being lost;
 * - several runs are summed, so that rates are true means and latencies those of all;
 * - any error ends the run.
 */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/strbuf.h"
#include "core/units.h"
#include "workload/blockio.h"
#include "workload/pacing.h"
#include "workload/syncing.h"
#include "workload/types.h"
#include "workload/values.h"

enum { THREADS_MAX = 1024 };

struct tiobench {
	struct values sizes, blocks, threads; /* bytes, bytes, numbers */
	uint64_t random;		      /* operations of all threads together */
	uint64_t runs;
	uint64_t timeout_ns; /* 0: none */
	int random_each;     /* `random` is of each thread */
	int nofrag, direct, mapped, raw;
	struct syncing sync;
	struct pace pace;
};

static const struct workload_key keys[] = {
	{"size", "SIZE...", "2x-ram", "bytes of all files together"},
	{"block", "SIZE...", "4k", "bytes of one operation"},
	{"threads", "COUNT...", "1 2 4 8", "threads, each with a file of its own"},
	{"random", "COUNT", "4000", "random operations of all threads together"},
	{"random_each", "yes|no", "no", "random operations of each thread instead"},
	{"runs", "COUNT", "1", "repetitions that are averaged"},
	{"nofrag", "yes|no", "no", "write the files one after another"},
	{"mmap", "yes|no", "no", "through a map of the whole file, in all phases"},
	{"sync", SYNCING_WORDS, "none",
		"how writes are synced; a write phase ends with an fsync in any case"},
	SYNCING_EVERY_KEY,
	{"direct", "yes|no", "no", "O_DIRECT in all phases"},
	{"raw", "yes|no", "no",
		"the directories are scratch or leased devices, which are overwritten; for "
		"tiobench --raw"},
	PACING_KEYS,
	{"timeout", "TIME", "0", "begin no further combination after this"},
};

static const struct phase {
	const char *name, *title;
	bool write, random;
} phases[] = {
	{"write", "Sequential Writes", true, false},
	{"rwrite", "Random Writes", true, true},
	{"read", "Sequential Reads", false, false},
	{"rread", "Random Reads", false, true},
};

struct combination {
	uint64_t size_bytes, block_bytes, thread_blocks;
	unsigned threads;
};

static int set(void *options, const char *key, const char *value, struct err *e)
{
	static const struct {
		const char *key;
		size_t offset;
	} switches[] = {
		{"random_each", offsetof(struct tiobench, random_each)},
		{"nofrag", offsetof(struct tiobench, nofrag)},
		{"mmap", offsetof(struct tiobench, mapped)},
		{"direct", offsetof(struct tiobench, direct)},
		{"raw", offsetof(struct tiobench, raw)},
	};
	struct tiobench *o = options;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(switches); i++)
		if (!strcmp(key, switches[i].key))
			return units_parse_bool(
				value, (int *)((char *)o + switches[i].offset), e);
	if (!strcmp(key, "size"))
		return values_parse_sizes(value, &o->sizes, e);
	if (!strcmp(key, "block"))
		return values_parse_sizes(value, &o->blocks, e);
	if (!strcmp(key, "threads"))
		return values_parse_counts(value, 1, THREADS_MAX, &o->threads, e);
	if (!strcmp(key, "random"))
		return units_parse_count(value, 1, INT32_MAX, &o->random, e);
	if (!strcmp(key, "runs"))
		return units_parse_count(value, 1, 1000, &o->runs, e);
	if (!strcmp(key, "timeout"))
		return units_parse_duration(value, &o->timeout_ns, e);
	r = syncing_set(&o->sync, key, value, e);
	return r <= 0 ? r : pacing_set(&o->pace, key, value, e);
}

static int check(const void *options, struct err *e)
{
	const struct tiobench *o = options;
	int r = syncing_check(&o->sync, e);

	if (!r)
		r = pacing_check(&o->pace, e);
	if (r)
		return r;
	if (o->direct && o->mapped)
		return err_usage(e, "direct and mmap exclude each other: a map is the "
				    "page cache");
	for (size_t i = 0; i < o->blocks.count; i++) {
		if (o->blocks.at[i] > UINT64_C(1) << 30)
			return err_usage(e, "block: at most 1G");
		if (o->direct && o->blocks.at[i] % 512)
			return err_usage(e,
				"direct: a block of %llu bytes is no multiple "
				"of 512",
				(unsigned long long)o->blocks.at[i]);
	}
	return 0;
}

static size_t combination_count(const struct tiobench *o)
{
	return o->sizes.count * o->blocks.count * o->threads.count;
}

/* In the order of the original: sizes outermost, threads innermost. */
static struct combination combination_at(const struct tiobench *o, size_t i)
{
	size_t threads = i % o->threads.count, block = i / o->threads.count;
	struct combination c = {.threads = (unsigned)o->threads.at[threads],
		.block_bytes = o->blocks.at[block % o->blocks.count],
		.size_bytes = o->sizes.at[block / o->blocks.count]};

	c.thread_blocks = MAX(c.size_bytes / c.threads / c.block_bytes, UINT64_C(1));
	return c;
}

static uint64_t file_bytes(const struct combination *c)
{
	return c->thread_blocks * c->block_bytes * c->threads;
}

static uint64_t random_operations(const struct tiobench *o, unsigned threads)
{
	return o->random * (o->random_each ? threads : 1);
}

static uint64_t bytes(const void *options)
{
	const struct tiobench *o = options;
	uint64_t sum = 0;

	for (size_t i = 0; i < combination_count(o); i++) {
		struct combination c = combination_at(o, i);

		sum += 2 * file_bytes(&c) +
		       2 * random_operations(o, c.threads) * c.block_bytes;
	}
	return sum * o->runs;
}

static uint64_t space(const void *options)
{
	const struct tiobench *o = options;
	uint64_t most = 0;

	for (size_t i = 0; i < combination_count(o); i++) {
		struct combination c = combination_at(o, i);

		most = MAX(most, file_bytes(&c));
	}
	return most;
}

/* "read/t4", with the block and the size when there are several of them. */
static char *phase_name(
	const struct tiobench *o, const struct combination *c, const struct phase *p)
{
	struct strbuf b = {0};
	char size[16];

	strbuf_addf(&b, "%s/t%u", p->name, c->threads);
	if (o->blocks.count > 1)
		strbuf_addf(&b, "/b%llu", (unsigned long long)c->block_bytes);
	units_format_bytes(c->size_bytes, size);
	if (o->sizes.count > 1)
		strbuf_addf(&b, "/s%s", size);
	return strbuf_take(&b);
}

/* The sequential write of files is not cut short: the other phases need them whole. */
static struct pace pace_of(const struct tiobench *o, const struct phase *p)
{
	struct pace pace = o->pace;

	if (p == &phases[0] && !o->raw)
		pace.runtime_ns = 0;
	return pace;
}

static struct blockio blockio_of(const struct tiobench *o, const struct combination *c,
	const struct phase *p, const struct files *files, size_t directories)
{
	return (struct blockio){
		.files = files,
		.block_bytes = c->block_bytes,
		.file_blocks = c->thread_blocks,
		.operations = p->random ? random_operations(o, c->threads)
					: c->thread_blocks * c->threads,
		.threads = c->threads,
		.write = p->write,
		.random = p->random,
		.create = p == &phases[0] && !o->raw,
		.devices = o->raw ? (unsigned)directories : 0,
		.preset_size = true,
		.mapped = o->mapped,
		.open_flags = (p->write ? syncing_open_flags(&o->sync) : 0) |
			      (o->direct ? O_DIRECT : 0),
		.end = !p->write			       ? BLOCKIO_END_NONE
		       : o->sync.kind == SYNCING_FDATASYNC ? BLOCKIO_END_FDATASYNC
							       : BLOCKIO_END_FSYNC,
		.sync_every = p->write ? o->sync.every : 0,
		.pace = pace_of(o, p),
	};
}

/* What the runs of one phase of one combination gave. */
struct tally {
	struct engine_outcome outcome;
	enum result_cache cache;
	double cached; /* share of the files in the cache at the start, summed over runs
			*/
	/* Of the rates of the runs, bytes a second: mean and sum of squares about it. */
	double mean, squares, min, max;
	uint64_t runs;
};

/* One more run (Welford's recurrence, which loses no digits). */
static void tally_rate(struct tally *t, double rate)
{
	double step = rate - t->mean;

	t->runs++;
	t->mean += step / (double)t->runs;
	t->squares += step * (rate - t->mean);
	t->min = t->runs == 1 ? rate : MIN(t->min, rate);
	t->max = t->runs == 1 ? rate : MAX(t->max, rate);
}

static double tally_deviation(const struct tally *t)
{
	return t->runs > 1 ? sqrt(t->squares / (double)(t->runs - 1)) : 0;
}

static int run_phase(const struct tiobench *o, const struct combination *c,
	const struct phase *p, uint64_t seed, const struct files *files,
	const struct workload_env *env, struct tally *tally, struct err *e)
{
	struct blockio b = blockio_of(o, c, p, files, env->directory_count);
	_cleanup_free_ char *title = phase_name(o, c, p);
	const struct result_counters *sum = &tally->outcome.counters;
	uint64_t bytes_before = sum->bytes, wall_before_ns = sum->wall_ns;
	double cached = 0;
	int r;

	if (!title)
		return err_set(e, ENOMEM, "%s", p->title);
	b.seed = random_derive(seed, (uint64_t)(p - phases));
	r = files_settle(files, env, &tally->cache, e);
	if (!r && !p->write)
		r = files_cached_fraction(files, &cached, e);
	tally->cached += cached;
	if (!r)
		r = blockio_run(&b, title, o->nofrag && p == &phases[0], env,
			&tally->outcome, e);
	if (!r && sum->wall_ns > wall_before_ns)
		tally_rate(tally, (double)(sum->bytes - bytes_before) * NS_PER_S /
					  (double)(sum->wall_ns - wall_before_ns));
	return !r && p->write && o->direct ? files_warn_if_buffered(files, title, e) : r;
}

static int run_once(const struct tiobench *o, const struct combination *c, uint64_t seed,
	const struct workload_env *env, struct tally *tallies, struct err *e)
{
	_cleanup_(files_freep) struct files *files = NULL;
	int r = o->raw ? files_of_devices(&files, env, c->threads,
				 c->thread_blocks * c->block_bytes, e)
		       : files_new(&files, env, "tiobench", c->threads, e);

	for (size_t i = 0; !r && i < ARRAY_SIZE(phases); i++)
		r = run_phase(o, c, &phases[i], seed, files, env, &tallies[i], e);
	return r;
}

/* How far the runs lie apart; the rate itself is all bytes by all time. */
static int add_spread(struct result_phase *phase, const struct tally *t, struct err *e)
{
	int r;

	if (t->runs < 2)
		return 0;
	r = result_phase_add_metric(
		phase, "rate_min", UNIT_BYTES_PER_SECOND, NO_DIRECTION, t->min, e);
	if (!r)
		r = result_phase_add_metric(phase, "rate_max", UNIT_BYTES_PER_SECOND,
			NO_DIRECTION, t->max, e);
	return r ? r
		 : result_phase_add_metric(phase, "rate_sd", UNIT_BYTES_PER_SECOND,
			   NO_DIRECTION, tally_deviation(t), e);
}

static void note_spread(const struct tiobench *o, const struct combination *c,
	const struct tally *tallies, const struct workload_env *env)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};

	if (o->runs < 2)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(phases); i++)
		strbuf_addf(&b, "%s %s %.2f MiB/s (%.1f %%)", i ? "," : "", phases[i].name,
			tallies[i].mean / (1 << 20),
			tallies[i].mean > 0 ? 100 * tally_deviation(&tallies[i]) /
						      tallies[i].mean
					    : 0);
	if (!strbuf_failed(&b))
		log_line(env->log, LOG_NOTE,
			"tiobench: rates of %llu runs with %u thread%s, mean and standard "
			"deviation:%s",
			(unsigned long long)o->runs, c->threads, PLURAL(c->threads),
			strbuf_text(&b));
}

static int add_phase(const struct tiobench *o, const struct combination *c,
	const struct phase *p, const struct tally *tally, struct result_run *run,
	struct err *e)
{
	_cleanup_free_ char *name = phase_name(o, c, p);
	struct result_phase *phase;
	int r;

	if (!name)
		return err_set(e, ENOMEM, "%s", p->title);
	r = engine_outcome_add_phase(&tally->outcome, run, name, p->title, &phase, e);
	if (r)
		return r;
	phase->cache = tally->cache;
	phase->counters.requested_bytes = c->size_bytes;
	phase->counters.block_bytes = c->block_bytes;
	r = add_spread(phase, tally, e);
	if (!r && !p->write && !o->raw)
		r = result_phase_add_metric(phase, "cached_before", UNIT_FRACTION,
			NO_DIRECTION, tally->cached / (double)o->runs, e);
	return r;
}

static void note_rounding(const struct combination *c, const struct workload_env *env)
{
	if (file_bytes(c) != c->size_bytes)
		log_line(env->log, LOG_NOTE,
			"tiobench: the files of %u thread%s have %llu bytes in whole blocks of "
			"%llu, not the %llu asked for",
			c->threads, PLURAL(c->threads), (unsigned long long)file_bytes(c),
			(unsigned long long)c->block_bytes,
			(unsigned long long)c->size_bytes);
}

static int run_combination(const struct tiobench *o, const struct combination *c,
	uint64_t seed, const struct workload_env *env, struct result_run *run,
	struct err *e)
{
	_cleanup_free_ struct tally *tallies =
		calloc(ARRAY_SIZE(phases), sizeof(*tallies));
	int r = 0;

	if (!tallies)
		return err_set(e, ENOMEM, "tiobench");
	note_rounding(c, env);
	for (size_t i = 0; i < ARRAY_SIZE(phases); i++)
		engine_outcome_init(&tallies[i].outcome);
	for (uint64_t i = 0; !r && i < o->runs; i++)
		r = run_once(o, c, random_derive(seed, i), env, tallies, e);
	for (size_t i = 0; !r && i < ARRAY_SIZE(phases); i++)
		r = add_phase(o, c, &phases[i], &tallies[i], run, e);
	if (!r)
		note_spread(o, c, tallies, env);
	return r;
}

static int run(const void *options, const struct workload_env *env,
	struct result_run *result, struct err *e)
{
	const struct tiobench *o = options;
	uint64_t begun_ns = clock_now_ns();
	size_t count = combination_count(o);

	for (size_t i = 0; i < count; i++) {
		struct combination c = combination_at(o, i);
		int r;

		if (i && o->timeout_ns && clock_now_ns() - begun_ns > o->timeout_ns) {
			log_line(env->log, LOG_WARNING,
				"tiobench: timeout reached, %zu of %zu combinations done",
				i, count);
			break;
		}
		r = run_combination(o, &c, random_derive(env->seed, i), env, result, e);
		if (r)
			return r;
	}
	return 0;
}

const struct workload_type workload_tiobench = {
	.name = "tiobench",
	.summary = "sequential and random writes and reads by several threads",
	.keys = keys,
	.key_count = ARRAY_SIZE(keys),
	.options_bytes = sizeof(struct tiobench),
	.set = set,
	.check = check,
	.bytes = bytes,
	.space = space,
	.run = run,
};
