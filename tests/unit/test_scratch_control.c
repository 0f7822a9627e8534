/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Questions and answers over a local socket. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/clock.h"
#include "scratch/control.h"

static char path[64];

static int setup(void **state _unused_)
{
	snprintf(path, sizeof(path), "/tmp/jbdlab-control.%d", (int)getpid());
	unlink(path);
	return 0;
}

static int teardown(void **state _unused_)
{
	unlink(path);
	return 0;
}

static char *echo(void *user, const char *question)
{
	int *count = user;

	++*count;
	return strcmp(question, "nothing") ? strdup(question) : NULL;
}

static void a_question_is_answered(void **state _unused_)
{
	_cleanup_(control_server_freep) struct control_server *s = NULL;
	_cleanup_(err_clear) struct err e = { 0 };
	int count = 0;

	assert_int_equal(control_server_new(&s, path, echo, &count, &e), 0);
	for (int i = 0; i < 50; i++) {
		_cleanup_free_ char *answer = NULL;

		assert_int_equal(control_ask(path, "how are you?", &answer, &e), 0);
		assert_string_equal(answer, "how are you?");
	}
	s = control_server_free(s);
	assert_int_equal(count, 50);
}

static void no_answer_is_an_error(void **state _unused_)
{
	_cleanup_(control_server_freep) struct control_server *s = NULL;
	_cleanup_(err_clear) struct err e = { 0 };
	char *answer = NULL;
	int count = 0;

	assert_int_equal(control_server_new(&s, path, echo, &count, &e), 0);
	assert_int_equal(control_ask(path, "nothing", &answer, &e), -ECONNRESET);
	assert_null(answer);
}

static void nobody_there_is_an_error(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 }, again = { 0 };
	struct control_server *s = NULL;
	char *answer = NULL;
	int count = 0;

	assert_int_equal(control_ask(path, "hello", &answer, &e), -ENOENT);
	err_clear(&e);
	assert_int_equal(control_server_new(&s, path, echo, &count, &e), 0);
	control_server_free(s);
	assert_int_equal(control_ask(path, "hello", &answer, &again), -ECONNREFUSED);
}

static void a_process_that_hangs_is_given_up(void **state _unused_)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	_cleanup_(err_clear) struct err e = { 0 };
	uint64_t from = clock_now_ns();
	char *answer = NULL;

	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(control_ask(path, "hello", &answer, &e), -ETIMEDOUT);
	assert_in_range(clock_now_ns() - from, 2 * NS_PER_S, 60 * NS_PER_S);
}

static void a_silent_client_does_not_hold_up_the_others(void **state _unused_)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	_cleanup_(control_server_freep) struct control_server *s = NULL;
	_cleanup_(err_clear) struct err e = { 0 };
	_cleanup_free_ char *answer = NULL;
	int count = 0;

	assert_int_equal(control_server_new(&s, path, echo, &count, &e), 0);
	strcpy(address.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(control_ask(path, "hello", &answer, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_question_is_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(no_answer_is_an_error, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_there_is_an_error, setup, teardown),
		cmocka_unit_test_setup_teardown(a_process_that_hangs_is_given_up, setup,
			teardown),
		cmocka_unit_test_setup_teardown(a_silent_client_does_not_hold_up_the_others,
			setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
