/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Runs as JSON: nothing is lost on the way there and back, and nothing wrong is taken. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "result/result_json.h"

static struct hist *some_hist(uint64_t seed, unsigned n)
{
	struct hist *h = malloc(sizeof(*h));

	assert_non_null(h);
	hist_init(h);
	for (unsigned i = 0; i < n; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		hist_record(h, seed >> (24 + i % 30));
	}
	return h;
}

static void make_run(struct result_run *run)
{
	struct result_phase *phase;

	*run = (struct result_run){.workload = strdup("tio"),
		.type = strdup("tiobench"),
		.arm = strdup("ssd"),
		.block = 3,
		.position = 1,
		.started_wall_ns = 1796076180123456789u};
	assert_int_equal(
		result_run_add_phase(run, "write/t4", "Sequential Writes", &phase, NULL),
		0);
	phase->counters = (struct result_counters){.requested_bytes = 1,
		.block_bytes = 2,
		.threads = 3,
		.bytes = 4,
		.operations = 5,
		.wall_ns = 6,
		.user_ns = 7,
		.system_ns = 8,
		.syncs = INT64_MAX};
	phase->latency = some_hist(1, 1000);
	phase->sync_latency = some_hist(2, 0);
	assert_int_equal(result_phase_add_metric(phase, "rate", UNIT_BYTES_PER_SECOND,
				 HIGHER_IS_BETTER, 1.0 / 3, NULL),
		0);
	assert_int_equal(result_phase_add_metric(
				 phase, "odd", UNIT_FRACTION, NO_DIRECTION, NAN, NULL),
		0);
	assert_int_equal(result_run_add_phase(run, "read/t4",
				 "Sequential \"Reads\" \n \xc2\xb5", &phase, NULL),
		0);
	phase->counters = (struct result_counters){.threads = 4,
		.unknown = RESULT_ALL_COUNTERS & ~RESULT_THREADS};
	phase->marks = RESULT_PAGE_CACHE | RESULT_CORRECTED;
}

static void a_run_comes_back_as_it_was(void **state)
{
	struct result_run run, back = {0};
	struct err e = {0};
	char *text;
	json_t *json;

	(void)state;
	make_run(&run);
	json = result_run_to_json(&run);
	assert_non_null(json);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	assert_null(strchr(text, '\n'));
	json = json_loads(text, 0, NULL);
	assert_int_equal(result_run_from_json(&back, json, &e), 0);
	json_decref(json);
	assert_string_equal(back.workload, "tio");
	assert_string_equal(back.type, "tiobench");
	assert_string_equal(back.arm, "ssd");
	assert_int_equal(back.block, 3);
	assert_int_equal(back.position, 1);
	assert_int_equal(back.started_wall_ns, run.started_wall_ns);
	assert_int_equal(back.phase_count, 2);
	assert_string_equal(back.phases[0].name, "write/t4");
	assert_string_equal(back.phases[1].title, run.phases[1].title);
	assert_memory_equal(&back.phases[0].counters, &run.phases[0].counters,
		sizeof(run.phases[0].counters));
	assert_memory_equal(
		back.phases[0].latency, run.phases[0].latency, sizeof(struct hist));
	assert_memory_equal(back.phases[0].sync_latency, run.phases[0].sync_latency,
		sizeof(struct hist));
	assert_memory_equal(&back.phases[1].counters, &run.phases[1].counters,
		sizeof(run.phases[1].counters));
	assert_int_equal(back.phases[0].marks, 0);
	assert_int_equal(back.phases[1].marks, RESULT_PAGE_CACHE | RESULT_CORRECTED);
	assert_non_null(strstr(text, "\"wall_ns\":null"));
	assert_null(back.phases[1].latency);
	assert_int_equal(back.phases[0].metric_count, 2);
	assert_true(back.phases[0].metrics[0].value == 1.0 / 3);
	assert_int_equal(back.phases[0].metrics[0].unit, UNIT_BYTES_PER_SECOND);
	assert_int_equal(back.phases[0].metrics[0].direction, HIGHER_IS_BETTER);
	assert_true(isnan(back.phases[0].metrics[1].value));
	free(text);
	result_run_deinit(&run);
	result_run_deinit(&back);
}

/* Changes a valid run and says what the message must contain. */
static void expect_refusal(const char *from, const char *to, const char *message)
{
	struct result_run run, back = {0};
	struct err e = {0};
	json_t *json;
	char *text, *changed, *at;

	make_run(&run);
	json = result_run_to_json(&run);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	at = strstr(text, from);
	assert_non_null(at);
	changed = malloc(strlen(text) + strlen(to) + 1);
	strcpy(changed, text);
	strcpy(changed + (at - text), to);
	strcat(changed, at + strlen(from));
	json = json_loads(changed, 0, NULL);
	assert_non_null(json);
	assert_int_equal(result_run_from_json(&back, json, &e), -EBADMSG);
	if (!strstr(err_message(&e), message))
		fail_msg("\"%s\" does not say \"%s\"", err_message(&e), message);
	assert_null(back.phases);
	assert_null(back.workload);
	json_decref(json);
	err_clear(&e);
	free(text);
	free(changed);
	result_run_deinit(&run);
}

static void wrong_values_are_named(void **state)
{
	(void)state;
	expect_refusal("jbdlab-run/1", "jbdlab-run/9", "\"schema\"");
	expect_refusal("\"block\":3", "\"block\":-3", "\"block\"");
	expect_refusal("\"block\":3", "\"block\":3.5", "\"block\"");
	expect_refusal("\"block\":3", "\"block\":4294967296", "\"block\"");
	expect_refusal("\"workload\":\"tio\"", "\"workload\":7", "\"workload\"");
	expect_refusal("\"syncs\"", "\"sinks\"", "phases[0]: counters: \"syncs\"");
	expect_refusal("\"page_cache\"", "\"luck\"", "phases[1]: marks[0]");
	expect_refusal("[\"page_cache\"", "7,\"x\":[\"page_cache\"", "\"marks\"");
	expect_refusal("bytes_per_second", "parsecs", "phases[0]: metrics[0]: \"unit\"");
	expect_refusal("higher_is_better", "warmer", "metrics[0]: \"direction\"");
	expect_refusal("\"value\":0.3333", "\"value\":\"a\",\"x\":0.3333", "\"value\"");
	expect_refusal("\"phases\":[", "\"phases\":7,\"x\":[", "\"phases\"");
	expect_refusal(
		"\"metrics\":[", "\"metrics\":{},\"x\":[", "phases[0]: \"metrics\"");
}

static void impossible_histograms_are_named(void **state)
{
	(void)state;
	expect_refusal("\"count\":1000", "\"count\":1001", "latency: \"buckets\"");
	expect_refusal("\"count\":1000", "\"count\":999", "latency: \"buckets\"");
	expect_refusal("\"buckets\":[[", "\"buckets\":[[-1,1],[", "\"buckets\"");
	expect_refusal("\"buckets\":[[", "\"buckets\":[[1,0],[", "\"buckets\"");
	expect_refusal("\"buckets\":[[", "\"buckets\":[7,[", "\"buckets\"");
	expect_refusal("\"buckets\":[[", "\"buckets\":[[1,9223372036854775807],[",
		"\"buckets\"");
	expect_refusal("\"min_ns\"", "\"low_ns\"", "\"min_ns\"");
	expect_refusal("\"over_2s\":0", "\"over_2s\":1001", "\"over_2s\"");
}

static void what_is_no_object_is_refused(void **state)
{
	static const char *const texts[] = {
		"[]", "{}", "[1,2]", "{\"schema\":\"jbdlab-run/1\"}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct result_run back = {0};
		struct err e = {0};
		json_t *json = json_loads(texts[i], 0, NULL);

		assert_int_equal(result_run_from_json(&back, json, &e), -EBADMSG);
		json_decref(json);
		err_clear(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_comes_back_as_it_was),
		cmocka_unit_test(wrong_values_are_named),
		cmocka_unit_test(impossible_histograms_are_named),
		cmocka_unit_test(what_is_no_object_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
