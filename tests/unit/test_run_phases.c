/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Tables of phases: everything that was begun is undone, last first, on every way out. */

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "run/phases.h"
#include "run/progress.h"

struct trace {
	char text[100];
	char log[200];
	char begun[100];
	int fail_run, fail_undo; /* number of the phase; 0: none */
	enum err_kind undo_kind;
	volatile sig_atomic_t stop;
	int stop_in;
};

static int note(void *context, const char *what, int number)
{
	struct trace *t = context;
	size_t n = strlen(t->text);

	snprintf(t->text + n, sizeof(t->text) - n, "%s%d ", what, number);
	return number;
}

static int run_number(void *context, int number, struct err *e)
{
	struct trace *t = context;

	note(t, "r", number);
	if (t->stop_in == number)
		t->stop = SIGINT;
	return t->fail_run == number ? err_say(e, EIO, "run %d broke", number) : 0;
}

static int undo_number(void *context, int number, struct err *e)
{
	struct trace *t = context;
	int r;

	note(t, "u", number);
	if (t->fail_undo != number)
		return 0;
	r = err_say(e, EBUSY, "undo %d broke", number);
	e->kind = t->undo_kind;
	return r;
}

#define PHASE(n)                                                                         \
	static int run##n(void *c, struct err *e)                                        \
	{                                                                                \
		return run_number(c, n, e);                                              \
	}                                                                                \
	static int undo##n(void *c, struct err *e)                                       \
	{                                                                                \
		return undo_number(c, n, e);                                             \
	}
PHASE(1)
PHASE(2)
PHASE(3)

static void note_begun(void *context, const char *name, bool undo)
{
	struct trace *t = context;
	size_t n = strlen(t->begun);

	snprintf(t->begun + n, sizeof(t->begun) - n, "%s%s ", undo ? "-" : "", name);
}

static void emit(void *data, enum log_level level, const char *line)
{
	struct trace *t = data;

	assert_int_equal(level, LOG_WARNING);
	snprintf(t->log, sizeof(t->log), "%s", line);
}

static int run_all(struct trace *t, struct err *e)
{
	static const struct phase phases[] = { { "first", run1, undo1 },
		{ "second", run2, undo2 }, { "third", run3, NULL } };
	struct log log = { emit, t };

	(void)undo3;
	return phases_run(phases, 3, t, note_begun, &t->stop, &log, e);
}

static void all_are_run_and_undone(void **state)
{
	struct trace t = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run_all(&t, &e), 0);
	assert_string_equal(t.text, "r1 r2 r3 u2 u1 ");
	assert_string_equal(t.begun, "first second third -second -first ");
}

static void after_a_failure_what_was_begun_is_undone(void **state)
{
	struct trace t = { .fail_run = 2 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run_all(&t, &e), -EIO);
	assert_string_equal(t.text, "r1 r2 u2 u1 ");
	assert_string_equal(err_message(&e), "second: run 2 broke");
	err_clear(&e);
}

static void a_signal_ends_between_phases(void **state)
{
	struct trace t = { .stop_in = 1 };
	struct err e = { 0 };

	(void)state;
	assert_true(run_all(&t, &e) < 0);
	assert_int_equal(e.kind, ERR_INTERRUPTED);
	assert_int_equal(e.code, SIGINT);
	/* The second was about to begin: its undo copes with that. */
	assert_string_equal(t.text, "r1 u2 u1 ");
	err_clear(&e);
}

static void a_failing_undo_does_not_stop_the_others(void **state)
{
	struct trace t = { .fail_undo = 2 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run_all(&t, &e), -EBUSY);
	assert_string_equal(t.text, "r1 r2 r3 u2 u1 ");
	assert_string_equal(err_message(&e), "undo \"second\": undo 2 broke");
	err_clear(&e);
}

static void the_first_error_is_the_one_that_counts(void **state)
{
	struct trace t = { .fail_run = 3, .fail_undo = 1 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run_all(&t, &e), -EIO);
	assert_string_equal(err_message(&e), "third: run 3 broke");
	assert_int_equal(e.kind, ERR_FAILED);
	assert_string_equal(t.log, "undo \"first\": undo 1 broke");
	err_clear(&e);
}

static void a_volume_that_needs_recovery_is_not_hidden(void **state)
{
	struct trace t = { .fail_run = 3, .fail_undo = 1, .undo_kind = ERR_NEEDS_RECOVER };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run_all(&t, &e), -EIO);
	assert_int_equal(e.kind, ERR_NEEDS_RECOVER);
	err_clear(&e);
}

static void time_left_follows_the_cells_that_are_done(void **state)
{
	struct progress p;

	(void)state;
	assert_int_equal(progress_init(&p, 2, 3, NULL), 0);
	progress_begin_cell(&p, 1000);
	assert_true(progress_left_ns(&p, 0, 1500) == UINT64_MAX);
	assert_true(progress_block_ns(&p) == UINT64_MAX);
	progress_end_cell(&p, 0, 1100); /* 100 */
	/* Two more of the first arm, three of the other, taken to be as long. */
	assert_int_equal(progress_left_ns(&p, 1, 1100), 500);
	assert_int_equal(progress_left_ns(&p, 1, 1140), 460);
	assert_int_equal(progress_left_ns(&p, 1, 9999), 400);
	progress_end_cell(&p, 1, 1130); /* 30 */
	assert_int_equal(progress_left_ns(&p, 1, 1130), 2 * 100 + 2 * 30);
	assert_int_equal(progress_block_ns(&p), 130);
	for (unsigned i = 0; i < 4; i++)
		progress_end_cell(&p, i % 2, 1130);
	assert_int_equal(progress_left_ns(&p, 1, 1130), 0);
	progress_deinit(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_run_and_undone),
		cmocka_unit_test(after_a_failure_what_was_begun_is_undone),
		cmocka_unit_test(a_signal_ends_between_phases),
		cmocka_unit_test(a_failing_undo_does_not_stop_the_others),
		cmocka_unit_test(the_first_error_is_the_one_that_counts),
		cmocka_unit_test(a_volume_that_needs_recovery_is_not_hidden),
		cmocka_unit_test(time_left_follows_the_cells_that_are_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
