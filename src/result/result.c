/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What was measured; see result.h. */

#include "result/result.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"

/* A percentile is reported only when at least this many operations lie beyond it. */
#define PERCENTILE_MIN_BEYOND 10

int result_run_add_phase(struct result_run *run, const char *name, const char *title,
	struct result_phase **out, struct err *e)
{
	_cleanup_free_ char *name_copy = strdup(name);
	_cleanup_free_ char *title_copy = strdup(title);
	struct result_phase *phases;

	phases = realloc(run->phases, (run->phase_count + 1) * sizeof(*phases));
	if (phases)
		run->phases = phases;
	if (!phases || !name_copy || !title_copy)
		return err_set(e, ENOMEM, "phase %s", name);
	phases += run->phase_count++;
	*phases = (struct result_phase){ .name = take_ptr(name_copy),
		.title = take_ptr(title_copy) };
	*out = phases;
	return 0;
}

int result_phase_add_metric(struct result_phase *phase, const char *name,
	enum result_unit unit, enum result_direction direction, double value,
	struct err *e)
{
	_cleanup_free_ char *copy = strdup(name);
	struct result_metric *metrics;

	metrics = realloc(phase->metrics, (phase->metric_count + 1) * sizeof(*metrics));
	if (metrics)
		phase->metrics = metrics;
	if (!metrics || !copy)
		return err_set(e, ENOMEM, "metric %s", name);
	metrics[phase->metric_count++] = (struct result_metric){ take_ptr(copy), unit,
		direction, value };
	return 0;
}

static int add_latency(struct result_phase *phase, const char *prefix,
	const struct hist *h, struct err *e)
{
	static const struct {
		const char *name;
		double q;
	} quantiles[] = { { "p50", .50 }, { "p90", .90 }, { "p95", .95 }, { "p99", .99 },
		{ "p999", .999 }, { "max", 1 } };
	char name[64];
	int r;

	if (!h || !h->count)
		return 0;
	snprintf(name, sizeof(name), "%s_mean", prefix);
	r = result_phase_add_metric(phase, name, UNIT_NANOSECONDS, LOWER_IS_BETTER,
		hist_mean_ns(h), e);
	for (size_t i = 0; !r && i < ARRAY_SIZE(quantiles); i++) {
		double beyond = (double)h->count * (1 - quantiles[i].q);

		if (quantiles[i].q < 1 && beyond < PERCENTILE_MIN_BEYOND)
			continue;
		snprintf(name, sizeof(name), "%s_%s", prefix, quantiles[i].name);
		r = result_phase_add_metric(phase, name, UNIT_NANOSECONDS,
			LOWER_IS_BETTER, (double)hist_quantile_ns(h, quantiles[i].q), e);
	}
	return r;
}

int result_phase_derive_metrics(struct result_phase *phase, struct err *e)
{
	const struct result_counters *c = &phase->counters;
	double seconds = (double)c->wall_ns / NS_PER_S;
	int r = 0;

	if (seconds > 0 && c->bytes)
		r = result_phase_add_metric(phase, "rate", UNIT_BYTES_PER_SECOND,
			HIGHER_IS_BETTER, (double)c->bytes / seconds, e);
	if (!r && seconds > 0 && c->operations)
		r = result_phase_add_metric(phase, "operations",
			UNIT_OPERATIONS_PER_SECOND, HIGHER_IS_BETTER,
			(double)c->operations / seconds, e);
	if (!r)
		r = add_latency(phase, "latency", phase->latency, e);
	if (!r)
		r = add_latency(phase, "sync", phase->sync_latency, e);
	return r;
}

const struct result_metric *result_phase_metric(const struct result_phase *phase,
	const char *name)
{
	for (size_t i = 0; i < phase->metric_count; i++)
		if (!strcmp(phase->metrics[i].name, name))
			return &phase->metrics[i];
	return NULL;
}

const struct result_metric *result_run_metric(
	const struct result_run *run, const char *path)
{
	size_t n = strlen(run->workload);
	const char *last = strrchr(path, '/');

	if (strncmp(path, run->workload, n) || path[n] != '/' || last <= path + n)
		return NULL;
	path += n + 1;
	for (size_t i = 0; i < run->phase_count; i++)
		if (strlen(run->phases[i].name) == (size_t)(last - path) &&
			!strncmp(run->phases[i].name, path, (size_t)(last - path)))
			return result_phase_metric(&run->phases[i], last + 1);
	return NULL;
}

static void phase_deinit(struct result_phase *phase)
{
	for (size_t i = 0; i < phase->metric_count; i++)
		free(phase->metrics[i].name);
	free(phase->metrics);
	free(phase->latency);
	free(phase->sync_latency);
	free(phase->evidence);
	free(phase->name);
	free(phase->title);
}

void result_run_deinit(struct result_run *run)
{
	for (size_t i = 0; i < run->phase_count; i++)
		phase_deinit(&run->phases[i]);
	free(run->phases);
	free(run->workload);
	free(run->type);
	free(run->arm);
	*run = (struct result_run){ 0 };
}
