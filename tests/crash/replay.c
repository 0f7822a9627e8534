/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay [OPTION...] DIR - judges every state in which the recorded case DIR can be cut.
 *
 *   --models=K,P4096,P512   which (default: all)
 *   --cap=N                 combinations per flush, above which they are sampled (300)
 *   --seed=N                of the samples (1)
 *   --mount-share=N         judge 1 state in N with mounts and resumption, the others
 * with e2fsck alone (1: all)
 *   --one-way               try one of the ways to go on for each state, not all
 *   --tolerate=LETTERS      faults that are counted but do not make a state bad
 *   --jobs=N                workers (2)
 *   --keep=DIR              put what was said about bad states there
 *   --only=N                judge one state only, and show everything
 *   --dump=N:DIR            write the devices of one state to DIR, and end
 *
 * Prints one line per model and the sum. Exit status: 0, 1 if a state is bad, 2 trouble.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "states.h"

#define KEEP_MAX 25u

struct options {
	struct states_opts states;
	uint32_t mount_share;
	unsigned int tolerated, jobs;
	bool one_way;
	const char *keep, *dump;
	int64_t only;
};

struct context {
	const struct options *o;
	const struct states *states;
	const struct trace *trace;
	const struct subject *subject;
	const char *dir;
	uint32_t *kept;
};

struct tally {
	uint32_t states, mounted, good, bad;
	uint32_t faults[N_FAULTS];
};

static char *describe(const struct context *c, uint32_t n)
{
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	if (!f)
		die("out of memory");
	fprintf(f, "state %u: ", n);
	state_describe(f, &c->states->state[n], c->trace, c->subject->disk);
	fclose(f);
	return text;
}

static void keep(const struct context *c, struct bench *b, uint32_t n)
{
	char *title = describe(c, n);
	char *path = xasprintf("%s/state-%u.log", c->o->keep, n);

	bench_keep_log(b, path, title);
	free(title);
	free(path);
}

/* Everything that was said about one state, to stdout. */
static void show(const struct context *c, struct bench *b, uint32_t n)
{
	char *title = describe(c, n);

	bench_keep_log(b, "/dev/stdout", title);
	free(title);
}

/* Which states get the expensive judgement follows from the seed alone. */
static bool in_share(const struct context *c, uint32_t n, uint32_t share, uint64_t salt)
{
	return n == 0 || n + 1 == c->states->n || share <= 1 ||
	       hash_bytes(&n, sizeof(n), c->o->states.seed * 16 + salt) % share == 0;
}

/* All ways, or for brevity one that follows from the seed. */
static uint32_t ways_for(const struct context *c, uint32_t n)
{
	uint32_t ways = c->subject->n_ways;

	if (!c->o->one_way || c->o->only >= 0 || !ways)
		return UINT32_MAX;
	return 1u << hash_bytes(&n, sizeof(n), c->o->states.seed * 16 + 3) % ways;
}

/*
 * DIR/records/N is what the program had recorded for itself before operation N, as far as
 * that differs from the one before. Return: an owned path, or NULL if it had nothing.
 */
static char *records_at(const struct context *c, uint32_t n)
{
	uint32_t at = c->states->state[n].at;
	uint32_t number = at < c->trace->n ? c->trace->op[at].number : UINT32_MAX;
	char *path = xasprintf("%s/records", c->dir);
	unsigned long best = 0;
	struct dirent *entry;
	DIR *d = opendir(path);

	while (d && (entry = readdir(d))) {
		unsigned long found = strtoul(entry->d_name, NULL, 10);

		if (found > best && found <= number)
			best = found;
	}
	if (d)
		closedir(d);
	free(path);
	path = xasprintf("%s/records/%lu", c->dir, best);
	if (best && has_files(path))
		return path;
	free(path);
	return NULL;
}

static void judge(struct bench *b, uint32_t job, struct verdict *v, const void *context)
{
	const struct context *c = context;
	uint32_t n = c->o->only >= 0 ? (uint32_t)c->o->only : job;
	struct judge_opts o = {0};

	o.mounts = c->o->only >= 0 || in_share(c, n, c->o->mount_share, 1);
	o.brim = in_share(c, n, 8, 2);
	o.ways = ways_for(c, n);
	o.records = records_at(c, n);
	state_make(&c->states->state[n], c->trace, b->subject->img);
	v->mounted = o.mounts;
	v->faults = bench_judge(b, &o);
	if (c->o->only >= 0)
		show(c, b, n);
	if ((v->faults & ~c->o->tolerated) && c->o->keep &&
		__atomic_fetch_add(c->kept, 1, __ATOMIC_SEQ_CST) < KEEP_MAX)
		keep(c, b, n);
}

static void count(struct tally *t, const struct verdict *v, unsigned int tolerated)
{
	const unsigned int not_good =
		FAULT_PREEN | FAULT_INCONSISTENT | FAULT_REFUSED | FAULT_LOST;

	t->states++;
	t->mounted += v->mounted;
	t->good += !(v->faults & not_good);
	t->bad += !!(v->faults & ~tolerated);
	for (int i = 0; i < N_FAULTS; i++)
		t->faults[i] += !!(v->faults & (1u << i));
}

static void print_row(const char *name, const char *model, const struct tally *t)
{
	printf("%-18s %-6s %6u %6u", name, model, t->states, t->mounted);
	for (int i = 0; i < N_STATE_FAULTS; i++)
		printf(" %5u", t->faults[i]);
	printf(" %6u %5u\n", t->good, t->bad);
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
	for (uint32_t i = 0; i < c->states->n; i++) {
		if (!(v[i].faults & ~c->o->tolerated))
			continue;
		fault_letters(v[i].faults, letters);
		text = describe(c, i);
		fprintf(f, "%s %s\n    %s\n", letters, text, v[i].reason);
		free(text);
	}
	if (fclose(f))
		die_errno("write %s", path);
	free(path);
}

/* Prints the table. Return: the number of bad states. */
static uint32_t report(const struct context *c, const struct verdict *v)
{
	struct tally all = {0};

	for (int m = 0; m < N_MODELS; m++) {
		struct tally t = {0};

		for (uint32_t i = 0; i < c->states->n; i++)
			if (c->states->state[i].models & (1u << m))
				count(&t, &v[i], c->o->tolerated);
		if (c->o->states.wanted[m])
			print_row(c->subject->name, model_names[m], &t);
	}
	for (uint32_t i = 0; i < c->states->n; i++)
		count(&all, &v[i], c->o->tolerated);
	print_row(c->subject->name, "all", &all);
	printf("%s: states %u, bad %u (%u operations; '%s; %s' to '%s; %s'; %u flushes "
	       "sampled)\n",
		c->subject->name, all.states, all.bad, c->trace->n, c->subject->from.text,
		c->subject->from.users, c->subject->to.text, c->subject->to.users,
		c->states->sampled);
	return all.bad;
}

/* The recording must explain the whole difference between start and end. */
static void verify(struct subject *s, const struct trace *t, const char *dir)
{
	trace_apply(t, s->img);
	for (unsigned int i = 0; i < s->n_disks; i++) {
		char *path = xasprintf("%s/%s.end", dir, s->disk[i]);
		int64_t at = image_differs(&s->img[i], path);

		if (at >= 0)
			die("%s: %s differs at %lld from what was recorded", s->name,
				s->disk[i], (long long)at);
		image_reset(&s->img[i]);
		free(path);
	}
}

static void dump(const struct context *c, struct image *img)
{
	char *end;
	unsigned long n = strtoul(c->o->dump, &end, 10);

	if (*end != ':' || n >= c->states->n)
		die("--dump: '%s' is not N:DIR", c->o->dump);
	state_make(&c->states->state[n], c->trace, img);
	for (unsigned int i = 0; i < c->subject->n_disks; i++) {
		char *path = xasprintf("%s/%s.img", end + 1, c->subject->disk[i]);

		image_save(&img[i], path);
		free(path);
	}
	puts(describe(c, (uint32_t)n));
}

static void parse_models(struct options *o, const char *list)
{
	memset(o->states.wanted, 0, sizeof(o->states.wanted));
	while (*list) {
		size_t len = strcspn(list, ","), m;

		for (m = 0; m < N_MODELS; m++)
			if (strlen(model_names[m]) == len &&
				!strncmp(list, model_names[m], len))
				break;
		if (m == N_MODELS)
			die("--models: '%s' is not known", list);
		o->states.wanted[m] = true;
		list += len + (list[len] == ',');
	}
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (end == text || *end)
		die("'%s' is not a number", text);
	return n;
}

static const struct option long_options[] = {
	{"models", required_argument, NULL, 'm'},
	{"cap", required_argument, NULL, 'c'},
	{"seed", required_argument, NULL, 's'},
	{"mount-share", required_argument, NULL, 'r'},
	{"one-way", no_argument, NULL, 'w'},
	{"tolerate", required_argument, NULL, 't'},
	{"jobs", required_argument, NULL, 'j'},
	{"keep", required_argument, NULL, 'k'},
	{"only", required_argument, NULL, 'o'},
	{"dump", required_argument, NULL, 'd'},
	{NULL, 0, NULL, 0},
};

static void set_option(struct options *o, int c)
{
	switch (c) {
	case 'm':
		parse_models(o, optarg);
		break;
	case 'c':
		o->states.cap = (uint32_t)number(optarg);
		break;
	case 's':
		o->states.seed = number(optarg);
		break;
	case 'r':
		o->mount_share = (uint32_t)number(optarg);
		break;
	case 'w':
		o->one_way = true;
		break;
	case 't':
		o->tolerated = fault_tolerated(optarg);
		break;
	case 'j':
		o->jobs = (unsigned int)number(optarg);
		break;
	case 'k':
		o->keep = optarg;
		break;
	case 'o':
		o->only = (int64_t)number(optarg);
		break;
	case 'd':
		o->dump = optarg;
		break;
	default:
		exit(2);
	}
}

static void parse_options(struct options *o, int argc, char **argv)
{
	int c;

	*o = (struct options){.states = {.seed = 1, .cap = 300}, .mount_share = 1};
	o->jobs = 2;
	o->only = -1;
	parse_models(o, "K,P4096,P512");
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) >= 0)
		set_option(o, c);
	if (optind + 1 != argc)
		die("usage: replay [OPTION...] DIR");
}

int main(int argc, char **argv)
{
	struct options o;
	struct subject subject;
	struct trace trace;
	struct states states;
	struct context c = {.o = &o, .states = &states, .trace = &trace};
	struct pool pool = {.subject = &subject, .judge = judge, .context = &c};
	const struct verdict *verdicts;
	char *path;

	parse_options(&o, argc, argv);
	c.subject = &subject;
	c.dir = argv[optind];
	c.kept = pool_share(sizeof(*c.kept));
	subject_load(&subject, argv[optind]);
	path = xasprintf("%s/trace", argv[optind]);
	trace_load(&trace, path);
	free(path);
	verify(&subject, &trace, argv[optind]);
	states_build(&states, &trace, subject.img, &o.states);
	if (o.dump) {
		dump(&c, subject.img);
		return 0;
	}
	if (o.only >= states.n)
		die("there are %u states", states.n);
	pool.n_jobs = o.only >= 0 ? 1 : states.n;
	pool.n_workers = o.only >= 0 ? 1 : o.jobs;
	verdicts = pool_run(&pool);
	if (o.only >= 0)
		return verdicts[0].faults & ~o.tolerated ? 1 : 0;
	list_bad(&c, verdicts);
	return report(&c, verdicts) ? 1 : 0;
}
