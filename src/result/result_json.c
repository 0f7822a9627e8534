/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Runs to JSON and back; see result_json.h.  Writing and reading share the tables of keys
 * and words, so that what is written is what is read.  Reading trusts nothing: a bundle
 * may come from another machine, or from a disk that was full.
 *
 * JSON knows neither infinity nor NaN; a metric without a finite value is written as
 * null and read as NaN.
 */

#include "result/result_json.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/json_reader.h"
#include "result/evidence_json.h"

static const char *const unit_words[] = {
	[UNIT_BYTES_PER_SECOND] = "bytes_per_second",
	[UNIT_OPERATIONS_PER_SECOND] = "operations_per_second",
	[UNIT_NANOSECONDS] = "nanoseconds",
	[UNIT_FRACTION] = "fraction",
	[UNIT_BYTES] = "bytes",
	[UNIT_COUNT] = "count",
};

static const char *const direction_words[] = {
	[HIGHER_IS_BETTER] = "higher_is_better",
	[LOWER_IS_BETTER] = "lower_is_better",
	[NO_DIRECTION] = "no_direction",
};

static const char *const cache_words[] = {
	[RESULT_CACHE_KEPT] = "kept",
	[RESULT_CACHE_ADVISED] = "advised",
	[RESULT_CACHE_DROPPED] = "dropped",
};

static const char *const mark_words[RESULT_MARKS] = {
	"page_cache",
	"recovered",
	"not_synced",
	"inflated",
	"impossible",
	"latency_sum",
	"cpu_sum",
	"corrected",
};

static const char *const stage_words[] = {
	[STAGE_MEASURE] = "measure",
	[STAGE_WARMUP] = "warmup",
	[STAGE_CALIBRATE] = "calibrate",
};

/* The counters that are 64 bits wide; threads is the one that is not.  What is unknown is
 * null. */
static const struct {
	const char *key;
	size_t offset;
	enum result_counter bit;
} counter_keys[] = {
	{"requested_bytes", offsetof(struct result_counters, requested_bytes),
		RESULT_REQUESTED_BYTES},
	{"block_bytes", offsetof(struct result_counters, block_bytes),
		RESULT_BLOCK_BYTES},
	{"bytes", offsetof(struct result_counters, bytes), RESULT_BYTES},
	{"operations", offsetof(struct result_counters, operations),
		RESULT_OPERATIONS},
	{"wall_ns", offsetof(struct result_counters, wall_ns), RESULT_WALL},
	{"user_ns", offsetof(struct result_counters, user_ns), RESULT_USER},
	{"system_ns", offsetof(struct result_counters, system_ns),
		RESULT_SYSTEM},
	{"syncs", offsetof(struct result_counters, syncs), RESULT_SYNCS},
};

const char *result_unit_word(enum result_unit unit)
{
	return unit_words[unit];
}

const char *result_direction_word(enum result_direction direction)
{
	return direction_words[direction];
}

static json_t *hist_to_json(const struct hist *h)
{
	json_auto_t *buckets = json_array();
	json_t *json;

	for (size_t i = 0; buckets && i < HIST_BUCKETS; i++)
		if (h->buckets[i] &&
			json_array_append_new(buckets,
				json_pack("[I,I]", (json_int_t)hist_bucket_low_ns(i),
					(json_int_t)h->buckets[i])))
			return NULL;
	if (!buckets)
		return NULL;
	json = json_pack("{sI,sI,sI,sI,sO}", "count", (json_int_t)h->count, "sum_ns",
		(json_int_t)h->sum_ns, "over_2s", (json_int_t)h->over_2s, "over_10s",
		(json_int_t)h->over_10s, "buckets", buckets);
	if (json && h->count &&
		(json_object_set_new(
			 json, "min_ns", json_integer((json_int_t)h->min_ns)) ||
			json_object_set_new(
				json, "max_ns", json_integer((json_int_t)h->max_ns)))) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static json_t *counters_to_json(const struct result_counters *c)
{
	json_t *json = json_pack("{so}", "threads",
		result_knows(c, RESULT_THREADS) ? json_integer((json_int_t)c->threads)
						: json_null());

	for (size_t i = 0; json && i < ARRAY_SIZE(counter_keys); i++) {
		uint64_t value;

		memcpy(&value, (const char *)c + counter_keys[i].offset, sizeof(value));
		if (json_object_set_new(json, counter_keys[i].key,
			    result_knows(c, counter_keys[i].bit)
				    ? json_integer((json_int_t)value)
				    : json_null())) {
			json_decref(json);
			return NULL;
		}
	}
	return json;
}

static json_t *marks_to_json(unsigned marks)
{
	json_auto_t *json = json_array();

	for (size_t i = 0; json && i < RESULT_MARKS; i++)
		if (marks & (1u << i) &&
			json_array_append_new(json, json_string(mark_words[i])))
			return NULL;
	return take_ptr(json);
}

static json_t *metric_to_json(const struct result_metric *m)
{
	return json_pack("{ss,ss,ss,so}", "name", m->name, "unit", unit_words[m->unit],
		"direction", direction_words[m->direction], "value",
		isfinite(m->value) ? json_real(m->value) : json_null());
}

static json_t *phase_to_json(const struct result_phase *phase)
{
	json_auto_t *metrics = json_array();
	json_auto_t *json = NULL;

	for (size_t i = 0; metrics && i < phase->metric_count; i++)
		if (json_array_append_new(metrics, metric_to_json(&phase->metrics[i])))
			return NULL;
	json = json_pack("{ss,ss,ss,so,sO}", "name", phase->name, "title", phase->title,
		"cache", cache_words[phase->cache], "counters", counters_to_json(&phase->counters),
		"metrics", metrics);
	if (json && phase->marks &&
		json_object_set_new(json, "marks", marks_to_json(phase->marks)))
		return NULL;
	if (json && phase->latency &&
		json_object_set_new(json, "latency", hist_to_json(phase->latency)))
		return NULL;
	if (json && phase->sync_latency &&
		json_object_set_new(
			json, "sync_latency", hist_to_json(phase->sync_latency)))
		return NULL;
	if (json && phase->evidence &&
		json_object_set_new(json, "evidence", evidence_to_json(phase->evidence)))
		return NULL;
	return take_ptr(json);
}

json_t *result_run_to_json(const struct result_run *run)
{
	json_auto_t *phases = json_array();

	for (size_t i = 0; phases && i < run->phase_count; i++)
		if (json_array_append_new(phases, phase_to_json(&run->phases[i])))
			return NULL;
	return json_pack("{ss,ss,ss,ss,ss,sI,sI,sI,sO}", "schema", RESULT_RUN_SCHEMA,
		"workload", run->workload ? run->workload : "", "type",
		run->type ? run->type : "", "arm", run->arm ? run->arm : "", "stage",
		stage_words[run->stage], "block",
		(json_int_t)run->block, "position", (json_int_t)run->position,
		"started_wall_ns", (json_int_t)run->started_wall_ns, "phases", phases);
}

/* Reading. */

static void read_buckets(struct json_reader *rd, struct hist *h)
{
	const json_t *buckets = json_read_array(rd, "buckets"), *pair;
	uint64_t total = 0;
	size_t i;

	json_array_foreach (buckets, i, pair) {
		const json_t *low = json_array_get(pair, 0), *n = json_array_get(pair, 1);
		uint64_t *bucket;

		if (rd->status)
			return;
		if (!json_is_integer(low) || json_integer_value(low) < 0 ||
			!json_is_integer(n) || json_integer_value(n) <= 0 ||
			(uint64_t)json_integer_value(n) > h->count - total) {
			json_read_bad(rd, "buckets", "pairs of a duration and a count");
			return;
		}
		bucket = &h->buckets[hist_bucket((uint64_t)json_integer_value(low))];
		if (*bucket)
			json_read_bad(rd, "buckets", "each bucket once");
		*bucket = (uint64_t)json_integer_value(n);
		total += *bucket;
	}
	if (!rd->status && total != h->count)
		json_read_bad(rd, "buckets", "as many operations as \"count\"");
}

static int read_hist(
	struct hist **out, const json_t *phase, const char *key, struct err *e)
{
	struct json_reader rd = {json_object_get(phase, key), e, 0};
	_cleanup_free_ struct hist *h = NULL;

	if (!rd.object)
		return 0;
	h = malloc(sizeof(*h));
	if (!h)
		return err_set(e, ENOMEM, "read \"%s\"", key);
	hist_init(h);
	h->count = json_read_number(&rd, "count", INT64_MAX);
	h->sum_ns = json_read_number(&rd, "sum_ns", INT64_MAX);
	h->over_2s = json_read_number(&rd, "over_2s", h->count);
	h->over_10s = json_read_number(&rd, "over_10s", h->count);
	if (h->count) {
		h->max_ns = json_read_number(&rd, "max_ns", INT64_MAX);
		h->min_ns = json_read_number(&rd, "min_ns", h->max_ns);
	}
	read_buckets(&rd, h);
	if (rd.status)
		return err_wrap(e, rd.status, "%s", key);
	*out = take_ptr(h);
	return 0;
}

/* A counter, or 0 with its bit set when it is null. */
static uint64_t read_counter(struct json_reader *rd, struct result_counters *c,
	const char *key, uint64_t limit, enum result_counter bit)
{
	if (!json_is_null(json_object_get(rd->object, key)))
		return json_read_number(rd, key, limit);
	c->unknown |= bit;
	return 0;
}

static int read_counters(struct result_counters *c, const json_t *phase, struct err *e)
{
	struct json_reader rd = {json_object_get(phase, "counters"), e, 0};

	c->threads = (uint32_t)read_counter(&rd, c, "threads", UINT32_MAX, RESULT_THREADS);
	for (size_t i = 0; i < ARRAY_SIZE(counter_keys); i++) {
		uint64_t value = read_counter(&rd, c, counter_keys[i].key, INT64_MAX,
			counter_keys[i].bit);

		memcpy((char *)c + counter_keys[i].offset, &value, sizeof(value));
	}
	return rd.status ? err_wrap(e, rd.status, "counters") : 0;
}

static int read_metric(struct result_phase *phase, const json_t *json, struct err *e)
{
	struct json_reader rd = {json, e, 0};
	_cleanup_free_ char *name = json_read_name(&rd, "name");
	unsigned unit = json_read_word(&rd, "unit", unit_words, ARRAY_SIZE(unit_words));
	unsigned direction = json_read_word(
		&rd, "direction", direction_words, ARRAY_SIZE(direction_words));
	const json_t *value = json_object_get(json, "value");

	if (!rd.status && !json_is_number(value) && !json_is_null(value))
		json_read_bad(&rd, "value", "a number or null");
	if (rd.status)
		return rd.status;
	return result_phase_add_metric(phase, name, unit, direction,
		json_is_null(value) ? NAN : json_number_value(value), e);
}

static int read_evidence(struct result_phase *phase, const json_t *json, struct err *e)
{
	const json_t *evidence = json_object_get(json, "evidence");
	int r;

	if (!evidence)
		return 0;
	phase->evidence = malloc(sizeof(*phase->evidence));
	if (!phase->evidence)
		return err_set(e, ENOMEM, "evidence");
	r = evidence_from_json(phase->evidence, evidence, e);
	return r ? err_wrap(e, r, "evidence") : 0;
}

static int read_marks(struct result_phase *phase, const json_t *json, struct err *e)
{
	const json_t *marks = json_object_get(json, "marks"), *mark;
	size_t i, k;

	if (!marks)
		return 0;
	if (!json_is_array(marks))
		return err_say(e, EBADMSG, "\"marks\" is not an array");
	json_array_foreach (marks, i, mark) {
		const char *word = json_string_value(mark);

		for (k = 0; word && k < RESULT_MARKS && strcmp(word, mark_words[k]);)
			k++;
		if (!word || k == RESULT_MARKS)
			return err_say(e, EBADMSG, "marks[%zu] is not a known word", i);
		phase->marks |= 1u << k;
	}
	return 0;
}

static int read_phase(struct result_run *run, const json_t *json, struct err *e)
{
	struct json_reader rd = {json, e, 0};
	_cleanup_free_ char *name = json_read_name(&rd, "name");
	_cleanup_free_ char *title = json_read_text(&rd, "title");
	const json_t *metrics = json_read_array(&rd, "metrics"), *metric;
	struct result_phase *phase;
	size_t i;
	int r;

	r = rd.status ? rd.status : result_run_add_phase(run, name, title, &phase, e);
	if (!r)
		r = read_counters(&phase->counters, json, e);
	if (!r && json_object_get(json, "cache")) { /* first versions had none */
		phase->cache = (enum result_cache)json_read_word(
			&rd, "cache", cache_words, ARRAY_SIZE(cache_words));
		r = rd.status;
	}
	if (!r)
		r = read_marks(phase, json, e);
	json_array_foreach (metrics, i, metric) {
		if (r)
			return r;
		r = read_metric(phase, metric, e);
		if (r)
			err_wrap(e, r, "metrics[%zu]", i);
	}
	if (!r)
		r = read_hist(&phase->latency, json, "latency", e);
	if (!r)
		r = read_hist(&phase->sync_latency, json, "sync_latency", e);
	if (!r)
		r = read_evidence(phase, json, e);
	return r;
}

int result_run_from_json(struct result_run *run, const json_t *json, struct err *e)
{
	static const char *const schema[] = {RESULT_RUN_SCHEMA};
	struct json_reader rd = {json, e, 0};
	const json_t *phases, *phase;
	size_t i;
	int r;

	json_read_word(&rd, "schema", schema, 1);
	run->workload = json_read_name(&rd, "workload");
	run->type = json_read_text(&rd, "type");
	run->arm = json_read_text(&rd, "arm");
	if (json_object_get(json, "stage")) /* first versions had none */
		run->stage = (enum result_stage)json_read_word(
			&rd, "stage", stage_words, ARRAY_SIZE(stage_words));
	run->block = (uint32_t)json_read_number(&rd, "block", UINT32_MAX);
	run->position = (uint32_t)json_read_number(&rd, "position", UINT32_MAX);
	run->started_wall_ns = json_read_number(&rd, "started_wall_ns", INT64_MAX);
	phases = json_read_array(&rd, "phases");
	r = rd.status;
	json_array_foreach (phases, i, phase) {
		if (r)
			break;
		r = read_phase(run, phase, e);
		if (r)
			err_wrap(e, r, "phases[%zu]", i);
	}
	if (r)
		result_run_deinit(run);
	return r;
}
