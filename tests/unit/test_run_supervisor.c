/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Watching a run.  The runs here are made up: what is linked is this file's
 * run_experiment(), which does in the child what a test wants, on no device.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fileio.h"
#include "core/strbuf.h"
#include "run/supervisor.h"

struct fixture {
	char directory[32];
	bool ask;     /* as soon as there is some progress */
	int answered; /* the child waits here until there was an answer; -1: it does not */
	struct experiment experiment;
	struct run_options options;
	struct log log;
	struct strbuf lines;
	volatile sig_atomic_t stop, question;
};

typedef int run_function(
	const struct run_options *o, struct run_outcome *outcome, struct err *e);

static run_function *the_run;
static volatile sig_atomic_t stop_of_child;

int run_experiment(
	const struct run_options *o, struct run_outcome *outcome, struct err *e)
{
	*outcome = (struct run_outcome){0};
	return the_run(o, outcome, e);
}

void run_outcome_deinit(struct run_outcome *outcome)
{
	free(outcome->bundle);
}

static void pause_ms(long ms)
{
	const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void emit(void *data, enum log_level level, const char *line)
{
	static const char *const names[] = {"warning", "note", "detail", "progress", "answer"};
	struct fixture *f = data;

	strbuf_addf(&f->lines, "%s: %s\n", names[level], line);
	if (level == LOG_PROGRESS && f->ask)
		f->question = 1;
	if (level == LOG_ANSWER)
		closep(&f->answered);
}

static void note_stop(int number)
{
	stop_of_child = number;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->directory, "/tmp/jbdlab-watch.XXXXXX");
	f->experiment.name = (char *)"test";
	f->experiment.hang_ns = 300 * NS_PER_S;
	f->answered = -1;
	f->log = (struct log){emit, f};
	f->options = (struct run_options){.experiment = &f->experiment,
		.process = getpid(),
		.stop = &f->stop,
		.question = &f->question,
		.log = &f->log};
	*state = f;
	/* As jbdlab has it when it begins a run; the child inherits it. */
	signal(SIGTERM, note_stop);
	signal(SIGINT, note_stop);
	return mkdtemp(f->directory) ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char path[64];

	snprintf(path, sizeof(path), "%s/status.json", f->directory);
	unlink(path);
	assert_int_equal(rmdir(f->directory), 0); /* nothing else is there */
	/* Nor is a child. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	strbuf_deinit(&f->lines);
	free(f);
	return 0;
}

/* In the child: a step begins. */
static void step(const struct run_options *o, const char *bundle, const char *phase)
{
	json_t *status = json_pack("{ss,si,ss,sI,s[]}", "schema", "jbdlab-status/1", "pid",
		(int)o->process, "phase", phase, "phase_started_wall_ns",
		(json_int_t)clock_wall_ns(), "devices");

	o->observer->step(o->observer->data, bundle, status, 0);
	json_decref(status);
}

static json_t *status_of(const struct fixture *f)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/status.json", f->directory);
	return json_load_file(path, 0, NULL);
}

static void status_says(const struct fixture *f, const char *key, const char *expected)
{
	json_t *status = status_of(f);

	assert_non_null(status);
	if (expected)
		assert_string_equal(
			json_string_value(json_object_get(status, key)), expected);
	else
		assert_true(json_is_null(json_object_get(status, key)));
	json_decref(status);
}

static int good_run(const struct run_options *o, struct run_outcome *outcome,
	struct err *e _unused_)
{
	log_line(o->log, LOG_NOTE, "a note");
	log_line(o->log, LOG_PROGRESS, "10 %%");
	step(o, o->output, "measure");
	outcome->bundle = strdup(o->output);
	outcome->audit_failed = true;
	return 0;
}

static void a_run_is_the_same_as_without_a_watch(void **state)
{
	struct fixture *f = *state;
	struct run_outcome outcome;
	struct err e = {0};

	the_run = good_run;
	f->options.output = f->directory;
	assert_int_equal(run_supervised(&f->options, &outcome, &e), 0);
	assert_string_equal(strbuf_text(&f->lines), "note: a note\nprogress: 10 %\n");
	assert_string_equal(outcome.bundle, f->directory);
	assert_true(outcome.audit_failed);
	assert_false(outcome.inconclusive);
	status_says(f, "state", "done");
	status_says(f, "phase", "measure");
	status_says(f, "reason", NULL);
	run_outcome_deinit(&outcome);
}

static int refused_run(const struct run_options *o, struct run_outcome *outcome _unused_,
	struct err *e)
{
	step(o, NULL, "check");
	return err_wrap(e, err_refuse(e, "no\nnever\xff"), "check");
}

static void an_error_comes_through_whole_and_leaves_no_status(void **state)
{
	struct fixture *f = *state;
	struct run_outcome outcome;
	struct err e = {0};

	the_run = refused_run;
	assert_int_equal(run_supervised(&f->options, &outcome, &e), -EPERM);
	assert_int_equal(e.kind, ERR_REFUSED);
	assert_string_equal(err_message(&e), "check: no\nnever\xff");
	assert_null(outcome.bundle);
	assert_null(status_of(f));
	err_clear(&e);
}

/* Ends when it is told to, after some work. */
static int stoppable_run(const struct run_options *o, struct run_outcome *outcome,
	struct err *e)
{
	step(o, o->output, "wait");
	outcome->bundle = strdup(o->output);
	while (!stop_of_child)
		pause_ms(10);
	step(o, o->output, "undo");
	return err_interrupted(e, stop_of_child);
}

static void a_signal_is_passed_on_and_the_end_waited_for(void **state)
{
	struct fixture *f = *state;
	struct run_outcome outcome;
	struct err e = {0};

	the_run = stoppable_run;
	f->options.output = f->directory;
	f->stop = SIGINT; /* as if it had come before the fork */
	assert_true(run_supervised(&f->options, &outcome, &e) < 0);
	assert_int_equal(e.kind, ERR_INTERRUPTED);
	assert_int_equal(e.code, SIGINT);
	status_says(f, "state", "interrupted");
	status_says(f, "phase", "undo");
	run_outcome_deinit(&outcome);
	err_clear(&e);
}

static void a_step_without_a_sign_of_life_is_ended(void **state)
{
	struct fixture *f = *state;
	struct run_outcome outcome;
	struct err e = {0};

	the_run = stoppable_run;
	f->options.output = f->directory;
	f->experiment.hang_ns = 3 * NS_PER_S; /* and so long it has to end */
	assert_int_equal(run_supervised(&f->options, &outcome, &e), -ETIMEDOUT);
	assert_int_equal(e.kind, ERR_FAILED);
	assert_non_null(strstr(err_message(&e), "hung in phase \"wait\" for "));
	assert_non_null(strstr(err_message(&e), "then it could be ended (interrupted"));
	assert_non_null(strstr(strbuf_text(&f->lines), "warning: it hangs in phase \"wait\" for "));
	assert_non_null(strstr(strbuf_text(&f->lines), ": nothing has happened for "));
	status_says(f, "state", "failed");
	run_outcome_deinit(&outcome);
	err_clear(&e);
}

static int deaf_run(const struct run_options *o, struct run_outcome *outcome _unused_,
	struct err *e)
{
	signal(SIGTERM, SIG_IGN);
	step(o, NULL, "wait");
	while (!e || !e->code)
		pause();
	return 0;
}

static void who_does_not_end_is_killed(void **state)
{
	struct fixture *f = *state;
	struct run_outcome outcome;
	struct err e = {0};

	the_run = deaf_run;
	f->experiment.hang_ns = NS_PER_S / 2;
	assert_int_equal(run_supervised(&f->options, &outcome, &e), -ETIMEDOUT);
	assert_non_null(strstr(err_message(&e), "its process was killed"));
	err_clear(&e);
}

static int dying_run(const struct run_options *o, struct run_outcome *outcome _unused_,
	struct err *e _unused_)
{
	step(o, o->output, "wait");
	kill(getpid(), SIGKILL);
	return 0;
}

static void a_run_that_is_killed_has_failed(void **state)
{
	struct fixture *f = *state;
	struct run_outcome outcome;
	struct err e = {0};

	the_run = dying_run;
	f->options.output = f->directory;
	assert_int_equal(run_supervised(&f->options, &outcome, &e), -EIO);
	assert_non_null(strstr(err_message(&e), "ended by signal 9"));
	assert_string_equal(outcome.bundle, f->directory);
	status_says(f, "state", "failed");
	run_outcome_deinit(&outcome);
	err_clear(&e);
}

static int slow_run(const struct run_options *o, struct run_outcome *outcome _unused_,
	struct err *e _unused_)
{
	for (int i = 0; i < 15; i++) {
		step(o, NULL, "crawl");
		pause_ms(300);
	}
	return 0;
}

static void steps_are_signs_of_life(void **state)
{
	struct fixture *f = *state;
	struct run_outcome outcome;
	struct err e = {0};

	the_run = slow_run;
	f->experiment.hang_ns = 4 * NS_PER_S;
	assert_int_equal(run_supervised(&f->options, &outcome, &e), 0);
	assert_int_equal(f->lines.length, 0);
}

static int wait_for_answer[2];

/* Goes on when all descriptors of the other end are closed. */
static int asking_run(const struct run_options *o, struct run_outcome *outcome _unused_,
	struct err *e _unused_)
{
	char byte;

	close(wait_for_answer[1]);
	step(o, NULL, "think");
	log_line(o->log, LOG_PROGRESS, "half way");
	return read(wait_for_answer[0], &byte, 1) ? -EIO : 0;
}

static void a_question_is_answered_once(void **state)
{
	struct fixture *f = *state;
	struct run_outcome outcome;
	struct err e = {0};
	const char *answer;

	the_run = asking_run;
	assert_int_equal(pipe(wait_for_answer), 0);
	f->ask = true;
	f->answered = wait_for_answer[1];
	assert_int_equal(run_supervised(&f->options, &outcome, &e), 0);
	close(wait_for_answer[0]);
	answer = strstr(strbuf_text(&f->lines), "answer: test: phase \"");
	assert_non_null(answer);
	assert_null(strstr(answer + 1, "answer: "));
	assert_int_equal(f->question, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_run_is_the_same_as_without_a_watch, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_error_comes_through_whole_and_leaves_no_status, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_signal_is_passed_on_and_the_end_waited_for, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_step_without_a_sign_of_life_is_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(who_does_not_end_is_killed, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_run_that_is_killed_has_failed, setup, teardown),
		cmocka_unit_test_setup_teardown(steps_are_signs_of_life, setup, teardown),
		cmocka_unit_test_setup_teardown(a_question_is_answered_once, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
