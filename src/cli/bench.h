/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the commands bench and tiobench have in common: a workload run in directories. */

#include "cli/command.h"
#include "workload/workload.h"

struct bench {
	struct workload *workload;
	const char *const *directories;
	size_t directory_count;
	const char *seed; /* as typed, or NULL: a new one each time */
	bool drop_caches;
	bool raw; /* directories are devices: held while it runs, scratch or leased only */
	const struct workload_observer *observer; /* NULL: nobody */
};

/* Appends " NAME" for each type, and each definition of a command that is found. */
void bench_offer_workloads(struct strbuf *words);

/* Sets one "KEY=VALUE". */
int bench_set(struct workload *w, const char *assignment, struct err *e);

/* Checks directories and space, catches signals, runs.  The caller frees *run. */
int bench_run(
	struct cli *cli, const struct bench *b, struct result_run *run, struct err *e);

/* The run as JSON on standard output. */
int bench_print_json(const struct result_run *run, struct err *e);
