/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The children of `throughput`, processes or threads; see throughput.h.
 *
 * What they and the parent share lies in memory that survives fork(2); words in it are
 * waited for with futexes, which work between processes as well.  A child opens its file,
 * reports that it is ready, waits for the release, and does its records.  The parent's
 * time ends when the last child has been joined.
 *
 * A process that was killed reports nothing: the parent looks for dead children while it
 * waits.  And if the parent is killed the kernel kills its children.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "core/privilege.h"
#include "workload/pacing.h"
#include "workload/payload.h"
#include "workload/throughput.h"

#define POLL_NS (100 * NS_PER_MS)

enum { GO_WAIT, GO_WORK, GO_LEAVE };

struct child {
	struct crew *crew;
	unsigned index;
	int status; /* 0 or -errno */
	enum err_kind kind;
	char message[512];
	struct throughput_child done; /* frozen, or at the end */
	uint64_t bytes, records, syncs, ended_ns;
	struct hist latency, sync_latency;

	/* The parent's. */
	pid_t pid;
	pthread_t thread;
	bool created, joined;
} __attribute__((aligned(128)));

struct crew {
	const struct throughput_phase *p;
	unsigned ready, ended, go, stonewall, quit;
	uint64_t start_ns;
	struct child children[];
};

static unsigned load(const unsigned *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void raise_word(unsigned *word, unsigned value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX);
}

static void add_one(unsigned *word)
{
	__atomic_add_fetch(word, 1, __ATOMIC_ACQ_REL);
	syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX);
}

static void wait_for_change(const unsigned *word, unsigned value)
{
	const struct timespec t = {.tv_nsec = POLL_NS};

	syscall(SYS_futex, word, FUTEX_WAIT, value, &t);
}

static int open_file(const struct throughput_phase *p, const char *path, struct err *e)
{
	int flags = p->open_flags | O_CLOEXEC | (p->write ? O_WRONLY : O_RDONLY) |
		    (p->create ? O_CREAT | O_EXCL : 0);
	int fd = open(path, flags, 0600);

	return fd < 0 ? err_set(e, errno, "%s %s", p->create ? "create" : "open", path) : fd;
}

static int transfer(const struct throughput_phase *p, int fd, const char *path,
	struct payload *payload, uint64_t at, struct err *e)
{
	const char *verb = p->write ? "write" : "read";
	char *bytes = (char *)payload->block;

	for (uint64_t done = 0; done < p->record_bytes;) {
		size_t rest = p->record_bytes - done;
		ssize_t n = p->write ? pwrite(fd, bytes + done, rest, (off_t)(at + done))
				     : pread(fd, bytes + done, rest, (off_t)(at + done));

		if (n < 0)
			return err_set(e, errno, "%s %s at byte %llu", verb, path,
				(unsigned long long)(at + done));
		if (!n)
			return err_say(e, EIO, "%s %s at byte %llu: short %s", verb, path,
				(unsigned long long)(at + done), verb);
		done += (uint64_t)n;
	}
	return 0;
}

static int sync_file(struct child *c, int fd, const char *path, struct err *e)
{
	const struct throughput_phase *p = c->crew->p;
	uint64_t before_ns = clock_now_ns();

	if (p->sync.kind == SYNCING_FSYNC ? fsync(fd) : fdatasync(fd))
		return err_set(e, errno, "sync %s", path);
	hist_record(&c->sync_latency, clock_now_ns() - before_ns);
	c->syncs++;
	return 0;
}

/* The first one that had ended froze the statistics of the others. */
static void freeze(struct child *c)
{
	c->done.bytes = c->bytes;
	c->done.elapsed_ns = clock_now_ns() - c->crew->start_ns;
}

/* Waits for the turn of the next record; *begun_ns is when its latency begins. */
static bool next_record(struct child *c, struct pacer *pacer, uint64_t *begun_ns)
{
	unsigned *quit = &c->crew->quit;
	uint64_t due_ns = 0;

	if (load(quit) || (pacing_is_on(pacer->pace) && !pacer_next(pacer, &due_ns)))
		return false;
	if (!due_ns)
		return true;
	if (!pace_sleep(due_ns, (const int *)quit))
		return false;
	*begun_ns = pacer->pace->rate > 0 ? due_ns : clock_now_ns();
	return true;
}

static int do_record(struct child *c, int fd, const char *path, struct payload *payload,
	uint64_t i, struct err *e)
{
	const struct throughput_phase *p = c->crew->p;
	uint64_t place = i;
	int r;

	if (p->random)
		place = throughput_shuffled(
			i, p->records, random_derive(p->seed, c->index));
	if (p->write)
		payload_next(payload);
	r = transfer(p, fd, path, payload, place * p->record_bytes, e);
	if (!r && p->write && syncing_is_due(&p->sync, i + 1))
		r = sync_file(c, fd, path, e);
	return r;
}

/* The records, then what ends a file; *frozen: the stonewall froze the statistics. */
static int do_records(struct child *c, int fd, const char *path, struct payload *payload,
	bool *frozen, struct err *e)
{
	const struct throughput_phase *p = c->crew->p;
	struct pacer pacer = {.pace = &p->pace,
		.start_ns = c->crew->start_ns,
		.index = c->index,
		.threads = p->children};
	uint64_t now_ns = c->crew->start_ns;

	for (uint64_t i = 0; i < p->records; i++) {
		uint64_t begun_ns = now_ns;
		int r;

		if (!next_record(c, &pacer, &begun_ns))
			break;
		if (!*frozen && p->stonewall && load(&c->crew->stonewall)) {
			*frozen = true;
			freeze(c);
		}
		r = do_record(c, fd, path, payload, i, e);
		if (r)
			return r;
		now_ns = clock_now_ns();
		hist_record(&c->latency, now_ns > begun_ns ? now_ns - begun_ns : 0);
		c->records++;
		c->syncs += p->write && p->open_flags & (O_SYNC | O_DSYNC);
		__atomic_store_n(&c->bytes, c->bytes + p->record_bytes, __ATOMIC_RELAXED);
	}
	return p->write && syncing_calls(&p->sync) ? sync_file(c, fd, path, e) : 0;
}

static int work(struct child *c, int *fd, struct payload *payload, struct err *e)
{
	const struct throughput_phase *p = c->crew->p;
	const char *path = p->files->paths[c->index];
	bool frozen = false;
	int r = do_records(c, *fd, path, payload, &frozen, e);

	if (!r && p->with_close && close(take_fd(*fd)))
		r = err_set(e, errno, "close %s", path);
	c->ended_ns = clock_now_ns();
	if (!frozen) {
		c->done.bytes = c->bytes;
		c->done.elapsed_ns = c->ended_ns - c->crew->start_ns;
		raise_word(&c->crew->stonewall, 1);
	}
	if (!r && *fd >= 0 && close(take_fd(*fd)))
		r = err_set(e, errno, "close %s", path);
	return r;
}

static void report_error(struct child *c, int status, const struct err *e)
{
	c->status = status;
	c->kind = e->kind;
	snprintf(c->message, sizeof(c->message), "%s", err_message(e));
	raise_word(&c->crew->quit, 1);
}

static void *child_main(void *data)
{
	_cleanup_(err_clear) struct err e = {0};
	struct child *c = data;
	const struct throughput_phase *p = c->crew->p;
	struct payload payload = {0};
	int r = privilege_limit(PRIVILEGE_WORK), fd = -1;

	if (r)
		err_set(&e, -r, "give up capabilities");
	else if ((fd = open_file(p, p->files->paths[c->index], &e)) < 0)
		r = fd;
	if (!r)
		r = payload_init(
			&payload, p->record_bytes, random_derive(~p->seed, c->index), &e);
	if (r)
		report_error(c, r, &e);
	add_one(&c->crew->ready);
	while (load(&c->crew->go) == GO_WAIT)
		wait_for_change(&c->crew->go, GO_WAIT);
	if (!r && load(&c->crew->go) == GO_WORK) {
		r = work(c, &fd, &payload, &e);
		if (r)
			report_error(c, r, &e);
	}
	if (fd >= 0)
		close(fd);
	payload_deinit(&payload);
	add_one(&c->crew->ended);
	return NULL;
}

/* A child process leaves without the parent's clean-up: it must not remove files. */
static void process_main(struct child *c, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		child_main(c);
	_exit(0);
}

/* Signals are the parent's: the children see `quit`. */
static int create_children(struct crew *w, struct err *e)
{
	sigset_t all, before;
	pid_t parent = getpid();
	int r = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (unsigned i = 0; !r && i < w->p->children; i++) {
		struct child *c = &w->children[i];

		if (!w->p->processes) {
			r = pthread_create(&c->thread, NULL, child_main, c);
		} else {
			/* Not into c at once: that is the child's memory, too. */
			pid_t pid = fork();

			if (!pid)
				process_main(c, parent);
			c->pid = pid;
			r = pid < 0 ? errno : 0;
		}
		c->created = !r;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r ? err_set(e, r, "start a child") : 0;
}

/* Collects processes that have ended; one that did not end by itself is an error. */
static int reap(struct crew *w, bool wait, struct err *e)
{
	int r = 0;

	for (unsigned i = 0; i < w->p->children; i++) {
		struct child *c = &w->children[i];
		int status;

		if (!c->created || c->joined)
			continue;
		if (!w->p->processes) {
			if (wait)
				c->joined = !pthread_join(c->thread, NULL);
			continue;
		}
		if (waitpid(c->pid, &status, wait ? 0 : WNOHANG) != c->pid)
			continue;
		c->joined = true;
		if (!WIFSIGNALED(status) || r)
			continue;
		raise_word(&w->quit, 1);
		r = err_say(e, ECHILD, "child %u was killed by signal %d", i,
			WTERMSIG(status));
	}
	return r;
}

static int stop_signal(const struct workload_env *env)
{
	return env->stop ? __atomic_load_n(env->stop, __ATOMIC_RELAXED) : 0;
}

/* Until as many children as there are have added to *word. */
static int watch(struct crew *w, const unsigned *word, const struct workload_env *env,
	struct err *e)
{
	uint64_t begun_ns = clock_now_ns(), next_ns = begun_ns + 2 * NS_PER_S;
	unsigned now;

	while ((now = load(word)) < w->p->children) {
		int r;

		wait_for_change(word, now);
		if (stop_signal(env))
			raise_word(&w->quit, 1);
		if (clock_now_ns() >= next_ns) {
			log_line(env->log, LOG_PROGRESS, "%s: %.0f s", w->p->title,
				(double)(clock_now_ns() - begun_ns) / NS_PER_S);
			next_ns += NS_PER_S;
		}
		r = reap(w, false, e);
		if (r)
			return r;
	}
	return 0;
}

static int first_error(const struct crew *w, const struct workload_env *env, struct err *e)
{
	for (unsigned i = 0; i < w->p->children; i++) {
		const struct child *c = &w->children[i];

		if (!c->status)
			continue;
		err_say(e, -c->status, "%s", c->message);
		if (e)
			e->kind = c->kind;
		return c->status;
	}
	return stop_signal(env) ? err_interrupted(e, stop_signal(env)) : 0;
}

static uint64_t cpu_ns(const struct timeval *a, const struct timeval *b)
{
	return (uint64_t)(a->tv_sec + b->tv_sec) * NS_PER_S +
	       (uint64_t)(a->tv_usec + b->tv_usec) * NS_PER_US;
}

/* CPU time of this process and its ended children. */
static void read_cpu(uint64_t *user_ns, uint64_t *system_ns)
{
	struct rusage self, children;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	*user_ns = cpu_ns(&self.ru_utime, &children.ru_utime);
	*system_ns = cpu_ns(&self.ru_stime, &children.ru_stime);
}

static int measure(struct crew *w, const struct workload_env *env,
	struct throughput_outcome *o, uint64_t *parent_ns, struct err *e)
{
	const struct workload_observer *observer = env->observer;
	struct result_counters *c = &o->engine.counters;
	uint64_t user_ns, system_ns;
	int r = create_children(w, e);

	if (!r)
		r = watch(w, &w->ready, env, e);
	if (r || load(&w->quit)) {
		raise_word(&w->go, GO_LEAVE);
		reap(w, true, NULL);
		return r ? r : first_error(w, env, e);
	}
	if (observer)
		observer->begin(observer->data);
	read_cpu(&user_ns, &system_ns);
	w->start_ns = clock_now_ns();
	raise_word(&w->go, GO_WORK);
	r = watch(w, &w->ended, env, e);
	if (!r)
		r = reap(w, true, e);
	*parent_ns = clock_now_ns() - w->start_ns;
	reap(w, true, NULL);
	read_cpu(&c->user_ns, &c->system_ns);
	c->user_ns -= user_ns;
	c->system_ns -= system_ns;
	if (observer)
		observer->end(observer->data, &o->engine.evidence);
	o->engine.observed = observer;
	return r ? r : first_error(w, env, e);
}

static int merge(const struct crew *w, uint64_t parent_ns, struct throughput_outcome *o,
	struct err *e)
{
	_cleanup_free_ struct throughput_child *done =
		calloc(w->p->children, sizeof(*done));
	struct result_counters *counters = &o->engine.counters;

	if (!done)
		return err_set(e, ENOMEM, "children");
	o->first_done_ns = UINT64_MAX;
	for (unsigned i = 0; i < w->p->children; i++) {
		const struct child *c = &w->children[i];

		done[i] = c->done;
		counters->operations += c->records;
		counters->bytes += c->bytes;
		counters->syncs += c->syncs;
		hist_merge(&o->engine.latency, &c->latency);
		hist_merge(&o->engine.sync_latency, &c->sync_latency);
		o->first_done_ns = MIN(o->first_done_ns, c->ended_ns - w->start_ns);
		o->last_done_ns = MAX(o->last_done_ns, c->ended_ns - w->start_ns);
	}
	counters->threads = w->p->children;
	counters->wall_ns = o->last_done_ns;
	counters->block_bytes = w->p->record_bytes;
	o->figures = throughput_figures(done, w->p->children, parent_ns);
	return 0;
}

int throughput_run_crew(const struct throughput_phase *p, const struct workload_env *env,
	struct throughput_outcome *o, struct err *e)
{
	size_t size = sizeof(struct crew) + p->children * sizeof(struct child);
	uint64_t parent_ns = 0;
	struct crew *w = mmap(
		NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int r;

	if (w == MAP_FAILED)
		return err_set(e, errno, "memory of %u children", p->children);
	w->p = p;
	for (unsigned i = 0; i < p->children; i++) {
		struct child *c = &w->children[i];

		c->crew = w;
		c->index = i;
		hist_init(&c->latency);
		hist_init(&c->sync_latency);
	}
	r = measure(w, env, o, &parent_ns, e);
	if (!r)
		r = merge(w, parent_ns, o, e);
	munmap(w, size);
	return r;
}
