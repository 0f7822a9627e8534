/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Many judgements on a few workers, each with a bench of its own.
 */
#pragma once

#include "judge.h"

/* The outcome of one job, in memory that parent and workers share. */
struct verdict {
	unsigned int faults;
	bool done;
	bool mounted; /* judged with mounts */
	int status;   /* of the program under test, where it was run */
	char reason[256];
};

/* pool_share() - zeroed memory that parent and workers share, never freed. */
void *pool_share(size_t bytes);

struct pool {
	struct subject *subject;
	uint32_t n_jobs;
	unsigned int n_workers;
	/* judges one job; runs in a worker */
	void (*judge)(
		struct bench *b, uint32_t job, struct verdict *v, const void *context);
	const void *context;
};

/*
 * pool_run() - does all jobs. Return: their verdicts, never freed. It dies when a worker
 * died, because a state that was not judged must not pass as good.
 */
struct verdict *pool_run(const struct pool *p);
