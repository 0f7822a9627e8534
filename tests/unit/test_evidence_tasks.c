/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What processes are doing: children of ours that work, wait or are stopped. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "evidence/tasks.h"

static pid_t start(void (*work)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		alarm(300);
		work();
		_exit(0);
	}
	assert_true(pid > 0);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void sleep_on(void)
{
	for (;;)
		pause();
}

/* In a process below, so that it is found there. */
static void work_below(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	sleep_on();
}

#define WAIT_FOR_VFORK "wait-for-vfork"
static const char *program;

/* As a new program, which valgrind does not follow: it makes the call below a fork. */
static void run_wait_for_vfork(void)
{
	execl(program, program, WAIT_FOR_VFORK, NULL);
}

/* The parent of such a child waits uninterruptibly or killably, state D in both cases.  Not
 * by vfork(), which ThreadSanitizer makes a fork(). */
static void wait_for_vfork(void)
{
	if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, NULL) == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
}

static void pause_ms(long ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void time_of_processes_below_counts(void **state)
{
	pid_t idle = start(sleep_on), busy = start(work_below);
	struct tasks t = { 0 };

	(void)state;
	for (int i = 0; i < 6000 && t.cpu_ns < 100 * NS_PER_MS; i++) {
		pause_ms(10);
		tasks_look(&t, busy);
	}
	assert_true(t.cpu_ns >= 100 * NS_PER_MS);
	assert_false(t.stopped);
	tasks_look(&t, idle);
	assert_true(t.cpu_ns < 100 * NS_PER_MS);
	end(idle);
	end(busy);
}

static void a_stopped_process_is_told(void **state)
{
	pid_t pid = start(sleep_on);
	struct tasks t;

	(void)state;
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	tasks_look(&t, pid);
	assert_true(t.stopped);
	end(pid);
	tasks_look(&t, pid);
	assert_false(t.stopped);
	assert_int_equal(t.cpu_ns, 0);
}

static void who_waits_in_the_kernel_is_described(void **state)
{
	pid_t idle = start(sleep_on), pid = start(run_wait_for_vfork);
	struct strbuf b = { 0 };
	char number[32];

	(void)state;
	snprintf(number, sizeof(number), "process %d: waits in ", (int)pid);
	for (int i = 0; i < 6000 && !b.length; i++) {
		pause_ms(10);
		tasks_describe_waiting(pid, &b);
	}
	assert_non_null(strstr(strbuf_text(&b), number));
	assert_non_null(strstr(strbuf_text(&b), "\n  test_evidence_t"));
	strbuf_deinit(&b);
	tasks_describe_waiting(idle, &b);
	assert_int_equal(b.length, 0);
	end(idle);
	end(pid);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_of_processes_below_counts),
		cmocka_unit_test(a_stopped_process_is_told),
		cmocka_unit_test(who_waits_in_the_kernel_is_described),
	};

	program = argv[0];
	if (argc == 2 && !strcmp(argv[1], WAIT_FOR_VFORK)) {
		wait_for_vfork();
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
