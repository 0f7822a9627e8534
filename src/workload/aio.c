/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * aio: each thread keeps a number of operations in flight with io_uring, on a file of its
 * own, in order or at random places.  What a device can do at a depth of 16 or 64 a
 * synchronous loop cannot show.
 *
 * A thread fills its free slots, submits, waits until something has completed, and takes
 * all that has.  The latency of an operation reaches from when it was handed to the kernel
 * to when its completion was seen.  To sleep and be woken can take longer than a fast
 * device: while operations complete sooner than that, a thread asks for them again and
 * again instead.  Kinds that read or overwrite work on files that were written and synced
 * before, with blocks allocated; `write` makes its file.
 */

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "workload/blockio.h"
#include "workload/pacing.h"
#include "workload/payload.h"
#include "workload/syncing.h"
#include "workload/types.h"
#include "workload/values.h"

enum { DEPTH_MAX = 1024, THREADS_MAX = 128 };

/* What going to sleep and being woken costs: 20 to 50 us where a processor is halted. */
enum { POLL_NS = 50 * NS_PER_US };

enum { READ, WRITE, RANDREAD, RANDWRITE, KINDS };
static const char *const kind_words[] = {"read", "write", "randread", "randwrite"};
static const char *const titles[] = {"sequential reads", "sequential writes",
	"random reads", "random writes"};

struct aio {
	uint64_t kinds; /* bit i: kind_words[i] */
	struct values depths;
	uint64_t threads, file_bytes, block_bytes, count;
	int direct;
	struct syncing sync;
	struct pace pace;
};

static const struct workload_key keys[] = {
	{"kind", "KIND...", "randread randwrite", "read, write, randread, randwrite"},
	{"depth", "COUNT...", "1 16 64", "operations of a thread in flight"},
	{"threads", "COUNT", "1", "threads, each with a file of its own"},
	{"size", "SIZE", "256M", "bytes of each file"},
	{"block", "SIZE", "4k", "bytes of one operation"},
	{"count", "COUNT", "10000", "random operations of all threads in a phase"},
	{"direct", "yes|no", "yes", "O_DIRECT"},
	{"sync", SYNCING_WORDS, "none",
		"at the end of a phase that writes, or O_DSYNC or O_SYNC"},
	{"sync_every", "COUNT", "0",
		"fsync or fdatasync also when so many more writes of a thread have ended; "
		"0: only at the end"},
	{"rate", "COUNT", "0",
		"operations a second of all threads, begun on time if the depth allows; 0: "
		"as fast as they go"},
	{"think", "TIME", "0", "pause between an operation and the next in its place"},
	{"runtime", "TIME", "0", "begin no operation after this; 0: no limit"},
};

struct aio_phase {
	const struct aio *o;
	const struct files *files;
	unsigned kind, depth;
	uint64_t seed;
	char name[48]; /* "randread/q16/t1" */
};

struct slot {
	struct payload payload;
	uint64_t begun_ticks, at;
	uint64_t rested_ns; /* may be used again; 0: at once */
};

struct ring {
	struct io_uring uring;
	bool is_set_up, are_buffers_registered;
	bool is_broken; /* the kernel may still write to the buffers */
	bool is_quick;	/* the last wait was short: ask the kernel, do not sleep */
	int fd;
	const char *path;
	struct slot *slots;
	/* Those that are free, in the order in which they have become so. */
	unsigned *free_slots, first_free, free_count;
	uint64_t due_ns;  /* when the operation whose turn it is begins; 0: at once */
	bool has_turn;	  /* an operation is to begin, due_ns is set */
	uint64_t unsynced; /* writes that have ended since the last sync */
};

static bool writes(unsigned kind)
{
	return kind == WRITE || kind == RANDWRITE;
}

static bool is_random(unsigned kind)
{
	return kind == RANDREAD || kind == RANDWRITE;
}

static int set_kinds(struct aio *o, const char *value, struct err *e)
{
	_cleanup_free_ char *copy = strdup(value);
	char *rest = copy, *word;

	if (!copy)
		return err_set(e, ENOMEM, "kinds");
	o->kinds = 0;
	while ((word = strsep(&rest, " \t,"))) {
		unsigned kind;
		int r = *word ? values_parse_word(word, kind_words, KINDS, &kind, e) : 0;

		if (r)
			return r;
		if (*word)
			o->kinds |= UINT64_C(1) << kind;
	}
	return o->kinds ? 0 : err_usage(e, "at least one kind is needed");
}

static int set(void *options, const char *key, const char *value, struct err *e)
{
	struct aio *o = options;
	int r;

	if (!strcmp(key, "kind"))
		return set_kinds(o, value, e);
	if (!strcmp(key, "depth"))
		return values_parse_counts(value, 1, DEPTH_MAX, &o->depths, e);
	if (!strcmp(key, "threads"))
		return units_parse_count(value, 1, THREADS_MAX, &o->threads, e);
	if (!strcmp(key, "size"))
		return units_parse_bytes(value, &o->file_bytes, e);
	if (!strcmp(key, "block"))
		return units_parse_bytes(value, &o->block_bytes, e);
	if (!strcmp(key, "count"))
		return units_parse_count(value, 1, INT64_MAX, &o->count, e);
	if (!strcmp(key, "direct"))
		return units_parse_bool(value, &o->direct, e);
	r = syncing_set(&o->sync, key, value, e);
	return r <= 0 ? r : pacing_set(&o->pace, key, value, e);
}

static int check(const void *options, struct err *e)
{
	const struct aio *o = options;
	int r;

	if (!o->block_bytes || o->block_bytes > UINT64_C(64) << 20)
		return err_usage(e, "block: not between 1 and 64M");
	if (o->direct && o->block_bytes % 512)
		return err_usage(e, "direct: block is no multiple of 512");
	if (o->file_bytes < o->block_bytes || o->file_bytes % o->block_bytes)
		return err_usage(e, "size is no multiple of block");
	if (o->file_bytes > UINT64_C(1) << 50)
		return err_usage(e, "size: at most 1024T");
	r = syncing_check(&o->sync, e);
	return r ? r : pacing_check(&o->pace, e);
}

static uint64_t space(const void *options)
{
	const struct aio *o = options;

	return o->threads * o->file_bytes;
}

static uint64_t bytes(const void *options)
{
	const struct aio *o = options;
	uint64_t sum = 0;

	for (unsigned kind = 0; kind < KINDS; kind++)
		if (o->kinds >> kind & 1)
			sum += is_random(kind) ? o->count * o->block_bytes
					       : space(options);
	return space(options) + sum * o->depths.count;
}

static int set_up_slots(struct engine_thread *t, struct ring *g, unsigned depth,
	uint64_t block_bytes, struct err *e)
{
	g->slots = calloc(depth, sizeof(*g->slots));
	g->free_slots = calloc(depth, sizeof(*g->free_slots));
	if (!g->slots || !g->free_slots)
		return err_set(e, ENOMEM, "thread %u", t->index);
	for (unsigned i = 0; i < depth; i++) {
		int r = payload_init(
			&g->slots[i].payload, block_bytes, random_next(&t->random), e);

		if (r)
			return r;
		g->free_slots[g->free_count++] = i;
	}
	return 0;
}

/*
 * The ring is used by this thread alone, which lets the kernel run what completes when we
 * ask for it and not by interrupting us; kernels before 6.1 do not know these flags.  The
 * file is not registered: the kernel lets go of those some time after the ring is closed,
 * and whoever unmounts then finds the volume busy.
 */
static int set_up_ring(struct ring *g, unsigned depth, struct err *e)
{
	int r = io_uring_queue_init(depth, &g->uring,
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);

	if (r == -EINVAL)
		r = io_uring_queue_init(depth, &g->uring, 0);
	if (r)
		return err_set(e, -r, "set up io_uring");
	g->is_set_up = true;
	return 0;
}

/* So that the kernel need not pin a buffer for each operation; without, it works as well. */
static void register_buffers(struct ring *g, unsigned depth, uint64_t block_bytes)
{
	_cleanup_free_ struct iovec *v = calloc(depth, sizeof(*v));

	for (unsigned i = 0; v && i < depth; i++)
		v[i] = (struct iovec){g->slots[i].payload.block, block_bytes};
	g->are_buffers_registered =
		v && !io_uring_register_buffers(&g->uring, v, depth);
}

static int prepare(struct engine_thread *t, struct err *e)
{
	const struct aio_phase *p = t->work;
	int flags = O_CLOEXEC | (writes(p->kind) ? O_WRONLY : O_RDONLY) |
		    (p->kind == WRITE ? O_CREAT | O_EXCL : 0) |
		    (writes(p->kind) ? syncing_open_flags(&p->o->sync) : 0) |
		    (p->o->direct ? O_DIRECT : 0);
	struct ring *g = calloc(1, sizeof(*g));
	int r;

	if (!g)
		return err_set(e, ENOMEM, "thread %u", t->index);
	t->own = g;
	g->path = p->files->paths[t->index];
	g->fd = open(g->path, flags, 0600);
	if (g->fd < 0)
		return err_set(e, errno, "open %s%s", g->path,
			p->o->direct ? " with O_DIRECT" : "");
	r = set_up_ring(g, p->depth, e);
	if (!r)
		r = set_up_slots(t, g, p->depth, p->o->block_bytes, e);
	if (!r)
		register_buffers(g, p->depth, p->o->block_bytes);
	return r;
}

static void finish(struct engine_thread *t)
{
	const struct aio_phase *p = t->work;
	struct ring *g = take_ptr(t->own);

	if (!g)
		return;
	if (g->is_set_up)
		io_uring_queue_exit(&g->uring);
	if (g->fd >= 0)
		close(g->fd);
	for (unsigned i = 0; g->slots && !g->is_broken && i < p->depth; i++)
		payload_deinit(&g->slots[i].payload);
	free(g->slots);
	free(g->free_slots);
	free(g);
}

static uint64_t share(const struct aio_phase *p, unsigned thread)
{
	if (!is_random(p->kind))
		return p->o->file_bytes / p->o->block_bytes;
	return p->o->count / p->o->threads + (thread < p->o->count % p->o->threads);
}

/*
 * May the next operation begin now?  Its turn is taken from the pacer once; with `think`
 * the slot that has been free for longest must have rested.  False: not yet (g->due_ns
 * says when), or never again (*over).
 */
static bool may_begin(struct engine_thread *t, struct ring *g, bool *over)
{
	const struct aio_phase *p = t->work;
	const struct pace *pace = &p->o->pace;

	*over = !engine_next(t);
	if (*over || !g->free_count)
		return false;
	if (!pacing_is_on(pace))
		return true;
	if (!g->has_turn && pace->think_ns) {
		g->due_ns = g->slots[g->free_slots[g->first_free]].rested_ns;
		*over = pace->runtime_ns && MAX(g->due_ns, clock_now_ns()) >=
						    t->started_ns + pace->runtime_ns;
	} else if (!g->has_turn) {
		*over = !pacer_next(&t->pacer, &g->due_ns);
	}
	g->has_turn = !*over;
	return !*over && (!g->due_ns || clock_now_ns() >= g->due_ns);
}

static void prepare_operation(const struct aio_phase *p, struct ring *g, unsigned slot,
	struct io_uring_sqe *sqe)
{
	struct slot *s = &g->slots[slot];
	unsigned bytes = (unsigned)p->o->block_bytes;

	if (writes(p->kind)) {
		payload_next(&s->payload);
		io_uring_prep_write(sqe, g->fd, s->payload.block, bytes, s->at);
	} else {
		io_uring_prep_read(sqe, g->fd, s->payload.block, bytes, s->at);
	}
	if (g->are_buffers_registered) {
		sqe->opcode = writes(p->kind) ? IORING_OP_WRITE_FIXED : IORING_OP_READ_FIXED;
		sqe->buf_index = (uint16_t)slot;
	}
	io_uring_sqe_set_data64(sqe, slot);
}

/* Queues the n-th operation in a free slot. */
static void queue(struct engine_thread *t, struct ring *g, uint64_t n)
{
	const struct aio_phase *p = t->work;
	uint64_t block_bytes = p->o->block_bytes;
	struct io_uring_sqe *sqe = io_uring_get_sqe(&g->uring);
	unsigned i = g->free_slots[g->first_free];
	struct slot *s = &g->slots[i];

	g->first_free = (g->first_free + 1) % p->depth;
	g->free_count--;
	g->has_turn = false;

	if (is_random(p->kind))
		n = random_below(&t->random, p->o->file_bytes / block_bytes);
	s->at = n * block_bytes;
	prepare_operation(p, g, i, sqe);
	s->begun_ticks = p->o->pace.rate > 0 ? engine_ticks_of(t, g->due_ns)
					     : ticks_now(&t->ticks);
}

static int complete(struct engine_thread *t, struct ring *g, struct io_uring_cqe *cqe,
	struct err *e)
{
	const struct aio_phase *p = t->work;
	unsigned i = (unsigned)io_uring_cqe_get_data64(cqe);
	const char *verb = writes(p->kind) ? "write" : "read";
	int moved = cqe->res;

	io_uring_cqe_seen(&g->uring, cqe);
	g->free_slots[(g->first_free + g->free_count++) % p->depth] = i;
	if (p->o->pace.think_ns)
		g->slots[i].rested_ns = clock_now_ns() + p->o->pace.think_ns;
	if (moved < 0)
		return err_set(e, -moved, "%s %s at byte %llu", verb, g->path,
			(unsigned long long)g->slots[i].at);
	if ((uint64_t)moved != p->o->block_bytes)
		return err_say(e, EIO, "%s %s at byte %llu: short %s", verb, g->path,
			(unsigned long long)g->slots[i].at, verb);
	t->begun_ticks = g->slots[i].begun_ticks;
	engine_done(t, p->o->block_bytes);
	g->unsynced += writes(p->kind);
	t->syncs += writes(p->kind) && syncing_open_flags(&p->o->sync);
	return 0;
}

/* Asks for completions without sleeping, no longer than sleeping would cost.  The wait that
 * follows shows an error again, and takes what has completed since; to leave it away when
 * there is something made deep queues no faster. */
static void poll_ring(struct ring *g, uint64_t now_ns)
{
	uint64_t end_ns = now_ns + POLL_NS;

	while (!io_uring_cq_ready(&g->uring) && clock_now_ns() < end_ns)
		if (io_uring_get_events(&g->uring) < 0)
			return;
}

/* Submits what is queued and waits for at least one, or with a turn that is to come not
 * longer than until then. */
static int submit(struct ring *g)
{
	struct io_uring_cqe *cqe;
	struct __kernel_timespec left = {0};
	uint64_t now_ns = clock_now_ns();
	int r;

	if (g->is_quick && (!g->has_turn || g->due_ns > now_ns + POLL_NS)) {
		r = io_uring_submit(&g->uring);
		if (r < 0)
			return r;
		poll_ring(g, now_ns);
	}
	if (!g->has_turn) {
		r = io_uring_submit_and_wait(&g->uring, 1);
	} else {
		if (g->due_ns > now_ns) {
			left.tv_sec = (long long)((g->due_ns - now_ns) / NS_PER_S);
			left.tv_nsec = (long long)((g->due_ns - now_ns) % NS_PER_S);
		}
		r = io_uring_submit_and_wait_timeout(&g->uring, &cqe, 1, &left, NULL);
	}
	g->is_quick = clock_now_ns() - now_ns < 2 * POLL_NS; /* it may have slept */
	return r;
}

/* Waits and takes all that have completed; after the first error they are only taken. */
static int take_completed(struct engine_thread *t, struct ring *g, struct err *e)
{
	struct io_uring_cqe *cqe;
	int r = submit(g), status = 0;

	if (r < 0 && r != -EINTR && r != -EAGAIN && r != -EBUSY && r != -ETIME) {
		g->is_broken = true;
		return err_set(e, -r, "submit to io_uring");
	}
	while (!io_uring_peek_cqe(&g->uring, &cqe)) {
		r = complete(t, g, cqe, status ? NULL : e);
		status = status ? status : r;
	}
	return status;
}

static int sync_it(struct engine_thread *t, struct ring *g, struct err *e)
{
	const struct aio_phase *p = t->work;

	g->unsynced = 0;
	return engine_sync(t, g->fd, p->o->sync.kind == SYNCING_FDATASYNC, g->path, e);
}

/* All operations; when it returns none is in flight, also after an error, because what is
 * in flight uses our buffers. */
static int keep_full(struct engine_thread *t, struct ring *g, struct err *e)
{
	const struct aio_phase *p = t->work;
	uint64_t total = share(p, t->index), begun = 0;
	bool over = false;
	int r = 0;

	for (;;) {
		int status;

		while (!r && begun < total && may_begin(t, g, &over))
			queue(t, g, begun++);
		if (r || over || begun == total)
			g->has_turn = false;
		if (g->is_broken)
			return r;
		if (g->free_count < p->depth) {
			status = take_completed(t, g, r ? NULL : e);
			r = r ? r : status;
		} else if (!g->has_turn) {
			return r;
		} else {
			pace_sleep(g->due_ns, t->quit);
		}
		if (!r && p->o->sync.every && g->unsynced >= p->o->sync.every)
			r = sync_it(t, g, e);
	}
}

static int work(struct engine_thread *t, struct err *e)
{
	const struct aio_phase *p = t->work;
	struct ring *g = t->own;
	int r = keep_full(t, g, e);

	if (!r && writes(p->kind) && syncing_calls(&p->o->sync) && engine_next(t))
		r = sync_it(t, g, e);
	if (!r && close(take_fd(g->fd)))
		r = err_set(e, errno, "close %s", g->path);
	return r;
}

static const struct engine_ops aio_ops = {prepare, work, finish};

/* The files that are read or overwritten. */
static int make_files(
	const struct aio_phase *p, const struct workload_env *env, struct err *e)
{
	const struct aio *o = p->o;
	/* Large blocks: this is not measured. */
	uint64_t block = o->file_bytes % (1 << 20) ? o->block_bytes : 1 << 20;
	_cleanup_free_ struct engine_outcome *outcome = malloc(sizeof(*outcome));
	const struct blockio b = {.files = p->files,
		.block_bytes = block,
		.file_blocks = o->file_bytes / block,
		.operations = o->file_bytes / block * o->threads,
		.seed = random_derive(p->seed, 1),
		.threads = (unsigned)o->threads,
		.write = true,
		.create = true,
		.end = BLOCKIO_END_FSYNC};

	if (!outcome)
		return err_set(e, ENOMEM, "aio");
	engine_outcome_init(outcome);
	return blockio_run(&b, "aio, files to work on", false, env, outcome, e);
}

static int run_engine(const struct aio_phase *p, const struct workload_env *env,
	struct result_run *run, struct err *e)
{
	_cleanup_free_ struct engine_outcome *outcome = malloc(sizeof(*outcome));
	const struct aio *o = p->o;
	const struct engine_job job = {.ops = &aio_ops,
		.work = p,
		.title = p->name,
		.threads = (unsigned)o->threads,
		.seed = p->seed,
		.pace = o->pace,
		.expected_bytes = is_random(p->kind) ? o->count * o->block_bytes
						     : o->threads * o->file_bytes};
	struct result_phase *phase;
	enum result_cache cache;
	double cached = 0;
	int r;

	if (!outcome)
		return err_set(e, ENOMEM, "%s", p->name);
	engine_outcome_init(outcome);
	r = files_settle(p->files, env, &cache, e);
	if (!r)
		r = files_cached_fraction(p->files, &cached, e);
	if (!r)
		r = engine_run(&job, env, outcome, e);
	if (!r && writes(p->kind) && o->direct)
		r = files_warn_if_buffered(p->files, p->name, e);
	if (!r)
		r = engine_outcome_add_phase(
			outcome, run, p->name, titles[p->kind], &phase, e);
	if (r)
		return r;
	phase->cache = cache;
	phase->counters.block_bytes = o->block_bytes;
	phase->counters.requested_bytes = job.expected_bytes;
	return writes(p->kind) ? 0
			       : result_phase_add_metric(phase, "cached_before",
					 UNIT_FRACTION, NO_DIRECTION, cached, e);
}

static int run_phase(const struct aio *o, unsigned kind, unsigned depth,
	const struct workload_env *env, struct result_run *run, struct err *e)
{
	_cleanup_(files_freep) struct files *files = NULL;
	struct aio_phase p = {.o = o,
		.kind = kind,
		.depth = depth,
		.seed = random_derive(env->seed, run->phase_count)};
	int r = files_new(&files, env, "aio", o->threads, e);

	if (r)
		return r;
	p.files = files;
	snprintf(p.name, sizeof(p.name), "%s/q%u/t%u", kind_words[kind], depth,
		(unsigned)o->threads);
	if (kind != WRITE)
		r = make_files(&p, env, e);
	return r ? r : run_engine(&p, env, run, e);
}

static int run(const void *options, const struct workload_env *env,
	struct result_run *result, struct err *e)
{
	const struct aio *o = options;
	int r = 0;

	for (unsigned kind = 0; kind < KINDS; kind++)
		for (size_t d = 0; !r && o->kinds >> kind & 1 && d < o->depths.count; d++)
			r = run_phase(o, kind, (unsigned)o->depths.at[d], env, result, e);
	return r;
}

const struct workload_type workload_aio = {
	.name = "aio",
	.summary = "operations in flight with io_uring, in order or at random",
	.keys = keys,
	.key_count = ARRAY_SIZE(keys),
	.options_bytes = sizeof(struct aio),
	.set = set,
	.check = check,
	.bytes = bytes,
	.space = space,
	.run = run,
};
