/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Grids: which arms come of them, in which order, with which names; what cannot be is
 * left out and said; what is wrong is said with its line.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/strbuf.h"
#include "plan/experiment.h"

#define BEGIN "[disk fast]\nsize=32M\n[disk other]\nsize=32M\n[volume data]\n"           \
	      "device=/dev/sdz9\nmkfs=ext4\n"
#define END "\n[workload dd]\ntype=dd\n"
#define USE "\n[arm z]\njournal=external=fast\n[arm y]\njournal=external=other\n"

static void read_grid(struct experiment *x, const char *grid)
{
	struct err e = {0};
	char *text;

	if (asprintf(&text, BEGIN "[grid]\n%s" USE END, grid) < 0)
		abort();
	*x = (struct experiment){0};
	if (experiment_parse(x, text, "g.ini", &e))
		fail_msg("%s", err_message(&e));
	free(text);
}

/* One line an arm: "NAME|PLACEMENT|MOUNT|LEVELS", without the arms of USE. */
static void expect_arms(const char *grid, const char *expected, const char *notes)
{
	struct strbuf b = {0};
	struct experiment x;

	read_grid(&x, grid);
	assert_string_equal(x.arms[x.arm_count - 2].name, "z");
	for (size_t i = 0; i < x.arm_count - 2; i++) {
		char *placement = placement_format(&x.arms[i].placement);

		strbuf_addf(&b, "%s|%s|%s|%s\n", x.arms[i].name, placement,
			x.arms[i].mount, x.arms[i].levels);
		free(placement);
	}
	assert_string_equal(strbuf_text(&b), expected);
	assert_string_equal(x.notes ? x.notes : "", notes);
	strbuf_deinit(&b);
	experiment_deinit(&x);
}

static void one_factor_at_a_time_differs_from_the_first_arm_in_one(void **state)
{
	(void)state;
	expect_arms("journal = inline external=fast none\n"
		    "journal_size = 64M 1G\n"
		    "data = ordered writeback journal\n"
		    "commit = 5 30\n",
		"base|inline,size=64M|data=ordered,commit=5|"
		"journal=inline journal_size=64M data=ordered commit=5\n"
		"external|external=fast,size=64M|data=ordered,commit=5|"
		"journal=external journal_size=64M data=ordered commit=5\n"
		"none|none||journal=none\n"
		"1G|inline,size=1024M|data=ordered,commit=5|"
		"journal=inline journal_size=1G data=ordered commit=5\n"
		"writeback|inline,size=64M|data=writeback,commit=5|"
		"journal=inline journal_size=64M data=writeback commit=5\n"
		"jdata|inline,size=64M|data=journal,commit=5|"
		"journal=inline journal_size=64M data=journal commit=5\n"
		"commit30|inline,size=64M|data=ordered,commit=30|"
		"journal=inline journal_size=64M data=ordered commit=30\n",
		"");
}

static void a_single_factor_names_the_arms(void **state)
{
	(void)state;
	expect_arms("journal = inline external=fast external=other\n"
		    "journal_size = 8M\n",
		"inline|inline,size=8M||journal=inline\n"
		"fast|external=fast,size=8M||journal=fast\n"
		"other|external=other,size=8M||journal=other\n",
		"");
	expect_arms("mount = defaults barrier=0,noatime\n",
		"defaults|inline||mount=defaults\n"
		"barrier-0-noatime|inline|barrier=0,noatime|mount=barrier=0,noatime\n",
		"");
	expect_arms("", "base|inline||\n", "");
}

static void a_full_grid_leaves_out_what_cannot_be(void **state)
{
	(void)state;
	expect_arms("design = full\n"
		    "journal = inline external=fast none\n"
		    "position = start end\n",
		"inline-start|inline,at=start||journal=inline position=start\n"
		"inline-end|inline,at=end||journal=inline position=end\n"
		"external|external=fast||journal=external\n"
		"none|none||journal=none\n",
		"left out 1 combination of the grid: a volume without journal has no "
		"journal_size, position, data, commit or fast_commit\n"
		"left out 1 combination of the grid: an external journal has no "
		"position in the volume");
}

static void fast_commits_do_not_go_with_journalled_data(void **state)
{
	struct experiment x;

	(void)state;
	expect_arms("design = full\n"
		    "data = ordered journal\n"
		    "fast_commit = yes no\n",
		"ordered-fc|inline|data=ordered|data=ordered fast_commit=yes\n"
		"ordered-nofc|inline|data=ordered|data=ordered fast_commit=no\n"
		"jdata-nofc|inline|data=journal|data=journal fast_commit=no\n",
		"left out 1 combination of the grid: with data=journal there are no fast "
		"commits");
	read_grid(&x, "fast_commit = yes no\n");
	assert_int_equal(x.arms[0].fast_commit, SWITCH_ON);
	assert_int_equal(x.arms[1].fast_commit, SWITCH_OFF);
	assert_int_equal(x.arms[2].fast_commit, SWITCH_AS_IS);
	experiment_deinit(&x);
}

/* The plan in a bundle has no grid but its arms, and is the same plan. */
static void the_printed_plan_has_the_same_arms(void **state)
{
	struct experiment x, again = {0};
	struct err e = {0};
	char *plan, *plan_again;

	(void)state;
	read_grid(&x, "journal = inline none\nposition = start middle 4000\n"
		      "fast_commit = no yes\n");
	plan = experiment_print(&x);
	assert_null(strstr(plan, "[grid]"));
	assert_int_equal(experiment_parse(&again, plan, "plan.ini", &e), 0);
	plan_again = experiment_print(&again);
	assert_string_equal(plan, plan_again);
	assert_int_equal(again.arm_count, x.arm_count);
	assert_int_equal(again.arms[4].fast_commit, SWITCH_ON);
	free(plan);
	free(plan_again);
	experiment_deinit(&x);
	experiment_deinit(&again);
}

static void expect_error(const char *grid, const char *message)
{
	struct experiment x = {0};
	struct err e = {0};
	char *text;

	if (asprintf(&text, BEGIN "[grid]\n%s" USE END, grid) < 0)
		abort();
	if (!experiment_parse(&x, text, "g.ini", &e))
		fail_msg("no error, but \"%s\" was expected", message);
	assert_int_equal(e.kind, ERR_USAGE);
	if (!strstr(err_message(&e), message))
		fail_msg("\"%s\" does not say \"%s\"", err_message(&e), message);
	assert_null(x.arms);
	free(text);
	err_clear(&e);
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
	(void)state;
	expect_error("design = half\n", "g.ini:9: design: \"half\" is neither");
	expect_error("data = ordered guarded\n", "g.ini:9: data: \"guarded\" is not one of");
	expect_error("data = ordered ordered\n", "g.ini:9: data: ordered is there twice");
	expect_error("data =\n", "g.ini:9: data: ");
	expect_error("commit = 0\n", "g.ini:9: commit: ");
	expect_error("journal_size = 64Q\n", "g.ini:9: journal_size: \"64Q\"");
	expect_error("journal = inline,size=4M\n", "size= is the key journal_size");
	expect_error("position = top\n", "g.ini:9: position: \"top\"");
	expect_error("journal = inline external=faste\n",
		"g.ini:9: there is no [disk faste]; did you mean \"fast\"?");
	expect_error("jurnal = inline\n", "did you mean \"journal\"?");
	expect_error("journal = external=fast\nposition = start\n",
		"g.ini:8: position = start is in no arm: an external journal has no");
	expect_error("journal = none\ndata = ordered journal\n", "is in no arm: a volume");
	expect_error("data = journal ordered\nfast_commit = yes no\n",
		"g.ini:8: the first levels, which are the baseline, cannot be together");
	expect_error("mount = z y\n", "g.ini:8: [grid] makes an arm \"z\", and there is [arm z]");
	expect_error("mount = a=1 a-1\n", "two arms would be called \"a-1\"");
	expect_error("design = full\ncommit = 1 2 3 4 5 6 7 8 9\ndata = ordered writeback\n"
		     "journal_size = 4M 5M 6M 7M\n",
		"makes more than 64 arms");
	expect_error("commit = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n",
		"more than 16 levels");
}

static void fast_commit_needs_a_new_volume_of_type_ext4(void **state)
{
	struct experiment x = {0};
	struct err e = {0};

	(void)state;
	assert_int_not_equal(
		experiment_parse(&x, "[volume v]\ndevice=/d\nmkfs=ext3\n[grid]\n"
				     "fast_commit=no yes\n" END, "g.ini", &e), 0);
	assert_non_null(strstr(err_message(&e), "g.ini:5: fast commits are a feature of"));
	err_clear(&e);
	assert_int_not_equal(
		experiment_parse(&x, "[volume v]\ndevice=/d\n[grid]\nfast_commit=no yes\n" END,
			"g.ini", &e), 0);
	assert_non_null(strstr(err_message(&e), "g.ini:4: fast_commit changes a feature of "
						"the volume, which needs \"mkfs\""));
	err_clear(&e);
	assert_int_not_equal(
		experiment_parse(&x, "[volume v]\ndevice=/d\nmkfs=ext4\n[arm a]\njournal=none\n"
				     "fast_commit=yes\n" END, "g.ini", &e), 0);
	assert_non_null(strstr(err_message(&e), "g.ini:6: without a journal"));
	err_clear(&e);
}

static void volumes_that_no_thread_reaches_are_said(void **state)
{
	struct experiment x = {0};
	struct err e = {0};

	(void)state;
	if (experiment_parse(&x,
		    "[volume a]\ndevice=/a\n[volume b]\ndevice=/b\n[volume c]\n"
		    "device=/c\n[arm n]\njournal=none\n[workload d]\ntype=dd\n"
		    "[workload t]\ntype=tiobench\nsize=1M\nthreads=4 2\n"
		    "[workload all]\ntype=tiobench\nsize=1M\nthreads=3 8\n",
		    "f", &e))
		fail_msg("%s", err_message(&e));
	assert_string_equal(x.notes,
		"workload d: with 1 thread only the first 1 of 3 volumes is used\n"
		"workload t: with 2 threads only the first 2 of 3 volumes are used");
	experiment_deinit(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_factor_at_a_time_differs_from_the_first_arm_in_one),
		cmocka_unit_test(a_single_factor_names_the_arms),
		cmocka_unit_test(a_full_grid_leaves_out_what_cannot_be),
		cmocka_unit_test(fast_commits_do_not_go_with_journalled_data),
		cmocka_unit_test(the_printed_plan_has_the_same_arms),
		cmocka_unit_test(what_is_wrong_is_said_with_its_line),
		cmocka_unit_test(fast_commit_needs_a_new_volume_of_type_ext4),
		cmocka_unit_test(volumes_that_no_thread_reaches_are_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
