/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Comparison of arms; see comparison.h.  Only blocks that have both arms count: what was
 * measured in a block that broke off would otherwise be compared with other times of the
 * disk.  The ratio is that of the medians, so that it can be checked against the two
 * numbers beside it.
 */

#include "report/comparison.h"

#include <errno.h>
#include <math.h>
#include <search.h>
#include <string.h>

#include "stats/order.h"
#include "stats/plan_n.h"

static int compare_paths(const void *a, const void *b)
{
	const struct series *x = a, *y = b;
	int r = strcmp(x->workload, y->workload);

	if (!r)
		r = strcmp(x->phase, y->phase);
	return r ? r : strcmp(x->metric, y->metric);
}

static void series_free(struct series *s)
{
	free(s->workload);
	free(s->phase);
	free(s->metric);
	free(s->samples);
	free(s);
}
DEFINE_CLEANUP(struct series *, series_free)

/* The index points to series that the list owns. */
static void keep(void *node _unused_)
{
}

void comparison_deinit(struct comparison *c)
{
	tdestroy(c->index, keep);
	for (size_t i = 0; i < c->count; i++)
		series_free(c->series[i]);
	free(c->series);
	*c = (struct comparison){0};
}

static struct series *new_series(struct comparison *c, const struct series *path)
{
	_cleanup_(series_freep) struct series *s = calloc(1, sizeof(*s));
	struct series **list = reallocarray(c->series, c->count + 1, sizeof(*list));

	if (list)
		c->series = list;
	if (!s || !list)
		return NULL;
	s->workload = strdup(path->workload);
	s->phase = strdup(path->phase);
	s->metric = strdup(path->metric);
	if (!s->workload || !s->phase || !s->metric ||
		!tsearch(s, &c->index, compare_paths))
		return NULL;
	list[c->count++] = s;
	return take_ptr(s);
}

static int find_series(struct comparison *c, const struct series *path,
	struct series **out, struct err *e)
{
	void *node = tfind(path, &c->index, compare_paths);

	*out = node ? *(struct series **)node : new_series(c, path);
	if (!*out)
		return err_set(e, ENOMEM, "collect %s/%s/%s", path->workload, path->phase,
			path->metric);
	return 0;
}

static int add_metric(struct comparison *c, const struct result_run *run,
	const struct result_phase *phase, const struct result_metric *m, uint32_t arm,
	struct err *e)
{
	const struct series path = {
		.workload = run->workload, .phase = phase->name, .metric = m->name};
	struct sample *samples;
	struct series *s;
	int r = find_series(c, &path, &s, e);

	if (r)
		return r;
	if (!s->count) {
		s->unit = m->unit;
		s->direction = m->direction;
	}
	if (s->unit != m->unit || s->direction != m->direction)
		return err_say(e, EBADMSG, "%s/%s/%s changes its unit or direction",
			s->workload, s->phase, s->metric);
	if (phase->counters.wall_ns && phase->counters.wall_ns < COMPARISON_SHORTEST_NS)
		s->too_short = true;
	samples = reallocarray(s->samples, s->count + 1, sizeof(*samples));
	if (!samples)
		return err_set(
			e, ENOMEM, "collect %s/%s/%s", s->workload, s->phase, s->metric);
	s->samples = samples;
	samples[s->count++] = (struct sample){run->block, run->position, arm, m->value};
	return 0;
}

int comparison_add_run(
	struct comparison *c, const struct result_run *run, uint32_t arm, struct err *e)
{
	int r = 0;

	for (size_t i = 0; !r && i < run->phase_count; i++)
		for (size_t k = 0; !r && k < run->phases[i].metric_count; k++)
			r = add_metric(c, run, &run->phases[i],
				&run->phases[i].metrics[k], arm, e);
	return r;
}

static int by_block(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return (x->block > y->block) - (x->block < y->block);
}

/* The samples of an arm that have a value, sorted by block. */
static int samples_of(const struct series *s, uint32_t arm, struct sample *out,
	size_t *count, struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++)
		if (s->samples[i].arm == arm && !isnan(s->samples[i].value))
			out[n++] = s->samples[i];
	qsort(out, n, sizeof(*out), by_block);
	for (size_t i = 1; i < n; i++)
		if (out[i].block == out[i - 1].block)
			return err_say(e, EBADMSG,
				"%s/%s/%s was measured twice in one cell of block %u",
				s->workload, s->phase, s->metric, out[i].block + 1);
	*count = n;
	return 0;
}

/* Logarithms need positive values; a block without two of them is left out. */
static size_t only_positive(double *a, double *b, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (a[i] > 0 && b[i] > 0) {
			a[kept] = a[i];
			b[kept++] = b[i];
		}
	return kept;
}

/* Stein's interval takes its spread from the blocks of the pilot. */
static struct interval stein_interval(const double *first, const double *other, size_t n,
	size_t pilot, double level)
{
	struct interval none = {.low = NAN, .high = NAN};
	double *d = malloc((n + 1) * sizeof(*d));

	for (size_t i = 0; d && i < n; i++)
		d[i] = log(other[i] / first[i]);
	if (d)
		none = plan_n_stein_interval(d, n, pilot, level);
	free(d);
	return none;
}

int comparison_compare(const struct series *s, uint32_t arm,
	const struct bundle_design *design, struct comparison_result *out, struct err *e)
{
	size_t room = s->count + 1, n[2] = {0}, i = 0, k = 0, blocks = 0, pilot = 0;
	_cleanup_free_ struct sample *first = calloc(room, sizeof(*first));
	_cleanup_free_ struct sample *other = calloc(room, sizeof(*other));
	_cleanup_free_ double *first_values = calloc(room, sizeof(*first_values));
	_cleanup_free_ double *values = calloc(room, sizeof(*values));
	int r;

	if (!first || !other || !first_values || !values)
		return err_set(e, ENOMEM, "compare arms");
	r = samples_of(s, 0, first, &n[0], e);
	if (!r)
		r = samples_of(s, arm, other, &n[1], e);
	if (r)
		return r;
	while (i < n[0] && k < n[1]) {
		if (first[i].block == other[k].block) {
			pilot += first[i].block < design->pilot &&
				 first[i].value > 0 && other[k].value > 0;
			first_values[blocks] = first[i++].value;
			values[blocks++] = other[k++].value;
		} else if (first[i].block < other[k].block) {
			i++;
		} else {
			k++;
		}
	}
	out->blocks = blocks;
	out->first_median = order_median(first_values, blocks);
	out->median = order_median(values, blocks);
	out->ratio = out->first_median > 0 ? out->median / out->first_median : NAN;
	blocks = only_positive(first_values, values, blocks);
	contrast_make(&out->contrast, first_values, values, blocks, design->margin,
		design->level);
	out->stein = stein_interval(first_values, values, blocks, pilot, design->level);
	return 0;
}
