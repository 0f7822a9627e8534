/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Repeated runs of a workload; see repetitions.h. */

#include "run/repetitions.h"

#include <errno.h>
#include <string.h>

#include "report/merge.h"

static struct result_phase *find(const struct result_run *run, const char *name)
{
	for (size_t i = 0; i < run->phase_count; i++)
		if (!strcmp(run->phases[i].name, name))
			return &run->phases[i];
	return NULL;
}

static int add_evidence(struct result_run *out, const struct result_run *run, struct err *e)
{
	for (size_t i = 0; i < run->phase_count; i++) {
		const struct result_evidence *more = run->phases[i].evidence;
		struct result_phase *sum = find(out, run->phases[i].name);

		if (!more || !sum)
			continue;
		if (sum->evidence) {
			evidence_add(sum->evidence, more);
			continue;
		}
		sum->evidence = malloc(sizeof(*sum->evidence));
		if (!sum->evidence)
			return err_set(e, ENOMEM, "merge runs");
		*sum->evidence = *more;
	}
	return 0;
}

static int check_times(const struct result_run *run, struct err *e)
{
	for (size_t i = 0; i < run->phase_count; i++)
		if (!result_knows(&run->phases[i].counters, RESULT_WALL))
			return err_usage(e,
				"workload %s does not say how long %s took: it cannot be "
				"repeated in a cell",
				run->workload, run->phases[i].name);
	return 0;
}

int repetitions_merge(struct result_run *out, struct result_run *runs, size_t count,
	struct err *e)
{
	int r = 0;

	if (count == 1) {
		*out = runs[0];
		runs[0] = (struct result_run){0};
		return 0;
	}
	for (size_t i = 0; !r && i < count; i++) {
		r = check_times(&runs[i], e);
		if (!r)
			r = merge_run(out, &runs[i], e);
		if (!r)
			r = add_evidence(out, &runs[i], e);
	}
	return r ? r : merge_metrics(out, runs, count, e);
}
