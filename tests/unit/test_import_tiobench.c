/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Tables of tiobench: our own come back as they were, and what mail, narrow columns and
 * people did to others is read or said. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "import/import.h"
#include "report/render_tiobench.h"
#include "report/render_tiotest.h"

#define TITLE "Sequential Reads\n"

static void import(struct import *im, const char *text, bool correct)
{
	struct import_options o = {.correct = correct};
	struct err e = {0};

	if (import_text(im, "file", text, strlen(text), &o, &e))
		fail_msg("%s", err_message(&e));
}

static const struct result_phase *phase_of(const struct import *im, size_t arm, size_t i)
{
	assert_true(im->arm_count > arm && im->arms[arm].runs[0].phase_count > i);
	return &im->arms[arm].runs[0].phases[i];
}

static double metric(const struct result_phase *phase, const char *name)
{
	const struct result_metric *m = result_phase_metric(phase, name);

	return m ? m->value : NAN;
}

static bool says(const struct import *im, unsigned line, const char *words)
{
	for (size_t i = 0; i < im->note_count; i++)
		if (im->notes[i].line == line && strstr(im->notes[i].text, words))
			return true;
	return false;
}

/* A phase of which everything was measured. */
static void add_phase(
	struct result_run *run, const char *name, const char *title, uint64_t seed)
{
	struct result_phase *phase;

	assert_int_equal(result_run_add_phase(run, name, title, &phase, NULL), 0);
	phase->counters = (struct result_counters){.requested_bytes = 512 << 20,
		.block_bytes = 4096,
		.threads = (uint32_t)atoi(strstr(name, "/t") + 2),
		.bytes = 512 << 20,
		.operations = 131072,
		.wall_ns = 900000000 + seed % 37000000000,
		.user_ns = seed % 300000000,
		.system_ns = seed % 7000000000};
	phase->latency = malloc(sizeof(*phase->latency));
	assert_non_null(phase->latency);
	hist_init(phase->latency);
	for (unsigned i = 0; i < 4000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		hist_record(phase->latency, 30000 + (seed >> (i % 50 ? 44 : 31)));
	}
}

/* Word by word: CPU is cut to five characters, so that "8.830%" may come back as 8.83%. */
static void expect_same_words(const char *a, const char *b)
{
	while (*(a += strspn(a, " \n")) && *(b += strspn(b, " \n"))) {
		size_t n = strcspn(a, " \n"), m = strcspn(b, " \n");
		bool same = n == m && !strncmp(a, b, n);
		char *end = NULL;

		if (!same && (strtod(a, &end) != strtod(b, NULL) || *end != '%'))
			fail_msg("\"%.*s\" is not \"%.*s\" at %.80s", (int)n, a, (int)m, b,
				a);
		a += n;
		b += m;
	}
	assert_true(!*a && !*(b + strspn(b, " \n")));
}

static void expect_round_trip(enum tiobench_format format)
{
	static const char *const phases[][2] = {{"read", "Sequential Reads"},
		{"rread", "Random Reads"}, {"write", "Sequential Writes"},
		{"rwrite", "Random Writes"}};
	struct result_run run = {0};
	struct strbuf first = {0}, second = {0};
	struct import im;
	char name[32];

	for (unsigned i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "%s/t%u", phases[i / 4][0], 1u << i % 4);
		add_phase(&run, name, phases[i / 4][1],
			UINT64_C(0x9e3779b97f4a7c15) * (i + 1));
	}
	render_tiobench_units(format, &first);
	render_tiobench(&run, "our own 1", format, &first);
	import(&im, strbuf_text(&first), false);
	assert_int_equal(im.rows, 16);
	assert_int_equal(im.arm_count, 1);
	assert_string_equal(im.arms[0].name, "our own 1");
	render_tiobench_units(format, &second);
	render_tiobench(&im.arms[0].runs[0], "our own 1", format, &second);
	expect_same_words(strbuf_text(&second), strbuf_text(&first));
	import_deinit(&im);
	strbuf_deinit(&first);
	strbuf_deinit(&second);
	result_run_deinit(&run);
}

static void our_own_tables_come_back_as_they_were(void **state)
{
	(void)state;
	expect_round_trip(TIOBENCH_WIDE);
	expect_round_trip(TIOBENCH_CLASSIC);
}

/* Rates, latencies and CPU to the digits that tiotest prints. */
static void expect_tiotest(enum tiotest_format format, double digits_ms)
{
	struct result_run run = {0};
	struct strbuf text = {0};
	struct import im;
	const struct result_phase *phase;

	add_phase(&run, "write/t4", "Sequential Writes", 1);
	add_phase(&run, "rwrite/t4", "Random Writes", 2);
	add_phase(&run, "read/t4", "Sequential Reads", 3);
	add_phase(&run, "rread/t4", "Random Reads", 4);
	strbuf_add(&text, "$ tiotest -t 4 -f 128 -b 4096 -r 131072\n");
	render_tiotest(&run, format, &text);
	import(&im, strbuf_text(&text), false);
	assert_int_equal(im.rows, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct result_counters *c = &run.phases[i].counters;
		const struct hist *h = run.phases[i].latency;
		double wall_s = (double)c->wall_ns / 1e9;

		phase = phase_of(&im, 0, 0);
		for (size_t k = 0; k < 4; k++)
			if (!strcmp(phase_of(&im, 0, k)->name, run.phases[i].name))
				phase = phase_of(&im, 0, k);
		assert_string_equal(phase->name, run.phases[i].name);
		/* Half of the last digit: MB/s with three, seconds with five. */
		assert_true(fabs(metric(phase, "rate") / 1048576 - 512 / wall_s) < 0.00051);
		assert_true(fabs(metric(phase, "latency_mean") / 1e6 - hist_mean_ns(h) / 1e6) <
			    digits_ms);
		assert_true(fabs(metric(phase, "latency_max") / 1e6 - (double)h->max_ns / 1e6) <
			    digits_ms);
		assert_true(fabs(metric(phase, "cpu") - (double)(c->user_ns + c->system_ns) /
							 (double)c->wall_ns) < 0.00101);
	}
	import_deinit(&im);
	strbuf_deinit(&text);
	result_run_deinit(&run);
}

static void our_own_tiotest_comes_back(void **state)
{
	(void)state;
	expect_tiotest(TIOTEST_BOX, 0.00051);
	expect_tiotest(TIOTEST_TERSE, 0.0000051);
}

static void a_row_is_whole_whatever_mail_did_to_it(void **state)
{
	static const char *const texts[] = {
		TITLE "ext4 128 4096 4 5565.22 78.17% 0.001 9.84 0.00000 0.00000 7119\n",
		"> " TITLE "> ext4\t128\t4096\t4\t5565.22\t78.17%\t0.001\t9.84\t0\t0\t7119\n",
		TITLE "ext4   128   4096    4   5565.22 78.17%     0.001\n"
		      "     9.84   0.00000  0.00000    7119\n",
		"Sequential=20Reads\next4 128 4096 4 5565.22 78.17% =\n"
		"0.001 9.84 0.00000 0.00000 7119\n",
		"Run #1: ./tiotest\rSequential Reads \n"
		"| ext4 | 128 | 4096 | 4 | 5565.22 | 78.17% | 0.001 | 9.84 | 0 | 0 | 7119 |\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const struct result_phase *phase;
		struct import im;

		import(&im, texts[i], false);
		assert_int_equal(im.rows, 1);
		assert_int_equal(im.malformed, 0);
		assert_string_equal(im.arms[0].name, "ext4");
		phase = phase_of(&im, 0, 0);
		assert_string_equal(phase->name, "read/t4");
		assert_true(metric(phase, "rate") == 5565.22 * 1048576);
		assert_true(fabs(metric(phase, "latency_max") - 9840000) < 1);
		assert_true(metric(phase, "cpu_efficiency") == 7119 * 1048576.);
		import_deinit(&im);
	}
}

static void what_columns_have_lost_is_unknown(void **state)
{
	struct import im;
	const struct result_phase *phase;

	(void)state;
	import(&im,
		TITLE
		"id 2000 10485 1 ###### 9.5e-% ######### ########### ######## ######## #####\n"
		"id 2000 4096 2 ###### 200.0% 0.001 1.00 0.00000 0.00000 1000\n"
		"id 2000 4096 4 12.00 50.00% 0.100 1.00\n",
		false);
	phase = phase_of(&im, 0, 0);
	assert_false(result_knows(&phase->counters, RESULT_BLOCK_BYTES));
	assert_true(isnan(metric(phase, "rate")));
	assert_true(isnan(metric(phase, "cpu")));
	assert_true(isnan(metric(phase, "latency_mean")));
	assert_true(isnan(metric(phase, "latency_over_2s")));
	assert_true(says(&im, 2, "block size 10485 is cut off"));
	assert_true(says(&im, 2, "at least 999.99 MB/s") ||
		    says(&im, 2, "at least 1000.00 MB/s"));
	phase = phase_of(&im, 0, 1);
	assert_true(metric(phase, "rate") == 2000 * 1048576.);
	assert_int_equal(phase->marks & RESULT_RECOVERED, RESULT_RECOVERED);
	phase = phase_of(&im, 0, 2);
	assert_true(metric(phase, "rate") == 12 * 1048576.);
	assert_true(isnan(metric(phase, "latency_over_2s")));
	assert_true(isnan(metric(phase, "cpu_efficiency")));
	import_deinit(&im);
}

static void identifiers_and_headings_are_arms(void **state)
{
	struct import im;

	(void)state;
	import(&im,
		"with cfq:\n" TITLE "2.6.18 20 4096 1 10.00 1.00% 0.300 1.00 0 0 100\n"
		"2.6.19 20 4096 1 11.00 1.00% 0.300 1.00 0 0 110\n"
		"with noop:\n" TITLE "2.6.18 20 4096 1 12.00 1.00% 0.300 1.00 0 0 120\n" TITLE
		"2.6.18 20 4096 1 13.00 1.00% 0.300 1.00 0 0 130\n",
		false);
	assert_int_equal(im.arm_count, 3);
	assert_string_equal(im.arms[0].name, "with cfq, 2.6.18");
	assert_string_equal(im.arms[1].name, "with cfq, 2.6.19");
	assert_string_equal(im.arms[2].name, "with noop");
	assert_int_equal(im.arms[2].run_count, 2); /* again: another run */
	assert_int_equal(im.arms[2].runs[1].block, 1);
	import_deinit(&im);
}

static void a_bad_row_is_said_and_the_rest_is_read(void **state)
{
	struct import im;

	(void)state;
	import(&im,
		TITLE "id 20 4096 1 1O.00 1.00% 0.300 1.00 0 0 100\n"
		      "id 20 4096 1 10.00 1.00% 0.300 x.00 0 0 100\n"
		      "id 20 4096 2 -1.00 1.00% 0.300 1.00 0 0 100\n"
		      "id 20 4096 4 0.00 0% 0.000 0.00 0.00000 0.00000 0\n"
		      "id 20 4096 8 10.00 1.00% 0.300 1.00 0 0 100\n",
		false);
	assert_int_equal(im.rows, 1);
	assert_int_equal(im.malformed, 4);
	assert_true(says(&im, 2, "expected"));
	assert_true(says(&im, 3, "expected two latencies"));
	assert_true(says(&im, 4, "not below 0"));
	assert_true(says(&im, 5, "nothing was read or written"));
	import_deinit(&im);
}

static void a_rate_above_what_latency_allows_is_said(void **state)
{
	struct import im;

	(void)state;
	import(&im, TITLE "id 20 4096 1 400.00 50.00% 1.000 2.00 0 0 800\n", false);
	assert_true(says(&im, 2, "cannot be faster than 4 MB/s"));
	assert_int_equal(phase_of(&im, 0, 0)->marks, RESULT_IMPOSSIBLE);
	import_deinit(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_own_tables_come_back_as_they_were),
		cmocka_unit_test(our_own_tiotest_comes_back),
		cmocka_unit_test(a_row_is_whole_whatever_mail_did_to_it),
		cmocka_unit_test(what_columns_have_lost_is_unknown),
		cmocka_unit_test(identifiers_and_headings_are_arms),
		cmocka_unit_test(a_bad_row_is_said_and_the_rest_is_read),
		cmocka_unit_test(a_rate_above_what_latency_allows_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
