/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The process that made a scratch disk: known while it lives, and not mistaken. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/macros.h"
#include "scratch/owner.h"

static void another_process_is_alive_until_it_ends(void **state _unused_)
{
	int pair[2], status;
	char word[128] = "";
	pid_t child;

	assert_int_equal(pipe(pair), 0);
	child = fork();
	if (child == 0) {
		_cleanup_free_ char *self = owner_self();

		if (self && write(pair[1], self, strlen(self)) > 0)
			pause();
		_exit(0);
	}
	assert_true(read(pair[0], word, sizeof(word) - 1) > 0);
	close(pair[0]);
	close(pair[1]);
	assert_int_equal(owner_alive(word), child);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(owner_alive(word), 0);
}

static void ourselves_and_others_with_the_same_number_are_not_meant(void **state _unused_)
{
	_cleanup_free_ char *self = owner_self();
	char word[128];

	assert_non_null(self);
	assert_int_equal(owner_alive(self), 0);
	snprintf(word, sizeof(word), "%d:0:%s", (int)getppid(), strrchr(self, ':') + 1);
	assert_int_equal(owner_alive(word), 0);
	assert_int_equal(owner_alive(""), 0);
	assert_int_equal(owner_alive("x:1:2"), 0);
	assert_int_equal(owner_alive("-1:1:2"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_process_is_alive_until_it_ends),
		cmocka_unit_test(ourselves_and_others_with_the_same_number_are_not_meant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
