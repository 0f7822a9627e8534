/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Workers are processes, because each has a mount namespace and devices of its own; they
 * inherit the case and its states by fork and take the next job from a shared counter.
 */
#include "pool.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void *pool_share(size_t bytes)
{
	void *p = mmap(
		NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die_errno("share memory");
	return p;
}

__attribute__((noreturn)) static void work(
	const struct pool *p, uint32_t *next, struct verdict *verdicts)
{
	struct bench b;
	uint32_t job;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	bench_open(&b, p->subject);
	bench_store(&b);
	b.files = bench_files(&b);
	while ((job = __atomic_fetch_add(next, 1, __ATOMIC_SEQ_CST)) < p->n_jobs) {
		bench_start(&b);
		p->judge(&b, job, &verdicts[job], p->context);
		memcpy(verdicts[job].reason, b.reason, sizeof(b.reason));
		verdicts[job].done = true;
	}
	_exit(0);
}

struct verdict *pool_run(const struct pool *p)
{
	struct verdict *verdicts = pool_share((p->n_jobs + 1) * sizeof(*verdicts));
	uint32_t *next = pool_share(sizeof(*next));
	int status, failed = 0;

	for (unsigned int i = 0; i < p->n_workers; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die_errno("fork");
		if (!pid)
			work(p, next, verdicts);
	}
	for (unsigned int i = 0; i < p->n_workers; i++)
		if (wait(&status) < 0 || status)
			failed++;
	if (failed)
		die("%s: a worker died", p->subject->name);
	for (uint32_t i = 0; i < p->n_jobs; i++)
		if (!verdicts[i].done)
			die("%s: state %u was not judged", p->subject->name, i);
	return verdicts;
}
