/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The engine; see engine.h.
 *
 * Start.  Every thread prepares, reports that it is ready and sleeps on the futex word
 * `go`; when all are ready one store and one wake release them at the same instant, which
 * is the start of the measured time.  A mutex and condition would let them out one after
 * another, and spinning (tiotest) burns the CPU that is to be measured.
 *
 * End.  Each thread stamps its own end; the wall time is that of the last one, not of the
 * join.  Meanwhile the caller's thread sleeps, and wakes now and then to look at the stop
 * flag and to show progress.  Signals are blocked in the workers so that they interrupt
 * that sleep and nothing else.
 *
 * Failure.  The first thread to fail sets `quit`, which all poll before each operation;
 * its error is the one that is reported.
 */

#include "workload/engine.h"

#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "core/privilege.h"
#include "core/units.h"

/* Two lines, because the hardware fetches lines in pairs. */
enum { CACHE_LINES_BYTES = 128, STACK_BYTES = 256 * 1024 };

#define POLL_NS (200 * NS_PER_MS)
#define PROGRESS_AFTER_NS (2 * NS_PER_S)
#define PROGRESS_EVERY_NS NS_PER_S

enum go { GO_WAIT, GO_WORK, GO_LEAVE };

struct engine {
	const struct engine_job *job;
	struct engine_thread **threads;
	struct ticks ticks;
	pthread_t *ids;
	unsigned created;
	unsigned ready, running; /* futex words; running counts down */
	unsigned foreground;	 /* threads in the foreground that have not ended */
	uint64_t start_ns;
	unsigned go;		 /* futex word, enum go */
	int failed;		 /* index of the first thread that failed, or -1 */
	int quit __attribute__((aligned(CACHE_LINES_BYTES)));
	char padding[CACHE_LINES_BYTES - sizeof(int)];
};

static void futex_wait(const unsigned *word, unsigned value, uint64_t timeout_ns)
{
	struct timespec t = {.tv_sec = (time_t)(timeout_ns / NS_PER_S),
		.tv_nsec = (long)(timeout_ns % NS_PER_S)};

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout_ns ? &t : NULL);
}

static void futex_wake_all(const unsigned *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX);
}

static unsigned load(const unsigned *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void thread_failed(struct engine_thread *t, int status)
{
	struct engine *g = t->engine;
	int none = -1;

	t->status = status;
	__atomic_compare_exchange_n(&g->failed, &none, (int)t->index, false,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	__atomic_store_n(&g->quit, 1, __ATOMIC_RELAXED);
}

static void *thread_main(void *data)
{
	struct engine_thread *t = data;
	struct engine *g = t->engine;
	unsigned go;
	int r = privilege_limit(PRIVILEGE_WORK);

	t->prepared = true;
	if (r)
		err_set(&t->err, -r, "give up capabilities");
	else if (g->job->ops->prepare)
		r = g->job->ops->prepare(t, &t->err);
	if (r)
		thread_failed(t, r);
	if (!t->background)
		__atomic_add_fetch(&g->foreground, 1, __ATOMIC_ACQ_REL);
	if (__atomic_add_fetch(&g->ready, 1, __ATOMIC_ACQ_REL) == g->job->threads)
		futex_wake_all(&g->ready);
	while ((go = load(&g->go)) == GO_WAIT)
		futex_wait(&g->go, GO_WAIT, 0);
	if (go == GO_WORK) {
		t->ticks = g->ticks;
		t->pacer = (struct pacer){.pace = &g->job->pace,
			.start_ns = g->start_ns,
			.index = t->index,
			.threads = g->job->threads};
		t->started_ns = clock_now_ns();
		t->begun_ticks = ticks_now(&t->ticks);
		r = g->job->ops->thread(t, &t->err);
		t->ended_ns = clock_now_ns();
		if (r)
			thread_failed(t, r);
		if (!t->background)
			__atomic_sub_fetch(&g->foreground, 1, __ATOMIC_ACQ_REL);
	}
	if (__atomic_sub_fetch(&g->running, 1, __ATOMIC_ACQ_REL) == 0)
		futex_wake_all(&g->running);
	return NULL;
}

static struct engine_thread *thread_new(struct engine *g, unsigned index)
{
	size_t room = (sizeof(struct engine_thread) + CACHE_LINES_BYTES - 1) /
		      CACHE_LINES_BYTES * CACHE_LINES_BYTES;
	struct engine_thread *t = aligned_alloc(CACHE_LINES_BYTES, room);

	if (!t)
		return NULL;
	memset(t, 0, sizeof(*t));
	t->index = index;
	t->engine = g;
	t->work = g->job->work;
	t->quit = &g->quit;
	random_init(&t->random, random_derive(g->job->seed, index));
	hist_init(&t->latency);
	hist_init(&t->sync_latency);
	return t;
}

static void engine_free(struct engine *g)
{
	for (unsigned i = 0; g->threads && i < g->job->threads; i++) {
		if (!g->threads[i])
			continue;
		if (g->threads[i]->prepared && g->job->ops->finish)
			g->job->ops->finish(g->threads[i]);
		err_clear(&g->threads[i]->err);
		free(g->threads[i]);
	}
	free(g->threads);
	free(g->ids);
	free(g);
}
DEFINE_CLEANUP(struct engine *, engine_free)

static int engine_new(struct engine **out, const struct engine_job *job, struct err *e)
{
	_cleanup_(engine_freep) struct engine *g =
		aligned_alloc(CACHE_LINES_BYTES, sizeof(struct engine));

	if (!g)
		return err_set(e, ENOMEM, "%s", job->title);
	*g = (struct engine){.job = job, .failed = -1};
	g->threads = calloc(job->threads, sizeof(struct engine_thread *));
	g->ids = calloc(job->threads, sizeof(*g->ids));
	if (!g->threads || !g->ids)
		return err_set(e, ENOMEM, "%s", job->title);
	for (unsigned i = 0; i < job->threads; i++) {
		g->threads[i] = thread_new(g, i);
		if (!g->threads[i])
			return err_set(e, ENOMEM, "%s: thread %u", job->title, i);
	}
	*out = take_ptr(g);
	return 0;
}

/* Starts all threads with signals blocked.  On error some may be waiting at the start. */
static int create_threads(struct engine *g, struct err *e)
{
	sigset_t all, before;
	pthread_attr_t attr;
	int r = 0;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (r == 0 && g->created < g->job->threads) {
		__atomic_add_fetch(&g->running, 1, __ATOMIC_ACQ_REL);
		r = pthread_create(
			&g->ids[g->created], &attr, thread_main, g->threads[g->created]);
		if (r == 0)
			g->created++;
		else
			__atomic_sub_fetch(&g->running, 1, __ATOMIC_ACQ_REL);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (r)
		return err_set(e, r, "%s: start thread %u", g->job->title, g->created);
	return 0;
}

static int stop_signal(const struct workload_env *env)
{
	return env->stop ? __atomic_load_n(env->stop, __ATOMIC_RELAXED) : 0;
}

static void show_progress(
	const struct engine *g, const struct workload_env *env, uint64_t elapsed_ns)
{
	double seconds = (double)elapsed_ns / NS_PER_S, done = 0, left;
	char left_text[24];
	uint64_t bytes = 0;

	for (unsigned i = 0; i < g->created; i++)
		bytes += __atomic_load_n(&g->threads[i]->bytes, __ATOMIC_RELAXED);
	if (g->job->expected_bytes)
		done = (double)bytes / (double)g->job->expected_bytes;
	if (g->job->pace.runtime_ns)
		done = fmax(done, (double)elapsed_ns / (double)g->job->pace.runtime_ns);
	if (done <= 0 || done >= 1) {
		log_line(env->log, LOG_PROGRESS, "%s: %.0f s%s", g->job->title, seconds,
			done >= 1 ? ", syncing" : "");
		return;
	}
	left = seconds * (1 - done) / done;
	units_format_duration((uint64_t)(left < 1 ? 1 : left) * NS_PER_S, left_text);
	log_line(env->log, LOG_PROGRESS, "%s: %.0f %%, %.1f MiB/s, %s left",
		g->job->title, 100 * done, (double)bytes / seconds / (1 << 20),
		left_text);
}

/* Sleeps until all threads have ended. */
static void watch(struct engine *g, const struct workload_env *env, uint64_t start_ns)
{
	uint64_t next_ns = start_ns + PROGRESS_AFTER_NS;
	unsigned running;

	while ((running = load(&g->running)) > 0) {
		uint64_t now_ns;

		futex_wait(&g->running, running, POLL_NS);
		if (stop_signal(env))
			__atomic_store_n(&g->quit, 1, __ATOMIC_RELAXED);
		now_ns = clock_now_ns();
		if (now_ns >= next_ns) {
			show_progress(g, env, now_ns - start_ns);
			next_ns = now_ns + PROGRESS_EVERY_NS;
		}
	}
}

static void join_threads(struct engine *g)
{
	for (unsigned i = 0; i < g->created; i++)
		pthread_join(g->ids[i], NULL);
}

static void release(struct engine *g, enum go go)
{
	__atomic_store_n(&g->go, go, __ATOMIC_RELEASE);
	futex_wake_all(&g->go);
}

/* What is read around the measured time. */
struct span {
	uint64_t start_ns;
	struct rusage before, after;
	struct result_evidence evidence;
	bool observed;
};

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_usec * NS_PER_US;
}

static void note_start(
	const struct engine *g, const struct workload_env *env, uint64_t spread_ns)
{
	char text[24];

	units_format_duration(spread_ns, text);
	log_line(env->log, LOG_DETAIL, "%s: %u thread%s started within %s", g->job->title,
		g->job->threads, PLURAL(g->job->threads), text);
}

static void merge(struct engine *g, const struct span *span, struct engine_outcome *o)
{
	const struct rusage *before = &span->before, *after = &span->after;
	uint64_t start_ns = span->start_ns;
	struct result_counters *c = &o->counters;
	uint64_t end_ns = start_ns;
	unsigned background = 0;

	for (unsigned i = 0; i < g->job->threads; i++) {
		const struct engine_thread *t = g->threads[i];

		background += t->background;
		if (t->background)
			continue;
		c->operations += t->operations;
		c->bytes += t->bytes;
		c->syncs += t->syncs;
		hist_merge(&o->latency, &t->latency);
		hist_merge(&o->sync_latency, &t->sync_latency);
		end_ns = MAX(end_ns, t->ended_ns);
		o->start_spread_ns = MAX(o->start_spread_ns, t->started_ns - start_ns);
	}
	c->threads = g->job->threads - background;
	c->wall_ns += end_ns - start_ns;
	c->user_ns += timeval_ns(after->ru_utime) - timeval_ns(before->ru_utime);
	c->system_ns += timeval_ns(after->ru_stime) - timeval_ns(before->ru_stime);
	o->evidence = span->evidence;
	o->observed = o->observed || span->observed;
}

/* Between the start of all threads and their join. */
static int measure(struct engine *g, const struct workload_env *env, struct span *span,
	struct err *e)
{
	unsigned ready;
	int r;

	ticks_begin(&g->ticks);
	r = create_threads(g, e);
	while (!r && (ready = load(&g->ready)) < g->job->threads) {
		futex_wait(&g->ready, ready, POLL_NS);
		if (stop_signal(env))
			__atomic_store_n(&g->quit, 1, __ATOMIC_RELAXED);
	}
	if (r || stop_signal(env) || __atomic_load_n(&g->failed, __ATOMIC_ACQUIRE) >= 0) {
		release(g, GO_LEAVE);
		join_threads(g);
		return r;
	}
	ticks_calibrate(&g->ticks);
	if (env->observer)
		env->observer->begin(env->observer->data);
	getrusage(RUSAGE_SELF, &span->before);
	span->start_ns = clock_now_ns();
	g->start_ns = span->start_ns;
	release(g, GO_WORK);
	watch(g, env, span->start_ns);
	getrusage(RUSAGE_SELF, &span->after);
	if (env->observer)
		env->observer->end(env->observer->data, &span->evidence);
	span->observed = env->observer;
	join_threads(g);
	return 0;
}

static int take_error(struct engine_thread *t, struct err *e)
{
	if (e) {
		err_clear(e);
		*e = t->err;
		t->err = (struct err){0};
	}
	return t->status;
}

int engine_run(const struct engine_job *job, const struct workload_env *env,
	struct engine_outcome *o, struct err *e)
{
	_cleanup_(engine_freep) struct engine *g = NULL;
	struct span span = {.evidence = o->evidence};
	int r = engine_new(&g, job, e);

	if (!r)
		r = measure(g, env, &span, e);
	if (r)
		return r;
	if (g->failed >= 0)
		return take_error(g->threads[g->failed], e);
	if (stop_signal(env))
		return err_interrupted(e, stop_signal(env));
	merge(g, &span, o);
	note_start(g, env, o->start_spread_ns);
	return 0;
}

void engine_outcome_init(struct engine_outcome *o)
{
	memset(o, 0, sizeof(*o));
	hist_init(&o->latency);
	hist_init(&o->sync_latency);
}

static int copy_hist(struct hist **out, const struct hist *from, struct err *e)
{
	if (!from->count)
		return 0;
	*out = malloc(sizeof(**out));
	if (!*out)
		return err_set(e, ENOMEM, "histogram");
	**out = *from;
	return 0;
}

static int copy_evidence(struct result_evidence **out, const struct result_evidence *from,
	struct err *e)
{
	*out = malloc(sizeof(**out));
	if (!*out)
		return err_set(e, ENOMEM, "evidence");
	**out = *from;
	return 0;
}

int engine_outcome_add_phase(const struct engine_outcome *o, struct result_run *run,
	const char *name, const char *title, struct result_phase **out, struct err *e)
{
	struct result_phase *phase;
	int r = result_run_add_phase(run, name, title, &phase, e);

	if (r)
		return r;
	phase->counters = o->counters;
	r = copy_hist(&phase->latency, &o->latency, e);
	if (!r)
		r = copy_hist(&phase->sync_latency, &o->sync_latency, e);
	if (!r && o->observed)
		r = copy_evidence(&phase->evidence, &o->evidence, e);
	if (!r)
		r = result_phase_derive_metrics(phase, e);
	if (!r && out)
		*out = phase;
	return r;
}

uint64_t engine_ticks_of(const struct engine_thread *t, uint64_t ns)
{
	const struct ticks *c = &t->ticks;
	uint64_t now_ns = clock_now_ns(), now = ticks_now(c);
	uint64_t ago_ns = now_ns > ns ? now_ns - ns : 0;

	return c->counter ? now - (uint64_t)(((unsigned __int128)ago_ns << 32) / c->scale)
			  : now - ago_ns;
}

bool engine_next_paced(struct engine_thread *t)
{
	uint64_t due_ns;

	if (!pacer_next(&t->pacer, &due_ns))
		return false;
	if (!due_ns)
		return engine_next(t);
	if (!pace_sleep(due_ns, t->quit))
		return false;
	t->begun_ticks = t->pacer.pace->rate > 0 ? engine_ticks_of(t, due_ns)
						 : ticks_now(&t->ticks);
	return true;
}

bool engine_foreground_ended(const struct engine_thread *t)
{
	return !load(&t->engine->foreground);
}

int engine_sync(
	struct engine_thread *t, int fd, bool data_only, const char *name, struct err *e)
{
	uint64_t before_ns = clock_now_ns();

	if (data_only ? fdatasync(fd) : fsync(fd))
		return err_set(e, errno, "sync %s", name);
	hist_record(&t->sync_latency, clock_now_ns() - before_ns);
	t->syncs++;
	return 0;
}
