/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inject [OPTION...] DIR - runs the program of the recorded case DIR again and again,
 * each time with another operation failing, or killed before it.
 *
 *   --recorder=FILE   recorder.so
 *   --statuses        the program keeps to our exit statuses: 4 = volume as before,
 *                     7 = needs recover
 *   --share=N         do every Nth run of each kind (1: all); --seed=N moves the choice
 *   --jobs=N          workers (2)
 *   --tolerate=LETTERS  faults that are counted but do not make a run bad
 *   --keep=DIR        put what was said in bad runs there
 *   --only=N          one run only, and show everything
 *
 * For every N: operation N fails with EIO, ENOSPC, or half of it is done; once, for ever
 * (all of its kind on that device), or the device is dead from then on; and the program
 * is killed before operation N. Then:
 *
 *   S  it said that it was done (status 0), and it is not
 *   N  it failed, and its message does not name the device
 *   T  its status says what is not true
 *
 * and what it left is judged like any other state (judge.c, letters B to R), with the
 * records that it left for itself.
 *
 * Prints one line per kind of failure and the sum. Exit status: 0, 1 if a run is bad, 2.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pool.h"
#include "tracelog.h"

#define KEEP_MAX 25u
#define RUN_SECONDS 120
#define TRACE_PATH SANDBOX_HOME "/trace"
#define RECORDS_PATH SANDBOX_HOME "/records"
#define STATUS_KILLED 137
#define STATUS_AS_BEFORE 4
#define STATUS_NEEDS_RECOVER 7

static const struct failure {
	const char *kind, *action, *extent;
} failures[] = {
	{"write", "eio", "once"},
	{"write", "eio", "ever"},
	{"write", "enospc", "once"},
	{"write", "enospc", "ever"},
	{"write", "short", "once"},
	{"write", "short", "ever"},
	{"sync", "eio", "once"},
	{"sync", "eio", "ever"},
	{"sync", "enospc", "once"},
	{"sync", "enospc", "ever"},
	{"any", "eio", "dead"},
	{"any", "kill", "once"},
};

struct run {
	const struct failure *failure;
	uint32_t at; /* number of the operation of this kind */
};

struct options {
	const char *recorder, *keep;
	bool statuses;
	unsigned int tolerated, jobs;
	uint64_t share, seed;
	int64_t only;
};

struct context {
	const struct options *o;
	const struct subject *subject;
	struct run *run;
	uint32_t n_runs, *kept;
};

/* Each kind has as many runs as the recorded run had operations of it. */
static void plan(struct context *c, const struct trace *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(failures); i++) {
		const struct failure *f = &failures[i];
		uint32_t n = !strcmp(f->kind, "write")	? t->header->writes
			     : !strcmp(f->kind, "sync") ? t->header->syncs
							: t->header->ops;

		c->run = xrealloc(c->run, (c->n_runs + n) * sizeof(*c->run));
		for (uint32_t at = 1; at <= n; at++)
			if ((at + i + c->o->seed) % c->o->share == 0)
				c->run[c->n_runs++] = (struct run){f, at};
	}
}

static char *describe(const struct context *c, uint32_t n)
{
	const struct run *r = &c->run[n];

	return xasprintf("run %u: %s %s at %s operation %u", n, r->failure->action,
		r->failure->extent, r->failure->kind, r->at);
}

static void set_environment(
	const struct bench *b, const struct context *c, const struct run *r)
{
	char *fault = xasprintf("%s:%u:%s:%s", r->failure->kind, r->at,
		r->failure->action, r->failure->extent);
	char devices[128] = "";

	for (unsigned int i = 0; i < b->sandbox.n_disks; i++)
		snprintf(devices + strlen(devices), sizeof(devices) - strlen(devices),
			"%s%u:%u", i ? "," : "", b->sandbox.disk[i].major_number,
			b->sandbox.disk[i].minor_number);
	setenv("JBDLAB_TRACE_FAULT", fault, 1);
	setenv("JBDLAB_TRACE_DEVICES", devices, 1);
	setenv("JBDLAB_TRACE_LOG", TRACE_PATH, 1);
	setenv("RECORDER", c->o->recorder, 1);
	setenv("SUBJECT", c->subject->command, 1);
	free(fault);
}

static void new_trace(void)
{
	int fd = open(TRACE_PATH, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, TRACE_HEADER_BYTES))
		die_errno("make %s", TRACE_PATH);
	close(fd);
}

static struct trace_header read_header(void)
{
	int fd = open(TRACE_PATH, O_RDONLY | O_CLOEXEC);
	struct trace_header h;

	if (fd < 0 || read(fd, &h, sizeof(h)) != sizeof(h))
		die_errno("read %s", TRACE_PATH);
	close(fd);
	return h;
}

/* Does the log of this run, which is all in it so far, name the device? */
static bool says(struct bench *b, const char *path)
{
	char *log = NULL;
	off_t bytes = lseek(b->log_fd, 0, SEEK_END);
	bool found;

	log = xcalloc((size_t)bytes + 1, 1);
	if (pread(b->log_fd, log, (size_t)bytes, 0) != bytes)
		die_errno("read %s", BENCH_LOG);
	found = strstr(log, path);
	free(log);
	return found;
}

static unsigned int check_success(struct bench *b)
{
	if (!bench_finished(b, &b->subject->to, false))
		return 0;
	return bench_found(b, FAULT_FALSE_SUCCESS, "status 0, but it is not finished");
}

static unsigned int check_as_before(struct bench *b)
{
	struct placement goal = b->subject->from, now;

	/* The new journal device may have been formatted; it has no user, or it is as it
	 * was. */
	bench_placement(b, &now);
	memcpy(goal.users, now.users, sizeof(goal.users));
	if (!bench_finished(b, &goal, false))
		return 0;
	return bench_found(b, FAULT_STATUS, "status %d, but the volume is not as before",
		STATUS_AS_BEFORE);
}

static unsigned int check_failure(
	struct bench *b, const struct context *c, int status, uint32_t device, bool named)
{
	unsigned int faults = 0;

	if (!named)
		faults |= bench_found(b, FAULT_UNNAMED, "the message does not name %s",
			b->sandbox.disk[device].path);
	if (!c->o->statuses)
		return faults;
	if (status == STATUS_AS_BEFORE)
		faults |= check_as_before(b);
	else if (status != STATUS_NEEDS_RECOVER)
		faults |= bench_found(
			b, FAULT_STATUS, "status %d after an I/O error", status);
	return faults;
}

/* Judged on the devices as they are; they are captured before, as this mounts them. */
static unsigned int check_status(struct bench *b, const struct context *c,
	const struct run *r, int status, uint32_t device)
{
	bool named = says(b, b->sandbox.disk[device].path);

	/* Not the program itself but e2fsck, its child, may have been killed. */
	if (!strcmp(r->failure->action, "kill")) {
		if (status == STATUS_KILLED)
			return 0;
		named = true;
	}
	if (!status)
		return check_success(b);
	return check_failure(b, c, status, device, named);
}

static void keep(const struct context *c, struct bench *b, uint32_t n)
{
	char *title = describe(c, n);
	char *path = c->o->only >= 0 ? xasprintf("/dev/stdout")
				     : xasprintf("%s/run-%u.log", c->o->keep, n);

	bench_keep_log(b, path, title);
	free(title);
	free(path);
}

static bool is_bad(const struct context *c, const struct verdict *v)
{
	return v->faults & ~c->o->tolerated;
}

static void judge(struct bench *b, uint32_t job, struct verdict *v, const void *context)
{
	const struct context *c = context;
	uint32_t n = c->o->only >= 0 ? (uint32_t)c->o->only : job;
	struct judge_opts o = {.mounts = true, .ways = UINT32_MAX};
	struct trace_header h;

	for (unsigned int i = 0; i < b->subject->n_disks; i++)
		image_reset(&b->subject->img[i]);
	bench_store(b);
	bench_recall(b, NULL);
	new_trace();
	set_environment(b, c, &c->run[n]);
	bench_start(b);
	v->status =
		bench_run(b, "LD_PRELOAD=$RECORDER exec sh -c \"$SUBJECT\"", RUN_SECONDS);
	h = read_header();
	v->mounted = h.fired;
	bench_capture(b);
	bench_remember(b, RECORDS_PATH);
	o.records = has_files(RECORDS_PATH) ? RECORDS_PATH : NULL;
	if (h.fired)
		v->faults = check_status(b, c, &c->run[n], v->status, h.fault_device - 1);
	v->faults |= bench_judge(b, &o);
	if (c->o->only >= 0 ||
		(is_bad(c, v) && c->o->keep &&
			__atomic_fetch_add(c->kept, 1, __ATOMIC_SEQ_CST) < KEEP_MAX))
		keep(c, b, n);
}

struct tally {
	uint32_t runs, reached, done, before, other, bad;
	uint32_t faults[N_FAULTS];
};

static void count(const struct context *c, struct tally *t, const struct verdict *v)
{
	t->runs++;
	t->reached += v->mounted;
	t->done += v->status == 0;
	t->before += v->status == STATUS_AS_BEFORE;
	t->other += v->status != 0 && v->status != STATUS_AS_BEFORE;
	t->bad += is_bad(c, v);
	for (int i = 0; i < N_FAULTS; i++)
		t->faults[i] += !!(v->faults & (1u << i));
}

static void print_row(const char *name, const char *what, const struct tally *t)
{
	printf("%-18s %-17s %4u %4u %4u %4u %4u", name, what, t->runs, t->reached,
		t->done, t->before, t->other);
	for (int i = 0; i < N_FAULTS; i++)
		printf(" %3u", t->faults[i]);
	printf(" %4u\n", t->bad);
}

static void list_bad(const struct context *c, const struct verdict *v)
{
	char letters[N_FAULTS + 1], *path, *text;
	FILE *f;

	if (!c->o->keep)
		return;
	path = xasprintf("%s/bad", c->o->keep);
	f = fopen(path, "we");
	if (!f)
		die_errno("write %s", path);
	for (uint32_t i = 0; i < c->n_runs; i++) {
		if (!is_bad(c, &v[i]))
			continue;
		fault_letters(v[i].faults, letters);
		text = describe(c, i);
		fprintf(f, "%s %s: status %d\n    %s\n", letters, text, v[i].status,
			v[i].reason);
		free(text);
	}
	if (fclose(f))
		die_errno("write %s", path);
	free(path);
}

static uint32_t report(const struct context *c, const struct verdict *v)
{
	struct tally all = {0};

	for (size_t k = 0; k < ARRAY_SIZE(failures); k++) {
		const struct failure *f = &failures[k];
		char *what = xasprintf("%s %s %s", f->kind, f->action, f->extent);
		struct tally t = {0};

		for (uint32_t i = 0; i < c->n_runs; i++)
			if (c->run[i].failure == f)
				count(c, &t, &v[i]);
		print_row(c->subject->name, what, &t);
		free(what);
	}
	for (uint32_t i = 0; i < c->n_runs; i++)
		count(c, &all, &v[i]);
	print_row(c->subject->name, "all", &all);
	printf("%s: runs %u, bad %u (%u said done, %u false)\n", c->subject->name,
		all.runs, all.bad, all.done, all.faults[FAULT_FALSE_SUCCESS_COLUMN]);
	return all.bad;
}

static const struct option long_options[] = {
	{"recorder", required_argument, NULL, 'r'},
	{"statuses", no_argument, NULL, 's'},
	{"share", required_argument, NULL, 'h'},
	{"seed", required_argument, NULL, 'e'},
	{"tolerate", required_argument, NULL, 't'},
	{"jobs", required_argument, NULL, 'j'},
	{"keep", required_argument, NULL, 'k'},
	{"only", required_argument, NULL, 'o'},
	{NULL, 0, NULL, 0},
};

static void parse_options(struct options *o, int argc, char **argv)
{
	int c;

	*o = (struct options){.jobs = 2, .share = 1, .seed = 1, .only = -1};
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) >= 0) {
		if (c == 'r')
			o->recorder = optarg;
		else if (c == 's')
			o->statuses = true;
		else if (c == 't')
			o->tolerated = fault_tolerated(optarg);
		else if (c == 'j')
			o->jobs = (unsigned int)atoi(optarg);
		else if (c == 'h')
			o->share = strtoull(optarg, NULL, 10);
		else if (c == 'e')
			o->seed = strtoull(optarg, NULL, 10);
		else if (c == 'k')
			o->keep = optarg;
		else if (c == 'o')
			o->only = atoll(optarg);
		else
			exit(2);
	}
	if (optind + 1 != argc || !o->recorder || !o->jobs || !o->share)
		die("usage: inject --recorder=FILE [OPTION...] DIR");
}

int main(int argc, char **argv)
{
	struct options o;
	struct subject subject;
	struct trace trace;
	struct context c = {.o = &o, .subject = &subject};
	struct pool pool = {.subject = &subject, .judge = judge, .context = &c};
	const struct verdict *v;
	char *path;

	parse_options(&o, argc, argv);
	subject_load(&subject, argv[optind]);
	path = xasprintf("%s/trace", argv[optind]);
	trace_load(&trace, path);
	free(path);
	plan(&c, &trace);
	c.kept = pool_share(sizeof(*c.kept));
	if (o.only >= c.n_runs)
		die("there are %u runs", c.n_runs);
	pool.n_jobs = o.only >= 0 ? 1 : c.n_runs;
	pool.n_workers = o.only >= 0 ? 1 : o.jobs;
	v = pool_run(&pool);
	if (o.only >= 0)
		return is_bad(&c, &v[0]) ? 1 : 0;
	list_bad(&c, v);
	return report(&c, v) ? 1 : 0;
}
