/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * What a device is made of, in a small tree of sysfs: dm-0 on dm-1 on the partition sda1,
 * beside the partition sda2.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "device/stack.h"

static char root[] = "/tmp/jbdlab-stack.XXXXXX";

static int make_tree(void **state)
{
	char command[1400];

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(command, sizeof(command),
		"cd %s && d=devices/block && mkdir -p dev/block $d/sda/sda1 $d/sda/sda2 "
		"$d/dm-0/slaves $d/dm-1/slaves $d/sda/slaves && "
		"echo 8:0 >$d/sda/dev && echo 8:1 >$d/sda/sda1/dev && "
		"echo 8:2 >$d/sda/sda2/dev && echo 1 >$d/sda/sda1/partition && "
		"echo 2 >$d/sda/sda2/partition && "
		"echo 254:0 >$d/dm-0/dev && echo 254:1 >$d/dm-1/dev && "
		"ln -s ../../dm-1 $d/dm-0/slaves/dm-1 && "
		"ln -s ../../sda/sda1 $d/dm-1/slaves/sda1 && for n in sda:8:0 "
		"sda/sda1:8:1 sda/sda2:8:2 dm-0:254:0 dm-1:254:1; do "
		"ln -s ../../$d/${n%%%%:*} dev/block/${n#*:}; done",
		root);
	return system(command);
}

static int remove_tree(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static bool made_of(unsigned top_major, unsigned top_minor, unsigned major, unsigned minor)
{
	return stack_is_made_of_sysfs(
		root, makedev(top_major, top_minor), makedev(major, minor));
}

static void a_device_is_made_of_what_lies_below_at_any_depth(void **state)
{
	(void)state;
	assert_true(made_of(254, 1, 8, 1));
	assert_true(made_of(254, 0, 254, 1));
	assert_true(made_of(254, 0, 8, 1));
}

static void the_other_partition_and_the_whole_disk_are_not_below(void **state)
{
	(void)state;
	assert_false(made_of(254, 0, 8, 2));
	assert_false(made_of(254, 0, 8, 0));
	assert_false(made_of(8, 2, 8, 1));
	assert_false(made_of(8, 1, 254, 0));
}

static void nothing_is_made_of_itself_or_of_what_is_not_there(void **state)
{
	(void)state;
	assert_false(made_of(254, 0, 254, 0));
	assert_false(made_of(9, 9, 8, 1));
	assert_false(made_of(254, 0, 9, 9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_is_made_of_what_lies_below_at_any_depth),
		cmocka_unit_test(the_other_partition_and_the_whole_disk_are_not_below),
		cmocka_unit_test(nothing_is_made_of_itself_or_of_what_is_not_there),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
