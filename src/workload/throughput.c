/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * throughput: iozone's throughput mode.  n children with a file each write it, write over
 * it, read it, read it again, and may read and write it in random order, each record
 * once; the files lie in the directories in turn, so that several volumes work at once.
 *
 * The figures are iozone's; see throughput.h.  Beside them stand when the first and the
 * last child had ended, and the rate of all bytes over the whole time, because "children
 * see" leaves out what is done after the stonewall and adds up rates of different times.
 */

#include "workload/throughput.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "workload/pacing.h"
#include "workload/types.h"
#include "workload/values.h"

enum { CHILDREN_MAX = 512 };

struct throughput {
	struct values children;
	uint64_t file_bytes, record_bytes;
	int processes, read, random, direct, with_close, stonewall, cold;
	struct syncing sync;
	struct pace pace;
};

static const struct workload_key keys[] = {
	{"threads", "COUNT...", "1", "children, each with a file of its own"},
	{"processes", "yes|no", "yes", "children are processes, else threads"},
	{"size", "SIZE", "64M", "bytes of each file"},
	{"block", "SIZE", "256k", "bytes of one record"},
	{"read", "yes|no", "yes", "read and re-read"},
	{"random", "yes|no", "no", "random read and random write"},
	{"sync", SYNCING_WORDS, "fsync",
		"one sync at the end of a file, or O_DSYNC or O_SYNC; in a child's time"},
	SYNCING_EVERY_KEY,
	{"close", "yes|no", "no", "close of the file in a child's time"},
	{"direct", "yes|no", "no", "O_DIRECT"},
	{"stonewall", "yes|no", "yes",
		"count only what was done until the first child had ended"},
	{"cold", "yes|no", "yes", "drop the cache of the files between the phases"},
	PACING_KEYS,
};

static const struct kind {
	const char *name, *title;
	bool write, random, read;
} kinds[] = {
	{"write", "initial writers", true, false, false},
	{"rewrite", "rewriters", true, false, false},
	{"read", "readers", false, false, true},
	{"reread", "re-readers", false, false, true},
	{"rread", "random readers", false, true, false},
	{"rwrite", "random writers", true, true, false},
};

static bool is_wanted(const struct throughput *o, const struct kind *k)
{
	return k->random ? o->random : !k->read || o->read;
}

static int set(void *options, const char *key, const char *value, struct err *e)
{
	static const struct {
		const char *key;
		size_t offset;
	} switches[] = {
		{"processes", offsetof(struct throughput, processes)},
		{"read", offsetof(struct throughput, read)},
		{"random", offsetof(struct throughput, random)},
		{"close", offsetof(struct throughput, with_close)},
		{"direct", offsetof(struct throughput, direct)},
		{"stonewall", offsetof(struct throughput, stonewall)},
		{"cold", offsetof(struct throughput, cold)},
	};
	struct throughput *o = options;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(switches); i++)
		if (!strcmp(key, switches[i].key))
			return units_parse_bool(
				value, (int *)((char *)o + switches[i].offset), e);
	if (!strcmp(key, "threads"))
		return values_parse_counts(value, 1, CHILDREN_MAX, &o->children, e);
	r = syncing_set(&o->sync, key, value, e);
	if (r > 0)
		r = pacing_set(&o->pace, key, value, e);
	if (r <= 0)
		return r;
	return units_parse_bytes(
		value, !strcmp(key, "size") ? &o->file_bytes : &o->record_bytes, e);
}

static int check(const void *options, struct err *e)
{
	const struct throughput *o = options;
	int r;

	if (!o->record_bytes || o->record_bytes > UINT64_C(1) << 30)
		return err_usage(e, "block: not between 1 and 1G");
	if (o->file_bytes < o->record_bytes || o->file_bytes > UINT64_C(1) << 50)
		return err_usage(e, "size: not between one block and 1024T");
	if (o->file_bytes % o->record_bytes)
		return err_usage(e, "size is no multiple of block");
	if (o->direct && o->record_bytes % 512)
		return err_usage(e, "direct: block is no multiple of 512");
	r = syncing_check(&o->sync, e);
	return r ? r : pacing_check(&o->pace, e);
}

static uint64_t space(const void *options)
{
	const struct throughput *o = options;
	uint64_t most = 0;

	for (size_t i = 0; i < o->children.count; i++)
		most = MAX(most, o->children.at[i]);
	return most * o->file_bytes;
}

static uint64_t bytes(const void *options)
{
	const struct throughput *o = options;
	uint64_t phases = 0, children = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		phases += is_wanted(o, &kinds[i]);
	for (size_t i = 0; i < o->children.count; i++)
		children += o->children.at[i];
	return phases * children * o->file_bytes;
}

static int add_metrics(struct result_phase *phase, const struct throughput_outcome *o,
	double cached, bool write, struct err *e)
{
	const struct throughput_figures *f = &o->figures;
	const struct {
		const char *name;
		enum result_unit unit;
		enum result_direction direction;
		double value;
	} metrics[] = {
		{"children", UNIT_BYTES_PER_SECOND, HIGHER_IS_BETTER, f->children},
		{"parent", UNIT_BYTES_PER_SECOND, HIGHER_IS_BETTER, f->parent},
		{"child_min", UNIT_BYTES_PER_SECOND, HIGHER_IS_BETTER, f->min},
		{"child_max", UNIT_BYTES_PER_SECOND, NO_DIRECTION, f->max},
		{"child_avg", UNIT_BYTES_PER_SECOND, HIGHER_IS_BETTER, f->avg},
		{"min_xfer", UNIT_BYTES, NO_DIRECTION, (double)f->min_xfer},
		{"first_done", UNIT_NANOSECONDS, NO_DIRECTION, (double)o->first_done_ns},
		{"last_done", UNIT_NANOSECONDS, LOWER_IS_BETTER, (double)o->last_done_ns},
		{"cached_before", UNIT_FRACTION, NO_DIRECTION, cached},
	};
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(metrics) - write; i++)
		r = result_phase_add_metric(phase, metrics[i].name, metrics[i].unit,
			metrics[i].direction, metrics[i].value, e);
	return r;
}

static struct throughput_phase phase_of(const struct throughput *o, const struct kind *k,
	const struct files *files, const char *title)
{
	struct pace pace = o->pace;

	/* The initial write is never cut short: the other phases need whole files. */
	if (k == &kinds[0])
		pace.runtime_ns = 0;
	return (struct throughput_phase){
		.title = title,
		.files = files,
		.children = (unsigned)files->count,
		.processes = o->processes,
		.stonewall = o->stonewall,
		.write = k->write,
		.random = k->random,
		.create = k == &kinds[0],
		.with_close = o->with_close,
		.open_flags = (o->direct ? O_DIRECT : 0) |
			      (k->write ? syncing_open_flags(&o->sync) : 0),
		.sync = o->sync,
		.pace = pace,
		.record_bytes = o->record_bytes,
		.records = o->file_bytes / o->record_bytes,
	};
}

static int run_phase(const struct throughput *o, const struct kind *k,
	const struct files *files, const struct workload_env *env, struct result_run *run,
	struct err *e)
{
	_cleanup_free_ struct throughput_outcome *outcome = calloc(1, sizeof(*outcome));
	enum result_cache cache = RESULT_CACHE_KEPT;
	struct result_phase *phase;
	double cached = 0;
	char name[32];
	struct throughput_phase p;
	int r = 0;

	if (!outcome)
		return err_set(e, ENOMEM, "throughput");
	engine_outcome_init(&outcome->engine);
	snprintf(name, sizeof(name), "%s/t%zu", k->name, files->count);
	p = phase_of(o, k, files, name);
	p.seed = random_derive(env->seed, run->phase_count);
	if (o->cold || p.create)
		r = files_settle(files, env, &cache, e);
	if (!r && !k->write)
		r = files_cached_fraction(files, &cached, e);
	if (!r)
		r = throughput_run_crew(&p, env, outcome, e);
	if (!r && k->write && o->direct)
		r = files_warn_if_buffered(files, name, e);
	if (!r)
		r = engine_outcome_add_phase(
			&outcome->engine, run, name, k->title, &phase, e);
	if (r)
		return r;
	phase->cache = cache;
	phase->counters.requested_bytes = o->file_bytes * files->count;
	return add_metrics(phase, outcome, cached, k->write, e);
}

static int run(const void *options, const struct workload_env *env,
	struct result_run *result, struct err *e)
{
	const struct throughput *o = options;
	int r = 0;

	for (size_t n = 0; !r && n < o->children.count; n++) {
		_cleanup_(files_freep) struct files *files = NULL;

		r = files_new(&files, env, "throughput", o->children.at[n], e);
		for (size_t i = 0; !r && i < ARRAY_SIZE(kinds); i++)
			if (is_wanted(o, &kinds[i]))
				r = run_phase(o, &kinds[i], files, env, result, e);
	}
	return r;
}

const struct workload_type workload_throughput = {
	.name = "throughput",
	.summary = "children with a file each: iozone's throughput mode",
	.keys = keys,
	.key_count = ARRAY_SIZE(keys),
	.options_bytes = sizeof(struct throughput),
	.set = set,
	.check = check,
	.bytes = bytes,
	.space = space,
	.run = run,
};
