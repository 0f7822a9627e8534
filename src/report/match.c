/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Matching two sets of runs; see match.h. */

#include "report/match.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/comparison.h"
#include "report/match_notes.h"
#include "stats/order.h"
#include "stats/unpaired.h"

/* A phase without what its counters tell as well: "/t4", "/b4096" and "/s64M". */
static void kind_of(const char *name, char kind[64])
{
	size_t at = 0;

	while (*name && at < 63) {
		size_t n = strcspn(name, "/");

		if (!(n > 1 && strchr("tbs", name[0]) && isdigit((unsigned char)name[1]))) {
			if (at)
				kind[at++] = '/';
			for (size_t i = 0; i < n && at < 63; i++)
				kind[at++] = name[i];
		}
		name += n + (name[n] == '/');
	}
	kind[at] = '\0';
}

/* Sizes belong to what was asked for only where a workload has files of a size. */
static bool has_size(const char *type)
{
	return !strcmp(type, "tiobench") || !strcmp(type, "dd") ||
	       !strcmp(type, "throughput");
}

static bool agrees(const struct result_counters *a, const struct result_counters *b,
	enum result_counter counter, uint64_t x, uint64_t y)
{
	return !result_knows(a, counter) || !result_knows(b, counter) || x == y;
}

static bool phases_match(const struct result_run *a, const struct result_phase *p,
	const struct result_run *b, const struct result_phase *q)
{
	const struct result_counters *x = &p->counters, *y = &q->counters;
	char kinds[2][64];

	if (strcmp(a->type, b->type))
		return false;
	kind_of(p->name, kinds[0]);
	kind_of(q->name, kinds[1]);
	return !strcmp(kinds[0], kinds[1]) &&
	       agrees(x, y, RESULT_THREADS, x->threads, y->threads) &&
	       agrees(x, y, RESULT_BLOCK_BYTES, x->block_bytes, y->block_bytes) &&
	       (!has_size(a->type) || agrees(x, y, RESULT_REQUESTED_BYTES,
					      x->requested_bytes, y->requested_bytes));
}

/* The first run of a side that has the phase stands for its name and counters. */
static bool is_first(const struct match_side *side, size_t run, size_t phase)
{
	const struct result_run *own = &side->runs[run];

	for (size_t i = 0; i < run; i++)
		for (size_t k = 0; k < side->runs[i].phase_count; k++)
			if (!strcmp(side->runs[i].type, own->type) &&
				!strcmp(side->runs[i].workload, own->workload) &&
				!strcmp(side->runs[i].phases[k].name,
					own->phases[phase].name))
				return false;
	return true;
}

struct values {
	double *values;
	uint32_t *blocks;
	size_t count;
};

static void values_deinit(struct values *v)
{
	free(v->values);
	free(v->blocks);
}

/* All values of a metric in the runs that have that workload and phase. */
static int collect(struct values *v, const struct match_side *side,
	const struct result_run *like, const struct result_phase *phase,
	const char *metric, struct err *e)
{
	v->values = calloc(side->run_count + 1, sizeof(*v->values));
	v->blocks = calloc(side->run_count + 1, sizeof(*v->blocks));
	if (!v->values || !v->blocks)
		return err_set(e, ENOMEM, "compare");
	for (size_t i = 0; i < side->run_count; i++) {
		const struct result_run *run = &side->runs[i];

		if (strcmp(run->workload, like->workload) || strcmp(run->type, like->type))
			continue;
		for (size_t k = 0; k < run->phase_count; k++) {
			const struct result_metric *m;

			if (strcmp(run->phases[k].name, phase->name))
				continue;
			m = result_phase_metric(&run->phases[k], metric);
			if (!m || isnan(m->value))
				continue;
			v->values[v->count] = m->value;
			v->blocks[v->count++] = run->block;
		}
	}
	return 0;
}

static bool all_positive(const struct values *v)
{
	for (size_t i = 0; i < v->count; i++)
		if (!(v->values[i] > 0))
			return false;
	return v->count;
}

/* Only blocks that both have, in the same order; for arms of one experiment. */
static size_t keep_common(struct values *a, struct values *b)
{
	size_t n = 0;

	for (size_t i = 0; i < a->count; i++)
		for (size_t k = n; k < b->count; k++) {
			double value = b->values[k];

			if (a->blocks[i] != b->blocks[k])
				continue;
			b->values[k] = b->values[n];
			b->blocks[k] = b->blocks[n];
			b->values[n] = value;
			b->blocks[n] = a->blocks[i];
			a->values[n] = a->values[i];
			a->blocks[n++] = a->blocks[i];
			break;
		}
	return a->count = b->count = n;
}

static void judge(struct match_row *row, bool paired, struct values v[2])
{
	if (paired)
		keep_common(&v[0], &v[1]);
	for (size_t side = 0; side < 2; side++) {
		row->runs[side] = v[side].count;
		row->median[side] = order_median(v[side].values, v[side].count);
	}
	row->ratio = row->median[0] > 0 ? row->median[1] / row->median[0] : NAN;
	row->contrast = (struct contrast){
		.verdict = VERDICT_UNKNOWN, .ratio = NAN, .ratio_low = NAN, .ratio_high = NAN};
	row->contrast.summary.p = 1;
	if (!all_positive(&v[0]) || !all_positive(&v[1]))
		return;
	if (paired)
		contrast_make(&row->contrast, v[0].values, v[1].values, v[0].count,
			MATCH_MARGIN, MATCH_LEVEL);
	else
		unpaired_contrast(&row->contrast, v[0].values, v[0].count, v[1].values,
			v[1].count, MATCH_MARGIN, MATCH_LEVEL);
}

/* The rate, or the operations where there is none, and the longest wait. */
static bool is_shown(const struct result_phase *phase, const struct result_metric *m)
{
	bool has_rate = result_phase_metric(phase, "rate");

	if (!strcmp(m->name, "rate") || !strcmp(m->name, "latency_max"))
		return true;
	if (!strcmp(m->name, "operations"))
		return !has_rate;
	return !has_rate && !result_phase_metric(phase, "operations") &&
	       m->direction != NO_DIRECTION;
}

static bool is_short(const struct result_phase *phase)
{
	const struct result_counters *c = &phase->counters;

	return c->wall_ns && c->wall_ns < COMPARISON_SHORTEST_NS;
}

static int add_row(struct match *m, const struct result_run *run,
	const struct result_phase *a, const struct result_run *other,
	const struct result_phase *b, const struct result_metric *metric, struct err *e)
{
	struct match_row *rows = reallocarray(m->rows, m->count + 1, sizeof(*rows));
	struct values v[2] = {0};
	struct match_row *row;
	int r;

	if (!rows)
		return err_set(e, ENOMEM, "compare");
	m->rows = rows;
	row = &rows[m->count];
	*row = (struct match_row){.metric = metric->name,
		.unit = metric->unit,
		.direction = metric->direction,
		.marks = a->marks | b->marks,
		.too_short = is_short(a) || is_short(b),
		.p_holm = 1};
	row->shown = is_shown(a, metric) && !(row->too_short && metric->unit ==
						      UNIT_BYTES_PER_SECOND);
	r = collect(&v[0], &m->sides[0], run, a, metric->name, e);
	if (!r)
		r = collect(&v[1], &m->sides[1], other, b, metric->name, e);
	if (!r && asprintf(&row->path, "%s/%s", run->workload, a->name) < 0)
		r = err_set(e, ENOMEM, "compare");
	if (!r) {
		judge(row, m->paired, v);
		m->count++;
	}
	values_deinit(&v[0]);
	values_deinit(&v[1]);
	return r;
}

static int add_phase(struct match *m, const struct result_run *run,
	const struct result_phase *a, const struct result_run *other,
	const struct result_phase *b, struct err *e)
{
	int r = 0;

	for (size_t i = 0; !r && i < a->metric_count; i++) {
		const struct result_metric *same =
			result_phase_metric(b, a->metrics[i].name);

		if (same && same->unit == a->metrics[i].unit)
			r = add_row(m, run, a, other, b, &a->metrics[i], e);
	}
	return r;
}

static int add_only(struct match *m, size_t side, const struct result_run *run,
	const struct result_phase *phase, struct err *e)
{
	char **list = reallocarray(m->only[side], m->only_count[side] + 1, sizeof(*list));
	char *path;

	if (!list)
		return err_set(e, ENOMEM, "compare");
	m->only[side] = list;
	if (asprintf(&path, "%s/%s", run->workload, phase->name) < 0)
		return err_set(e, ENOMEM, "compare");
	list[m->only_count[side]++] = path;
	return 0;
}

/* The partner of a phase on the other side, the best fit first: by name, then by what its
 * counters say. */
static const struct result_phase *partner(const struct match_side *side,
	const struct result_run *run, const struct result_phase *phase,
	const struct result_run **other)
{
	for (int by_name = 1; by_name >= 0; by_name--)
		for (size_t i = 0; i < side->run_count; i++)
			for (size_t k = 0; k < side->runs[i].phase_count; k++) {
				const struct result_phase *p = &side->runs[i].phases[k];

				if (by_name && strcmp(p->name, phase->name))
					continue;
				if (!phases_match(run, phase, &side->runs[i], p))
					continue;
				*other = &side->runs[i];
				return p;
			}
	return NULL;
}

/* Each phase of a side once: compared (the baseline's), or told as missing. */
static int walk(struct match *m, size_t side, struct err *e)
{
	const struct match_side *own = &m->sides[side];
	int r = 0;

	for (size_t i = 0; i < own->run_count; i++)
		for (size_t k = 0; !r && k < own->runs[i].phase_count; k++) {
			const struct result_run *run = &own->runs[i], *other = NULL;
			const struct result_phase *phase = &run->phases[k], *p;

			if (!is_first(own, i, k))
				continue;
			p = partner(&m->sides[!side], run, phase, &other);
			if (!p)
				r = add_only(m, side, run, phase, e);
			else if (!side)
				r = add_phase(m, run, phase, other, p, e);
		}
	return r;
}

static int adjust_for_many(struct match *m, struct err *e)
{
	_cleanup_free_ double *p = calloc(m->count + 1, sizeof(*p));
	size_t n = 0;

	if (!p)
		return err_set(e, ENOMEM, "compare");
	for (size_t i = 0; i < m->count; i++)
		if (m->rows[i].shown)
			p[n++] = m->rows[i].contrast.summary.p;
	holm_adjust(p, n);
	n = 0;
	for (size_t i = 0; i < m->count; i++)
		if (m->rows[i].shown)
			m->rows[i].p_holm = p[n++];
	return 0;
}

int match_build(struct match *m, const struct match_side sides[2], bool paired,
	struct err *e)
{
	int r;

	*m = (struct match){.sides = {sides[0], sides[1]}, .paired = paired};
	r = walk(m, 0, e);
	if (!r)
		r = walk(m, 1, e);
	if (!r)
		r = adjust_for_many(m, e);
	if (!r)
		r = match_notes_make(m, e);
	if (r)
		match_deinit(m);
	return r;
}

static void free_list(char **list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(list[i]);
	free(list);
}

void match_deinit(struct match *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(m->rows[i].path);
	free(m->rows);
	free_list(m->only[0], m->only_count[0]);
	free_list(m->only[1], m->only_count[1]);
	free_list(m->notes, m->note_count);
	*m = (struct match){0};
}

enum match_outcome match_outcome(const struct match *m)
{
	bool same = true, equivalent = true, any = false;

	for (size_t i = 0; i < m->count; i++) {
		const struct match_row *row = &m->rows[i];
		enum verdict v = row->contrast.verdict;

		same = same && row->median[0] == row->median[1];
		if (!row->shown || row->direction == NO_DIRECTION)
			continue;
		any = true;
		if ((v == VERDICT_HIGHER || v == VERDICT_LOWER) &&
			!row->contrast.below_margin && row->p_holm < 0.05)
			return MATCH_DIFFERENT;
		equivalent = equivalent && (v == VERDICT_EQUIVALENT ||
						   row->contrast.below_margin);
	}
	return any && (equivalent || same) ? MATCH_SAME : MATCH_INCONCLUSIVE;
}
