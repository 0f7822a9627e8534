/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Merging runs; see merge.h. */

#include "report/merge.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "stats/order.h"

static int find_phase(struct result_run *run, const struct result_phase *like,
	struct result_phase **out, struct err *e)
{
	int r;

	for (size_t i = 0; i < run->phase_count; i++)
		if (!strcmp(run->phases[i].name, like->name)) {
			*out = &run->phases[i];
			return 0;
		}
	r = result_run_add_phase(run, like->name, like->title, out, e);
	if (r)
		return r;
	(*out)->cache = like->cache;
	(*out)->counters.requested_bytes = like->counters.requested_bytes;
	(*out)->counters.block_bytes = like->counters.block_bytes;
	(*out)->counters.threads = like->counters.threads;
	return 0;
}

static int merge_hist(struct hist **into, const struct hist *from, struct err *e)
{
	if (!from)
		return 0;
	if (!*into) {
		*into = malloc(sizeof(**into));
		if (!*into)
			return err_set(e, ENOMEM, "merge histograms");
		hist_init(*into);
	}
	hist_merge(*into, from);
	return 0;
}

static int merge_phase(
	struct result_run *into, const struct result_phase *phase, struct err *e)
{
	const struct result_counters *from = &phase->counters;
	struct result_counters *to;
	struct result_phase *sum;
	int r = find_phase(into, phase, &sum, e);

	if (r)
		return r;
	to = &sum->counters;
	to->bytes += from->bytes;
	to->operations += from->operations;
	to->wall_ns += from->wall_ns;
	to->user_ns += from->user_ns;
	to->system_ns += from->system_ns;
	to->syncs += from->syncs;
	to->unknown |= from->unknown; /* a sum with something unknown in it */
	sum->marks |= phase->marks;
	r = merge_hist(&sum->latency, phase->latency, e);
	return r ? r : merge_hist(&sum->sync_latency, phase->sync_latency, e);
}

int merge_run(struct result_run *into, const struct result_run *run, struct err *e)
{
	int r = 0;

	if (!into->workload) {
		into->workload = strdup(run->workload);
		into->type = strdup(run->type);
		into->arm = strdup(run->arm);
		into->started_wall_ns = run->started_wall_ns;
		if (!into->workload || !into->type || !into->arm)
			return err_set(e, ENOMEM, "merge runs");
	}
	for (size_t i = 0; !r && i < run->phase_count; i++)
		r = merge_phase(into, &run->phases[i], e);
	return r;
}

static const struct result_phase *find_like(
	const struct result_run *run, const struct result_phase *phase)
{
	for (size_t i = 0; i < run->phase_count; i++)
		if (!strcmp(run->phases[i].name, phase->name))
			return &run->phases[i];
	return NULL;
}

static int add_median(struct result_phase *merged, const struct result_metric *like,
	const struct result_run *runs, size_t count, struct err *e)
{
	_cleanup_free_ double *values = calloc(count + 1, sizeof(*values));
	size_t n = 0;

	if (!values)
		return err_set(e, ENOMEM, "merge metrics");
	for (size_t i = 0; i < count; i++) {
		const struct result_phase *phase = find_like(&runs[i], merged);
		const struct result_metric *m =
			phase ? result_phase_metric(phase, like->name) : NULL;

		if (m && !isnan(m->value))
			values[n++] = m->value;
	}
	if (!n)
		return 0;
	return result_phase_add_metric(merged, like->name, like->unit, like->direction,
		order_median(values, n), e);
}

/* Percentiles that all runs together have too few operations for stay away. */
static bool is_derived(const char *name)
{
	return !strcmp(name, "rate") || !strcmp(name, "operations") ||
		!strncmp(name, "latency_", 8) || !strncmp(name, "sync_", 5);
}

int merge_metrics(struct result_run *merged, const struct result_run *runs, size_t count,
	struct err *e)
{
	int r = 0;

	for (size_t p = 0; !r && p < merged->phase_count; p++) {
		struct result_phase *phase = &merged->phases[p];
		bool counted = phase->counters.operations > 0;

		if (!result_knows(&phase->counters, RESULT_WALL))
			continue;
		if (counted)
			r = result_phase_derive_metrics(phase, e);
		for (size_t i = 0; !r && i < count; i++) {
			const struct result_phase *one = find_like(&runs[i], phase);

			for (size_t k = 0; !r && one && k < one->metric_count; k++)
				if (!(counted && is_derived(one->metrics[k].name)) &&
					!result_phase_metric(phase, one->metrics[k].name))
					r = add_median(phase, &one->metrics[k], runs, count,
						e);
		}
	}
	return r;
}
