/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Many hosts; see hosts.h.  Bundles are read one after another, and of each only one
 * number for each metric and arm is kept, so that hundreds of them fit into memory.
 */

#include "report/hosts.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <search.h>
#include <string.h>

#include "report/comparison.h"
#include "report/rows.h"

static int compare_rows(const void *a, const void *b)
{
	const struct hosts_row *x = a, *y = b;
	int r = strcmp(x->workload, y->workload);

	if (!r)
		r = strcmp(x->phase, y->phase);
	if (!r)
		r = strcmp(x->metric, y->metric);
	return r ? r : (x->arm > y->arm) - (x->arm < y->arm);
}

static void row_deinit(struct hosts_row *row)
{
	free(row->workload);
	free(row->phase);
	free(row->metric);
	free(row->values);
}

/* The index holds copies of the keys: rows move when there are more of them. */
struct key {
	struct hosts_row row; /* the names belong to the real one */
	size_t at;
};

static int find_row(struct hosts *h, const struct series *s, size_t arm,
	struct hosts_row **out, struct err *e)
{
	struct hosts_row like = { .workload = s->workload, .phase = s->phase,
		.metric = s->metric, .arm = arm };
	void *node = tfind(&like, &h->index, compare_rows);
	struct hosts_row *rows;
	struct key *key;

	if (node) {
		*out = &h->rows[(*(struct key **)node)->at];
		return 0;
	}
	rows = reallocarray(h->rows, h->row_count + 1, sizeof(*rows));
	key = calloc(1, sizeof(*key));
	if (rows)
		h->rows = rows;
	if (!rows || !key) {
		free(key);
		return err_set(e, ENOMEM, "compare hosts");
	}
	rows += h->row_count;
	*rows = (struct hosts_row){ .workload = strdup(s->workload),
		.phase = strdup(s->phase), .metric = strdup(s->metric), .unit = s->unit,
		.direction = s->direction, .arm = arm };
	*key = (struct key){ .row = *rows, .at = h->row_count };
	if (!rows->workload || !rows->phase || !rows->metric ||
		!tsearch(key, &h->index, compare_rows)) {
		row_deinit(rows);
		free(key);
		return err_set(e, ENOMEM, "compare hosts");
	}
	h->row_count++;
	*out = rows;
	return 0;
}

static int add_value(struct hosts *h, const struct series *s, size_t arm, size_t host,
	double log_ratio, struct err *e)
{
	struct host_value *values;
	struct hosts_row *row = NULL;
	int r = find_row(h, s, arm, &row, e);

	if (r)
		return r;
	assert(row); /* found or made */
	if (row->unit != s->unit || row->direction != s->direction)
		return err_say(e, EBADMSG, "%s/%s/%s has another unit than elsewhere",
			s->workload, s->phase, s->metric);
	row->too_short |= s->too_short;
	for (size_t i = 0; i < row->count; i++) {
		struct host_value *v = &row->values[i];

		if (v->host != host)
			continue;
		v->log_ratio += (log_ratio - v->log_ratio) / (double)++v->bundles;
		return 0;
	}
	values = reallocarray(row->values, row->count + 1, sizeof(*values));
	if (!values)
		return err_set(e, ENOMEM, "compare hosts");
	row->values = values;
	values[row->count++] = (struct host_value){ host, log_ratio, 1 };
	return 0;
}

/* One bundle while it is read; arms are numbered so that the baseline is 0, which is what
 * comparison_compare() takes for it. */
struct reading {
	struct bundle bundle;
	struct report_rows rows;
	struct comparison comparison;
	size_t *arms; /* of the bundle, to those of the hosts; SIZE_MAX: not compared */
	size_t baseline;
};

static uint32_t number_of(const struct reading *rd, size_t arm)
{
	return (uint32_t)(arm == rd->baseline ? 0 : arm < rd->baseline ? arm + 1 : arm);
}

static int take_run(void *data, struct result_run *run, struct err *e)
{
	struct reading *rd = data;
	const struct report_row *row = rows_of(&rd->rows, run->block);
	const struct bundle_info *info = &rd->bundle.info;

	if (run->stage != STAGE_MEASURE || (row && row->superseded))
		return 0;
	if (row)
		run->block = row->slot;
	for (size_t i = 0; i < info->arm_count; i++)
		if (!strcmp(info->arms[i].name, run->arm))
			return comparison_add_run(&rd->comparison, run, number_of(rd, i), e);
	return err_say(e, EBADMSG, "there is no arm \"%s\" in bundle.json", run->arm);
}

static size_t find_arm(const struct bundle_info *info, const char *name)
{
	for (size_t i = 0; i < info->arm_count; i++)
		if (!strcmp(info->arms[i].name, name))
			return i;
	return SIZE_MAX;
}

static int read_bundle(struct reading *rd, const struct hosts *h, const char *baseline,
	struct err *e)
{
	const struct bundle_info *info = &rd->bundle.info;
	int r;

	rd->baseline = find_arm(info, baseline);
	if (rd->baseline == SIZE_MAX)
		return err_say(e, EBADMSG, "it has no arm \"%s\"", baseline);
	rd->arms = calloc(info->arm_count, sizeof(*rd->arms));
	if (!rd->arms)
		return err_set(e, ENOMEM, "compare hosts");
	for (size_t i = 0; i < info->arm_count; i++)
		rd->arms[i] = find_arm(h->info, info->arms[i].name);
	r = rows_make(&rd->rows, rd->bundle.cells, e);
	return r ? r : bundle_each_run(&rd->bundle, take_run, rd, e);
}

/* What the bundle says of each metric; *count is how much that was. */
static int take_bundle(struct hosts *h, const struct reading *rd, size_t host,
	const char *only, size_t *count, struct err *e)
{
	const struct bundle_info *info = &rd->bundle.info;

	for (size_t i = 0; i < rd->comparison.count; i++)
		for (size_t arm = 0; arm < info->arm_count; arm++) {
			struct comparison_result c;
			int r;

			if (arm == rd->baseline || rd->arms[arm] == SIZE_MAX ||
				(only && strcmp(only, info->arms[arm].name)))
				continue;
			r = comparison_compare(rd->comparison.series[i], number_of(rd, arm),
				&info->design, &c, e);
			if (!r && c.contrast.summary.n) {
				++*count;
				r = add_value(h, rd->comparison.series[i], rd->arms[arm], host,
					c.contrast.summary.estimate, e);
			}
			if (r)
				return r;
		}
	return 0;
}

static void reading_deinit(struct reading *rd)
{
	free(rd->arms);
	rows_deinit(&rd->rows);
	comparison_deinit(&rd->comparison);
	bundle_deinit(&rd->bundle);
}

/* As the machine called itself; else the last part of the path. */
static char *name_of(const struct bundle *b, const char *path)
{
	const json_t *before = json_object_get(b->environment, "before");
	const json_t *host = json_object_get(json_object_get(before, "host"), "host");
	size_t n = strlen(path);
	const char *begin;

	if (json_string_length(host))
		return strdup(json_string_value(host));
	while (n > 1 && path[n - 1] == '/')
		n--;
	for (begin = path + n; begin > path && begin[-1] != '/'; begin--)
		;
	return strndup(begin, (size_t)(path + n - begin));
}

static int add_bundle_path(struct host *host, const char *path, struct err *e)
{
	char **list = reallocarray(host->bundles, host->bundle_count + 1, sizeof(*list));

	if (!list)
		return err_set(e, ENOMEM, "compare hosts");
	host->bundles = list;
	list[host->bundle_count] = strdup(path);
	return list[host->bundle_count++] ? 0 : err_set(e, ENOMEM, "compare hosts");
}

static int find_host(struct hosts *h, const struct bundle *b, const char *path, size_t *out,
	struct err *e)
{
	_cleanup_free_ char *name = name_of(b, path);
	struct host *list;
	size_t i;

	if (!name)
		return err_set(e, ENOMEM, "compare hosts");
	for (i = 0; i < h->host_count && strcmp(h->hosts[i].name, name); i++)
		;
	if (i == h->host_count) {
		list = reallocarray(h->hosts, h->host_count + 1, sizeof(*list));
		if (!list)
			return err_set(e, ENOMEM, "compare hosts");
		h->hosts = list;
		list[h->host_count++] = (struct host){ .name = take_ptr(name) };
	}
	*out = i;
	return add_bundle_path(&h->hosts[i], path, e);
}

/* The worst state stands, with the first reason for it. */
static void set_state(struct host *host, enum host_state state, const char *reason)
{
	if (state <= host->state)
		return;
	free(host->reason);
	host->state = state;
	host->reason = strdup(reason);
}

static void judge_bundle(struct host *host, const struct bundle_info *info)
{
	_cleanup_free_ char *text = NULL;

	if (info->state == BUNDLE_COMPLETE)
		return;
	if (asprintf(&text, "%s%s%s", bundle_state_word(info->state),
		    *info->reason ? ": " : "", info->reason) < 0)
		text = NULL;
	set_state(host, HOST_INCOMPLETE, text ? text : "incomplete");
}

/* The first bundle that can be read says which arms there are. */
static int take_info(struct hosts *h, const struct bundle_info *info,
	const struct hosts_options *o, struct err *e)
{
	if (h->info)
		return 0;
	if (o->baseline && find_arm(info, o->baseline) == SIZE_MAX)
		return err_usage(e, "there is no arm \"%s\"", o->baseline);
	if (o->arm && find_arm(info, o->arm) == SIZE_MAX)
		return err_usage(e, "there is no arm \"%s\"", o->arm);
	if (info->arm_count < 2)
		return err_usage(e, "there is only one arm, \"%s\", to compare",
			info->arms[0].name);
	h->info = calloc(1, sizeof(*h->info));
	if (!h->info)
		return err_set(e, ENOMEM, "compare hosts");
	h->baseline = o->baseline ? find_arm(info, o->baseline) : 0;
	h->info->design = info->design;
	h->primary = strdup(info->primary);
	h->info->name = strdup(info->name);
	for (size_t i = 0; i < info->arm_count; i++)
		if (bundle_info_add_arm(h->info, info->arms[i].name, info->arms[i].placement,
			    info->arms[i].mount, e))
			return -e->code;
	return h->primary && h->info->name ? 0 : err_set(e, ENOMEM, "compare hosts");
}

/* What is wrong with a bundle stays with its host, and only what is wrong with the
 * question or with us ends all. */
static int add_bundle(struct hosts *h, const char *path, const struct hosts_options *o,
	struct err *e)
{
	_cleanup_(err_clear) struct err own = { 0 };
	_cleanup_(reading_deinit) struct reading rd = { .baseline = 0 };
	size_t host = 0, count = 0;
	int bad = bundle_load(&rd.bundle, path, &own), r;

	r = find_host(h, &rd.bundle, path, &host, e);
	if (!r && !bad)
		r = take_info(h, &rd.bundle.info, o, e);
	if (r)
		return r;
	if (!bad)
		bad = read_bundle(&rd, h, h->info->arms[h->baseline].name, &own);
	if (!bad)
		bad = take_bundle(h, &rd, host, o->arm, &count, &own);
	if (bad == -ENOMEM)
		return err_say(e, ENOMEM, "%s", err_message(&own));
	if (bad)
		set_state(&h->hosts[host], HOST_FAILED, err_message(&own));
	else if (!count)
		set_state(&h->hosts[host], HOST_FAILED,
			*rd.bundle.info.reason ? rd.bundle.info.reason
					       : "no block has both arms");
	else
		judge_bundle(&h->hosts[host], &rd.bundle.info);
	h->hosts[host].used += count > 0;
	return 0;
}

static bool has_metric(const struct hosts *h, const struct hosts_row *row, const char *metric)
{
	struct hosts_row like = *row;
	_cleanup_free_ char *name = strdup(metric);

	like.metric = name;
	return name && tfind(&like, &h->index, compare_rows);
}

/* The rate, or the operations where there is none, and the longest wait. */
static bool is_shown(const struct hosts *h, const struct hosts_row *row)
{
	bool has_rate = has_metric(h, row, "rate");

	if (row->too_short && row->unit == UNIT_BYTES_PER_SECOND)
		return false;
	if (!strcmp(row->metric, "rate") || !strcmp(row->metric, "latency_max"))
		return true;
	if (!strcmp(row->metric, "operations"))
		return !has_rate;
	return !has_rate && !has_metric(h, row, "operations") &&
		row->direction != NO_DIRECTION;
}

static int reckon_row(const struct hosts *h, struct hosts_row *row, struct err *e)
{
	_cleanup_free_ double *d = calloc(row->count + 1, sizeof(*d));

	if (!d)
		return err_set(e, ENOMEM, "compare hosts");
	row->shown = is_shown(h, row);
	for (size_t i = 0; i < row->count; i++) {
		d[i] = row->values[i].log_ratio;
		if (d[i] < d[row->least])
			row->least = i;
		if (d[i] > d[row->most])
			row->most = i;
	}
	contrast_of(&row->contrast, d, row->count, h->info->design.margin,
		h->info->design.level);
	row->spread = exp(row->contrast.summary.sd);
	row->p_holm = 1;
	return 0;
}

static int reckon(struct hosts *h, struct err *e)
{
	_cleanup_free_ double *p = calloc(h->row_count + 1, sizeof(*p));
	size_t n = 0;
	int r = p ? 0 : err_set(e, ENOMEM, "compare hosts");

	for (size_t i = 0; !r && i < h->row_count; i++) {
		r = reckon_row(h, &h->rows[i], e);
		if (!r && h->rows[i].shown)
			p[n++] = h->rows[i].contrast.summary.p;
	}
	if (r)
		return r;
	holm_adjust(p, n);
	n = 0;
	for (size_t i = 0; i < h->row_count; i++)
		if (h->rows[i].shown)
			h->rows[i].p_holm = p[n++];
	return 0;
}

int hosts_load(struct hosts *h, const char *const *paths, size_t count,
	const struct hosts_options *o, struct err *e)
{
	int r = 0;

	for (size_t i = 0; !r && i < count; i++)
		r = add_bundle(h, paths[i], o, e);
	if (r)
		return r;
	if (!hosts_used(h))
		return err_usage(e, "none of %zu bundles can be compared: %s: %s", count,
			h->hosts[0].name, h->hosts[0].reason ? h->hosts[0].reason : "");
	return reckon(h, e);
}

void hosts_deinit(struct hosts *h)
{
	tdestroy(h->index, free);
	for (size_t i = 0; i < h->row_count; i++)
		row_deinit(&h->rows[i]);
	free(h->rows);
	for (size_t i = 0; i < h->host_count; i++) {
		for (size_t k = 0; k < h->hosts[i].bundle_count; k++)
			free(h->hosts[i].bundles[k]);
		free(h->hosts[i].bundles);
		free(h->hosts[i].name);
		free(h->hosts[i].reason);
	}
	free(h->hosts);
	if (h->info)
		bundle_info_deinit(h->info);
	free(h->info);
	free(h->primary);
	*h = (struct hosts){ 0 };
}

size_t hosts_used(const struct hosts *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->host_count; i++)
		n += h->hosts[i].used > 0;
	return n;
}

size_t hosts_troubled(const struct hosts *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->host_count; i++)
		n += h->hosts[i].state != HOST_COMPLETE;
	return n;
}

const char *host_state_word(enum host_state state)
{
	static const char *const words[] = { "complete", "incomplete", "failed" };

	return words[state];
}

const char *hosts_verdict_word(const struct hosts_row *row)
{
	bool higher = row->contrast.verdict == VERDICT_HIGHER;

	switch (row->contrast.verdict) {
	case VERDICT_EQUIVALENT:
		return "equivalent";
	case VERDICT_NO_DIFFERENCE:
		return "~";
	case VERDICT_UNKNOWN:
		return "too few hosts";
	default:
		break;
	}
	if (row->direction == NO_DIRECTION)
		return higher ? "higher" : "lower";
	return higher == (row->direction == HIGHER_IS_BETTER) ? "better" : "worse";
}
