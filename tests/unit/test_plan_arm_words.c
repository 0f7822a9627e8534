/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The programs of an arm: their variables, their words, and that a plan keeps them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/arm_words.h"
#include "workload/program.h"

static const char text[] = "[disk a.b-c]\nsize=32M\n[volume data]\ndevice=/dev/sdz9\n"
			   "[arm a]\njournal=none\nsetup=/bin/on -v $JBDLAB_DISK_a_b_c\n"
			   "teardown=off 'a b' \"$JBDLAB_ARM-$JBDLAB_BLOCK\"\n"
			   "timeout=1500ms\n[workload dd]\ntype=dd\n";

static void words_get_the_devices_and_stay_whole(void **state)
{
	static const char *const volumes[] = {"/dev/sd z"}, *const disks[] = {"/dev/loop7"};
	struct experiment x = {0};
	struct arm_facts f = {.x = &x, .block = 2, .volumes = volumes, .disks = disks};
	char **environment, **argv;

	(void)state;
	assert_int_equal(experiment_parse(&x, text, "f.ini", NULL), 0);
	f.arm = &x.arms[0];
	environment = arm_environment(&f);
	assert_string_equal(environment[0], "JBDLAB_ARM=a");
	assert_string_equal(environment[1], "JBDLAB_BLOCK=3");
	assert_string_equal(environment[2], "JBDLAB_JOURNAL=");
	assert_string_equal(environment[3], "JBDLAB_VOLUME=/dev/sd z");
	assert_string_equal(environment[4], "JBDLAB_VOLUME_data=/dev/sd z");
	assert_string_equal(environment[5], "JBDLAB_DISK_a_b_c=/dev/loop7");
	assert_null(environment[6]);
	assert_int_equal(arm_words(x.arms[0].setup, environment, &argv, NULL), 0);
	assert_string_equal(argv[0], "/bin/on");
	assert_string_equal(argv[2], "/dev/loop7");
	assert_null(argv[3]);
	program_words_free(argv);
	assert_int_equal(arm_words("x $JBDLAB_VOLUME;y", environment, &argv, NULL), 0);
	assert_string_equal(argv[1], "/dev/sd z;y");
	assert_null(argv[2]);
	program_words_free(argv);
	assert_int_equal(arm_words(x.arms[0].teardown, environment, &argv, NULL), 0);
	assert_string_equal(argv[1], "a b");
	assert_string_equal(argv[2], "a-3");
	program_words_free(argv);
	arm_environment_free(environment);
	experiment_deinit(&x);
}

static void the_printed_plan_has_them(void **state)
{
	struct experiment x = {0}, again = {0};
	char *plan;

	(void)state;
	assert_int_equal(experiment_parse(&x, text, "f.ini", NULL), 0);
	assert_int_equal(x.arms[0].timeout_ns, 1500000000);
	plan = experiment_print(&x);
	assert_int_equal(experiment_parse(&again, plan, "f.ini", NULL), 0);
	assert_string_equal(again.arms[0].setup, x.arms[0].setup);
	assert_string_equal(again.arms[0].teardown, x.arms[0].teardown);
	assert_int_equal(again.arms[0].timeout_ns, 1500000000);
	free(plan);
	experiment_deinit(&x);
	experiment_deinit(&again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_get_the_devices_and_stay_whole),
		cmocka_unit_test(the_printed_plan_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
