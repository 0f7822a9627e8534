/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * fio's --output-format=json and json+: for each job its reads, writes and trims, and the
 * syncs, which is where a journal shows.  sync.total_ios is 0 in 3.33; the number of
 * syncs is sync.lat_ns.N.
 */

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/printable.h"
#include "core/strbuf.h"
#include "core/units.h"
#include "import/formats.h"

static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* A latency where it was measured (N > 0). */
static void put_latency(struct reader *r, struct result_phase *phase, const char *prefix,
	const json_t *latency)
{
	static const struct {
		const char *key, *name;
	} percentiles[] = {{"50.000000", "p50"}, {"95.000000", "p95"}, {"99.000000", "p99"}};
	const json_t *list = json_object_get(latency, "percentile");
	char name[32];

	if (!(number(latency, "N") > 0))
		return;
	snprintf(name, sizeof(name), "%s_mean", prefix);
	reader_latency(r, phase, name, number(latency, "mean"));
	for (size_t i = 0; i < ARRAY_SIZE(percentiles); i++) {
		snprintf(name, sizeof(name), "%s_%s", prefix, percentiles[i].name);
		reader_latency(r, phase, name, number(list, percentiles[i].key));
	}
	snprintf(name, sizeof(name), "%s_max", prefix);
	reader_latency(r, phase, name, number(latency, "max"));
}

static void put_counter(struct result_phase *phase, enum result_counter counter, double value)
{
	if (value >= 0 && value < 9e18)
		reader_counter(phase, counter, (uint64_t)value);
}

static double option(const json_t *job, const char *key)
{
	const char *text =
		json_string_value(json_object_get(json_object_get(job, "job options"), key));
	uint64_t bytes;

	return text && !units_parse_bytes(text, &bytes, NULL) ? (double)bytes : NAN;
}

static void put_side(struct reader *r, size_t arm, const json_t *job, const char *side)
{
	const json_t *data = json_object_get(job, side);
	const char *job_name = json_string_value(json_object_get(job, "jobname"));
	double jobs = option(job, "numjobs"), bytes = number(data, "bw_bytes");
	const json_t *sync = json_object_get(json_object_get(job, "sync"), "lat_ns");
	struct result_phase *phase;
	char name[96];

	if (!(number(data, "total_ios") > 0))
		return;
	jobs = jobs >= 1 && jobs <= 1e6 ? jobs : 1;
	if (!job_name)
		job_name = "job";
	snprintf(name, sizeof(name), "%.*s/%s/t%.0f", (int)printable_cut(job_name, 60),
		job_name, side, jobs);
	phase = reader_phase(r, arm, "fio", name, name);
	put_counter(phase, RESULT_THREADS, jobs);
	put_counter(phase, RESULT_BLOCK_BYTES, option(job, "bs"));
	put_counter(phase, RESULT_BYTES, number(data, "io_bytes"));
	put_counter(phase, RESULT_OPERATIONS, number(data, "total_ios"));
	put_counter(phase, RESULT_WALL, number(data, "runtime") * 1e6);
	if (isnan(bytes)) /* before 3.0 only in KiB */
		bytes = number(data, "bw") * 1024;
	reader_rate(r, phase, bytes);
	reader_metric(r, phase, "operations", UNIT_OPERATIONS_PER_SECOND, HIGHER_IS_BETTER,
		number(data, "iops"));
	put_latency(r, phase, "latency", json_object_get(data, "clat_ns"));
	if (strcmp(side, "write"))
		return;
	put_counter(phase, RESULT_SYNCS, number(sync, "N"));
	put_latency(r, phase, "sync", sync);
}

static void put_jobs(struct reader *r, const json_t *root)
{
	static const char *const sides[] = {"read", "write", "trim"};
	const json_t *jobs = json_object_get(root, "jobs"), *job;
	size_t i, arm = reader_arm(r, NULL);

	if (!json_is_array(jobs)) {
		reader_malformed(r, "expected an array \"jobs\"");
		return;
	}
	json_array_foreach (jobs, i, job) {
		double failed = number(job, "error");

		if (failed > 0)
			reader_warn(r, reader_number(r), "job %zu ended with error %.0f", i + 1,
				failed);
		for (size_t k = 0; k < ARRAY_SIZE(sides); k++)
			put_side(r, arm, job, sides[k]);
	}
}

/* The lines from the present one on as one text again. */
static char *rest_of_text(const struct reader *r)
{
	struct strbuf b = {0};

	for (size_t i = r->at; i < r->lines.count; i++) {
		strbuf_add(&b, r->lines.lines[i].text);
		strbuf_add(&b, "\n");
	}
	return strbuf_take(&b);
}

static size_t lines_in(const char *text, size_t n)
{
	size_t lines = 1;

	for (size_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	return lines;
}

static size_t take(struct reader *r, void *data _unused_)
{
	_cleanup_free_ char *text = NULL;
	json_auto_t *root = NULL;
	json_error_t where;

	/* The first key of fio's output is its version. */
	if (strcmp(reader_line(r), "{") || !strstr(reader_ahead(r, 1), "\"fio version\""))
		return 0;
	text = rest_of_text(r);
	if (!text) {
		r->failed = true;
		return 1;
	}
	root = json_loads(text, JSON_DISABLE_EOF_CHECK, &where);
	if (!root) {
		reader_malformed(r, "not JSON in line %u: %s",
			reader_number(r) + (unsigned)MAX(where.line, 1) - 1, where.text);
		return 1;
	}
	put_jobs(r, root);
	return lines_in(text, (size_t)where.position);
}

const struct import_format import_fio = {
	.name = "fio",
	.help = "JSON of fio (--output-format=json)",
	.take = take,
};
