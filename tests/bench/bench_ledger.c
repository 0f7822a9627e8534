/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * What the flush ledger costs.  The same workload with and without a ledger that watches
 * as many disks as it can, in pairs whose order alternates; the median over the pairs of
 * the ratio of their rates.
 *
 * usage: bench_ledger [DIR [PAIRS [LEAST]]]; status 1 when a ratio is below LEAST.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "evidence/ledger.h"
#include "workload/workload.h"

enum { PAIRS_MAX = 201 };

static void begin(void *data)
{
	ledger_begin(data);
}

static void end(void *data, struct result_evidence *sum)
{
	ledger_end(data, sum);
}

/* Operations per second; a workload that cannot run ends the program. */
static double rate(struct workload *w, const char *directory,
	const struct workload_observer *observer)
{
	const struct workload_env env = { .directories = &directory, .directory_count = 1,
		.seed = 1, .observer = observer };
	struct result_run run = { 0 };
	struct err e = { 0 };
	double value;

	if (workload_run(w, &env, &run, &e)) {
		fprintf(stderr, "bench_ledger: %s\n", err_message(&e));
		exit(2);
	}
	value = result_phase_metric(&run.phases[0], "operations")->value;
	result_run_deinit(&run);
	return value;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The median ratio with : without. */
static double ratio(const char *kind, const char *directory, unsigned pairs,
	const struct workload_observer *observer)
{
	struct workload *w = NULL;
	double ratios[PAIRS_MAX];

	/* Many operations: what reading the counters leaves in the processor's caches costs
	 * the first of them, in memory 1 % of a phase of 3 ms. */
	if (workload_new(&w, workload_type_find("commit"), "bench", NULL) ||
		workload_set(w, "kind", kind, NULL) || workload_set(w, "count", "40000", NULL))
		exit(2);
	rate(w, directory, observer);
	for (unsigned i = 0; i < pairs; i++) {
		double first = rate(w, directory, i % 2 ? observer : NULL);
		double second = rate(w, directory, i % 2 ? NULL : observer);

		ratios[i] = i % 2 ? first / second : second / first;
	}
	workload_free(w);
	qsort(ratios, pairs, sizeof(*ratios), compare);
	return (ratios[(pairs - 1) / 2] + ratios[pairs / 2]) / 2;
}

/* What a phase pays outside of its measured time. */
static double reading_us(struct ledger *ledger)
{
	enum { TIMES = 200 };
	struct result_evidence sum = { 0 };
	uint64_t begun_ns = clock_now_ns();

	for (int i = 0; i < TIMES; i++) {
		ledger_begin(ledger);
		ledger_end(ledger, &sum);
	}
	return (double)(clock_now_ns() - begun_ns) / NS_PER_US / TIMES;
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = { "append-fsync", "overwrite-fdatasync",
		"create-fsync", "create-nosync" };
	const char *directory = argc > 1 ? argv[1] : "/dev/shm";
	unsigned pairs = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 41;
	double least = argc > 3 ? strtod(argv[3], NULL) : 0;
	struct ledger_disk disks[EVIDENCE_DISKS_MAX];
	struct ledger_setup setup = { .disks = disks, .disk_count = EVIDENCE_DISKS_MAX };
	struct workload_observer observer = { .begin = begin, .end = end };
	struct ledger *ledger = NULL;
	int status = 0;

	if (!pairs || pairs > PAIRS_MAX)
		return 2;
	/* Loop devices, whether they are in use or not. */
	for (unsigned i = 0; i < EVIDENCE_DISKS_MAX; i++)
		disks[i] = (struct ledger_disk){ .devno = 7 << 8 | i, .name = "loop",
			.roles = EVIDENCE_DATA };
	if (ledger_new(&ledger, &setup, NULL))
		return 2;
	observer.data = ledger;
	printf("ledger of %d disks: %.0f us for each phase, before and after its time\n",
		EVIDENCE_DISKS_MAX, reading_us(ledger));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		double r = ratio(kinds[i], directory, pairs, &observer);

		printf("%-20s with the ledger %.2f %% of the rate without\n", kinds[i],
			r * 100);
		fflush(stdout);
		status = status || r < least;
	}
	ledger_free(ledger);
	return status;
}
