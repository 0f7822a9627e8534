/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Experiment files: what is right is read and printed and read again as the same; what is
 * wrong is said with its file and line and the nearest known name.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "plan/experiment.h"
#include "plan/plan_keys.h"

static const char whole[] =
	"; a comment\n"
	"[experiment]\n"
	"name     = ext3-journal-on-ssd\n"
	"blocks   = 8            ; how many\n"
	"seed     = 2010\n"
	"max_time = 90ms\n"
	"primary  = dd/write/rate\n"
	"\n"
	"[disk slow]\n"
	"   model = hdd-7200\n"
	"   size  = 1G\n"
	"   directory = /var/tmp/with blank\n"
	"[disk fast]\n"
	"size: 100M\n"
	"[volume data]\n"
	"device = slow\n"
	"mkfs   = ext3 -b 4096 -E stride=4\n"
	"prepare = mkfs\n"
	"mount  = data=ordered\n"
	"[arm inline]\n"
	"journal = inline,size=64M,at=end\n"
	"[arm ssd]\n"
	"journal = external=fast,size=64M\n"
	"mount = commit=30\n"
	"[workload dd]\n"
	"type  = dd\n"
	"bs    = 256k\n"
	"count = 100\n"
	"[workload tio]\n"
	"size = 1x-ram\n"
	"threads = 1 8\n"
	"type = tiobench\n";

static void expect_whole(const struct experiment *x)
{
	assert_string_equal(x->name, "ext3-journal-on-ssd");
	assert_int_equal(x->blocks, 8);
	assert_true(x->seed_given);
	assert_int_equal(x->seed, 2010);
	assert_int_equal(x->max_time_ns, 90000000);
	assert_string_equal(x->primary, "dd/write/rate");
	assert_int_equal(x->disk_count, 2);
	assert_string_equal(x->disks[0].name, "slow");
	assert_string_equal(x->disks[0].model, "hdd-7200");
	assert_int_equal(x->disks[0].size_bytes, 1 << 30);
	assert_string_equal(x->disks[0].directory, "/var/tmp/with blank");
	assert_string_equal(x->disks[1].model, "none");
	assert_int_equal(x->disks[1].size_bytes, 100 << 20);
	assert_null(x->disks[1].directory);
	assert_int_equal(x->volume_count, 1);
	assert_string_equal(x->volumes[0].device, "slow");
	assert_string_equal(x->volumes[0].type, "ext3");
	assert_string_equal(x->volumes[0].mkfs_options, "-b 4096 -E stride=4");
	assert_string_equal(x->volumes[0].mount, "data=ordered");
	assert_int_equal(x->volumes[0].prepare, PREPARE_EVERY_CELL);
	assert_int_equal(x->arm_count, 2);
	assert_int_equal(x->arms[0].placement.place, JOURNAL_INLINE);
	assert_int_equal(x->arms[0].placement.size_bytes, 64 << 20);
	assert_int_equal(x->arms[0].placement.position, AT_END);
	assert_string_equal(x->arms[0].mount, "");
	assert_int_equal(x->arms[1].placement.place, JOURNAL_EXTERNAL);
	assert_string_equal(x->arms[1].placement.device, "fast");
	assert_string_equal(x->arms[1].mount, "commit=30");
	assert_int_equal(x->workload_count, 2);
	assert_string_equal(x->workloads[0].name, "dd");
	assert_string_equal(workload_type_of(x->workloads[1].workload)->name, "tiobench");
	assert_int_equal(workload_bytes(x->workloads[0].workload), 100 * 256 * 1024);
	assert_ptr_equal(experiment_disk(x, "fast"), &x->disks[1]);
	assert_null(experiment_disk(x, "/dev/fast"));
}

static void a_whole_file_is_read(void **state)
{
	struct experiment x = { 0 };
	struct err e = { 0 };
	char *options;

	(void)state;
	assert_int_equal(experiment_parse(&x, whole, "demo.ini", &e), 0);
	expect_whole(&x);
	options = plan_mount_options(&x.volumes[0], &x.arms[1]);
	assert_string_equal(options, "data=ordered,commit=30");
	free(options);
	options = plan_mount_options(&x.volumes[0], &x.arms[0]);
	assert_string_equal(options, "data=ordered");
	free(options);
	experiment_deinit(&x);
}

static void the_printed_plan_is_the_same_plan(void **state)
{
	struct experiment x = { 0 }, again = { 0 };
	struct err e = { 0 };
	char *plan, *plan_again;

	(void)state;
	assert_int_equal(experiment_parse(&x, whole, "demo.ini", &e), 0);
	plan = experiment_print(&x);
	assert_non_null(plan);
	assert_null(strstr(plan, "x-ram"));
	assert_int_equal(experiment_parse(&again, plan, "plan.ini", &e), 0);
	expect_whole(&again);
	plan_again = experiment_print(&again);
	assert_string_equal(plan, plan_again);
	free(plan);
	free(plan_again);
	experiment_deinit(&x);
	experiment_deinit(&again);
}

static const char least[] = "[volume data]\ndevice=/dev/sdz9\n[arm a]\njournal=none\n"
			    "[workload dd]\ntype=dd\n";

static void a_strict_plan_stays_strict(void **state)
{
	static const char head[] = "[experiment]\nstrict = ";
	char text[sizeof(head) + sizeof(least) + 8];
	struct experiment x = { 0 }, again = { 0 };
	struct err e = { 0 };
	char *plan;

	(void)state;
	snprintf(text, sizeof(text), "%syes\n%s", head, least);
	assert_int_equal(experiment_parse(&x, text, "f.ini", &e), 0);
	assert_true(x.strict);
	plan = experiment_print(&x);
	assert_int_equal(experiment_parse(&again, plan, "p", &e), 0);
	assert_true(again.strict);
	free(plan);
	experiment_deinit(&x);
	experiment_deinit(&again);
	snprintf(text, sizeof(text), "%smaybe\n%s", head, least);
	assert_int_equal(experiment_parse(&x, text, "f.ini", &e), -EINVAL);
	assert_non_null(strstr(err_message(&e), "f.ini:2: strict: "));
	err_clear(&e);
}

static void defaults_are_filled_in(void **state)
{
	struct experiment x = { 0 }, again = { 0 };
	struct err e = { 0 };
	char *plan;

	(void)state;
	assert_int_equal(experiment_parse(&x, least, "dir/some-thing.ini", &e), 0);
	assert_string_equal(x.name, "some-thing");
	assert_int_equal(x.blocks, 6);
	assert_false(x.seed_given);
	assert_int_equal(x.max_time_ns, 0);
	assert_false(x.strict);
	assert_null(x.primary);
	assert_null(x.volumes[0].type);
	assert_null(x.volumes[0].mkfs_options);
	assert_string_equal(x.volumes[0].mount, "");
	assert_int_equal(x.volumes[0].prepare, PREPARE_ONCE);
	plan = experiment_print(&x);
	assert_non_null(strstr(plan, "\nbs = 256k\n"));
	assert_int_equal(experiment_parse(&again, plan, "p", &e), 0);
	free(plan);
	experiment_deinit(&x);
	experiment_deinit(&again);
}

static void expect_text_error(const char *text, const char *message)
{
	struct experiment x = { 0 };
	struct err e = { 0 };

	if (!experiment_parse(&x, text, "f.ini", &e))
		fail_msg("no error, but \"%s\" was expected", message);
	assert_int_equal(e.kind, ERR_USAGE);
	if (!strstr(err_message(&e), message))
		fail_msg("\"%s\" does not say \"%s\"", err_message(&e), message);
	assert_null(x.name);
	assert_null(x.volumes);
	err_clear(&e);
}

/* One line of the whole file is replaced by another text. */
static void expect_error(const char *from, const char *to, const char *message)
{
	const char *at = strstr(whole, from);
	char *text;

	assert_non_null(at);
	if (asprintf(&text, "%.*s%s%s", (int)(at - whole), whole, to, at + strlen(from)) < 0)
		abort();
	expect_text_error(text, message);
	free(text);
}

/* What is printed of "max_time = 90ms" replaced by this, also when it was read again. */
static void expect_printed(const char *lines, const char *first, const char *second)
{
	const char *at = strstr(whole, "max_time = 90ms");
	char *text, *again;

	if (asprintf(&text, "%.*s%s%s", (int)(at - whole), whole, lines, strchr(at, '\n')) < 0)
		abort();
	for (int i = 0; i < 2; i++) {
		struct experiment x = { 0 };
		struct err e = { 0 };

		assert_int_equal(experiment_parse(&x, text, "f.ini", &e), 0);
		again = experiment_print(&x);
		experiment_deinit(&x);
		free(text);
		text = again;
		for (const char *const *one = (const char *const[]){ first, second, NULL }; *one;
			one++)
			if (!strstr(text, *one))
				fail_msg("\"%s\" does not have \"%s\"", text, *one);
	}
	free(text);
}

static void times_are_printed_as_they_are_read(void **state)
{
	struct experiment x = { 0 };
	struct err e = { 0 };
	char *text;

	(void)state;
	expect_printed("hang = 90s\nprecondition = 90ms", "\nhang = 90s\n",
		"\nprecondition = 90000000ns\n");
	expect_printed("hang = 0\nprecondition = 1m", "\nhang = 0s\n",
		"\nprecondition = 60s\n");
	/* What is as usual is not printed, so that plans of earlier versions stay the same. */
	assert_int_equal(experiment_parse(&x, whole, "f.ini", &e), 0);
	assert_int_equal(x.hang_ns, 300 * UINT64_C(1000000000));
	assert_int_equal(x.design.precondition_ns, 0);
	text = experiment_print(&x);
	assert_null(strstr(text, "hang"));
	assert_null(strstr(text, "precondition"));
	free(text);
	experiment_deinit(&x);
}

static void a_workload_of_any_type_may_be_repeated(void **state)
{
	struct experiment x = { 0 };
	struct err e = { 0 };
	char *text, *plan;
	int i;

	(void)state;
	i = asprintf(&text, "%srepeat = 3\n", whole); /* of the last one */
	assert_true(i > 0);
	assert_int_equal(experiment_parse(&x, text, "f.ini", &e), 0);
	assert_int_equal(x.workloads[0].repeat, 1);
	assert_int_equal(x.workloads[1].repeat, 3);
	plan = experiment_print(&x);
	assert_non_null(strstr(plan, "\n[workload tio]\ntype = tiobench\nrepeat = 3\n"));
	experiment_deinit(&x);
	assert_int_equal(experiment_parse(&x, plan, "f.ini", &e), 0);
	assert_int_equal(x.workloads[1].repeat, 3);
	experiment_deinit(&x);
	free(plan);
	free(text);
	expect_error("count = 100\n", "repeat = 0\n",
		"f.ini:28: repeat: 0 is not between 1 and 100");
}

static void unknown_names_have_a_nearest_one(void **state)
{
	(void)state;
	expect_error("[disk slow]", "[dsik slow]",
		"f.ini:9: unknown section [dsik slow]; did you mean [disk]?");
	expect_error("[disk slow]", "[zzz]", "f.ini:9: unknown section [zzz]");
	expect_error("blocks ", "block ",
		"f.ini:4: unknown key \"block\" in [experiment]; did you mean \"blocks\"?");
	expect_error("prepare", "prepair", "did you mean \"prepare\"?");
	expect_error("journal = inline", "jurnal = inline",
		"f.ini:21: unknown key \"jurnal\" in [arm inline]; did you mean \"journal\"?");
	expect_error("threads", "treads", "f.ini:31: ");
	expect_error("threads", "treads", "did you mean \"threads\"?");
	expect_error("type = tiobench", "type = tiobnech",
		"f.ini:32: there is no workload type \"tiobnech\"; did you mean "
		"\"tiobench\"?");
	expect_error("device = slow", "device = slwo",
		"f.ini:16: there is no [disk slwo]; did you mean \"slow\"?");
	expect_error("external=fast", "external=fats",
		"f.ini:23: there is no [disk fats]; did you mean \"fast\"?");
	expect_error("primary  = dd/", "primary  = ddd/",
		"f.ini:7: there is no [workload ddd]; did you mean \"dd\"?");
}

static void keys_of_the_future_are_not_swallowed(void **state)
{
	(void)state;
	expect_error("seed     = 2010", "speed = 3", "f.ini:5: unknown key \"speed\"");
	expect_error("mount = commit=30", "stripe = 4", "unknown key \"stripe\"");
	expect_error("[arm ssd]", "[stop]", "unknown section [stop]");
}

static void wrong_values_are_named(void **state)
{
	(void)state;
	expect_error("= 8 ", "= 0 ", "f.ini:4: blocks: 0 is not between 1 and 1000");
	expect_error("= 8 ", "= x ", "f.ini:4: blocks: \"x\" is not a whole number");
	expect_error("2010", "-1", "f.ini:5: seed: ");
	expect_error("2010", "9223372036854775808", "f.ini:5: seed: ");
	expect_error("90ms", "0s", "f.ini:6: max_time: ");
	expect_error("90ms", "90 parsecs", "f.ini:6: max_time: \"90 parsecs\"");
	expect_error("max_time = 90ms", "hang = 999ms", "f.ini:6: hang: ");
	expect_error("max_time = 90ms", "hang = soon", "f.ini:6: hang: \"soon\"");
	expect_error("max_time = 90ms", "precondition = yes",
		"f.ini:6: precondition: \"yes\" is neither \"no\" nor a time");
	expect_error("max_time = 90ms", "precondition = 0", "f.ini:6: precondition: \"0\"");
	expect_error("1G", "1Q", "f.ini:11: size: \"1Q\" is not a size");
	expect_error("1G", "0", "f.ini:11: size: ");
	expect_error("/var/tmp/with", "tmp/with", "f.ini:12: directory: ");
	expect_error("ext3 -b", "ext5 -b", "f.ini:17: mkfs: \"ext5\"");
	expect_error("= mkfs", "= always", "f.ini:18: prepare: \"always\"");
	expect_error("data=ordered", "data=ordered, sync", "f.ini:19: mount: ");
	expect_error("inline,size=64M", "inlne,size=64M", "f.ini:21: journal: ");
	expect_error("size=64M,at", "size=64X,at", "f.ini:21: journal: \"64X\"");
	expect_error("bs    = 256k", "bs = 256y", "f.ini:27: bs: ");
	expect_error("ext3-journal-on-ssd", "a/b", "f.ini:3: name: \"a/b\" is no name");
	expect_error("dd/write/rate", "dd/rate",
		"f.ini:7: \"dd/rate\" is not WORKLOAD/PHASE/METRIC");
}

static void what_is_twice_is_said_with_both_places(void **state)
{
	(void)state;
	expect_error("[arm ssd]", "[arm inline]",
		"f.ini:22: [arm inline] is here a second time, first at f.ini:20");
	expect_error("[arm ssd]", "[arm   inline ]", "first at f.ini:20");
	expect_error("[disk fast]", "[experiment]", "first at f.ini:2");
	expect_error("max_time = 90ms", "blocks = 9",
		"f.ini:6: \"blocks\" is here a second time, first at f.ini:4");
	expect_error("threads = 1 8", "size = 4k",
		"f.ini:31: \"size\" is here a second time, first at f.ini:30");
}

static void what_is_missing_is_said(void **state)
{
	(void)state;
	expect_error("device = slow\n", "", "f.ini:15: [volume data] needs \"device = DEVICE\"");
	expect_error("size: 100M\n", "", "f.ini:13: [disk fast] needs \"size = SIZE\"");
	expect_error("journal = inline,size=64M,at=end\n", "",
		"f.ini:20: [arm inline] needs \"journal = PLACEMENT\"");
	expect_error("type  = dd\n", "", "f.ini:25: [workload dd] needs \"type = TYPE\"");
	expect_error("[arm ssd]", "[arm]", "f.ini:22: this section needs a name: [arm NAME]");
	expect_error("[experiment]", "[experiment x]", "f.ini:2: [experiment] has no name");
	expect_error("[arm ssd]", "[arm s/d]", "f.ini:22: \"s/d\" is no name");
	expect_error("[arm ssd]", "[arm s d]", "f.ini:22: \"s d\" is no name");
	expect_text_error("", "f.ini: a [volume NAME] is missing");
	expect_text_error("[volume v]\ndevice=/d\n", "f.ini: an [arm NAME] or a [grid] is missing");
	expect_text_error("[volume v]\ndevice=/d\n[arm a]\njournal=none\n",
		"f.ini: a [workload NAME] is missing");
}

static void what_does_not_go_together_is_refused(void **state)
{
	(void)state;
	expect_error("mkfs   = ext3 -b 4096 -E stride=4\n", "",
		"f.ini:17: \"prepare = mkfs\" needs");
	expect_error("mkfs   = ext3 -b 4096 -E stride=4\nprepare = mkfs\n", "",
		"f.ini:15: the disk \"slow\" is made empty");
	expect_error("external=fast", "external=slow", "f.ini:23: slow holds the volume");
	expect_error("external=fast", "external=/dev/sdz",
		"f.ini:13: no volume and no arm uses this disk");
	expect_error("device = slow", "device = sdb1", "f.ini:16: \"sdb1\" is no path");
	expect_error("[arm inline]", "[volume two]\ndevice=slow\nmkfs=ext4\n[arm inline]",
		"f.ini:21: slow is also the device of [volume data]");
	expect_error("[arm inline]", "[volume two]\ndevice=/dev/sdz\n[arm inline]",
		"f.ini:25: an external journal serves one volume, and there are 2");
	expect_error("bs    = 256k\n", "bs = 100\nsync = direct\n", "f.ini:25: workload dd: ");
}

static void what_is_no_ini_is_refused(void **state)
{
	(void)state;
	expect_error("blocks   = 8", "blocks 8", "f.ini:4: neither a [section] nor a");
	expect_error("[arm ssd]", "[arm ssd", "f.ini:22: a section needs a closing bracket");
	expect_error("[arm ssd]", "[]", "f.ini:22: a section needs a name");
	expect_error("[arm ssd]", "[arm ssd] x", "f.ini:22: there is text behind");
	expect_error("blocks ", "= ", "f.ini:4: there is no key before the \"=\"");
	expect_text_error("blocks = 6\n", "f.ini:1: this key stands before the first");
	expect_error("/var/tmp/with", "/var/tmp/\xff", "f.ini:12: the line is not UTF-8");
}

static void line_ends_and_marks_of_other_systems_are_taken(void **state)
{
	static const char text[] = "\xef\xbb\xbf[volume data]\r\ndevice=/dev/sdz9\r\n"
				   "[arm a]\r\njournal=none\r\n# \xff\r\n"
				   "[workload dd]\r\ntype=dd\r\n";
	struct experiment x = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(experiment_parse(&x, text, "dos.ini", &e), 0);
	assert_string_equal(x.volumes[0].device, "/dev/sdz9");
	experiment_deinit(&x);
}

static void long_lines_are_refused_not_cut(void **state)
{
	char text[2048] = "[arm a]\njournal = inline\n[volume v]\ndevice = /";

	(void)state;
	memset(text + strlen(text), 'x', 1000);
	expect_text_error(text, "f.ini:4: the line is too long");
}

static char directory[] = "/tmp/jbdlab-unit.XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void remove_file(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	unlink(path);
}

static void files_include_others(void **state)
{
	struct experiment x = { 0 };
	struct err e = { 0 };
	char path[128];

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/main.ini", directory);
	write_file("main.ini", "include = rest.ini\n[volume data]\ninclude = none.ini\n"
			       "device=/dev/sdz9\n");
	write_file("rest.ini", "[arm a]\njournal=none\n[workload dd]\ntype=dd\n");
	write_file("none.ini", "");
	assert_int_equal(experiment_read(&x, path, &e), 0);
	assert_int_equal(x.arm_count, 1);
	assert_string_equal(x.volumes[0].device, "/dev/sdz9");
	experiment_deinit(&x);

	write_file("none.ini", "[arm b]\njurnal=none\n");
	assert_int_equal(experiment_read(&x, path, &e), -EINVAL);
	assert_non_null(strstr(err_message(&e), "/none.ini:2: unknown key \"jurnal\""));
	err_clear(&e);
	write_file("none.ini", "[arm a]\njournal=none\n");
	assert_int_equal(experiment_read(&x, path, &e), -EINVAL);
	assert_non_null(strstr(err_message(&e), "/none.ini:1: [arm a] is here a second time"));
	assert_non_null(strstr(err_message(&e), "/rest.ini:1"));
	err_clear(&e);
	write_file("none.ini", "include = main.ini\n");
	assert_int_equal(experiment_read(&x, path, &e), -EINVAL);
	assert_non_null(strstr(err_message(&e), "include each other"));
	err_clear(&e);
	remove_file("none.ini");
	assert_true(experiment_read(&x, path, &e) < 0);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_non_null(strstr(err_message(&e), "/main.ini:3: "));
	assert_non_null(strstr(err_message(&e), "/none.ini: No such file"));
	err_clear(&e);
	remove_file("main.ini");
	assert_true(experiment_read(&x, path, &e) < 0);
	assert_int_equal(e.kind, ERR_USAGE);
	err_clear(&e);
	remove_file("rest.ini");
	assert_int_equal(rmdir(directory), 0);
}

/* Every default in the table of keys is one that the setter itself would take, or words
 * for people; a key without default must be given. */
static void keys_are_described(void **state)
{
	(void)state;
	for (size_t k = 0; k < SECTION_KINDS; k++)
		for (size_t i = 0; i < plan_section_kinds[k].key_count; i++) {
			const struct plan_key *key = &plan_section_kinds[k].keys[i];

			assert_non_null(key->set);
			assert_true(strlen(key->value) > 0);
			assert_true(strlen(key->help) > 0);
		}
}

static void the_number_of_blocks_may_follow_from_a_target(void **state)
{
	struct experiment x = { 0 }, again = { 0 };
	struct err e = { 0 };
	char text[2000], *plan;

	(void)state;
	snprintf(text, sizeof(text),
		"[experiment]\nname=x\ntarget=2.5%%\nmax_blocks=40\nmargin=1%%\n"
		"primary=dd/write/rate\n%s[arm b]\njournal=none\n", least);
	assert_int_equal(experiment_parse(&x, text, "f.ini", &e), 0);
	plan = experiment_print(&x);
	assert_non_null(strstr(plan, "target = 2.5%\nmargin = 1%\nmax_blocks = 40\n"));
	assert_int_equal(experiment_parse(&again, plan, "plan.ini", &e), 0);
	assert_true(again.design.target == .025 && again.design.margin == .01);
	assert_int_equal(again.design.max_blocks, 40);
	assert_int_equal(plan_schedule(&again).kind, SCHEDULE_STEIN);
	free(plan);
	experiment_deinit(&x);
	experiment_deinit(&again);
	expect_error("2010", "1\ntarget = 3", "f.ini:6: target: \"3\" ");
	expect_error("2010", "1\ntarget = 0%", "f.ini:6: target: \"0%\" is not between");
	expect_error("2010", "1\nmax_blocks = 5", "f.ini:6: max_blocks: 5 is not between 6");
	expect_error("= 8 ", "= 5\ntarget = 3%", "f.ini:5: target needs \"blocks = 6\"");
	expect_error("primary  = dd/write/rate", "target = 3%",
		"f.ini:7: target is about the primary metric");
	expect_error("= 8 ", "= 8\nearly_stop = yes", "f.ini:5: early_stop looks after 6");
	expect_error("2010", "1\ncalibrate = perhaps",
		"f.ini:6: calibrate: \"perhaps\" is not yes, warn or no");
	expect_error("primary  = dd/write/rate", "calibrate = yes",
		"f.ini:7: calibrate judges by the primary metric");
	expect_error("2010", "1\nwarmup = 101", "f.ini:6: warmup: 101 is not between 0");
	expect_error("= 8 ", "= 6\nearly_stop = yes\ntarget = 3%", "f.ini:5: early_stop and");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_file_is_read),
		cmocka_unit_test(the_printed_plan_is_the_same_plan),
		cmocka_unit_test(a_strict_plan_stays_strict),
		cmocka_unit_test(defaults_are_filled_in),
		cmocka_unit_test(times_are_printed_as_they_are_read),
		cmocka_unit_test(a_workload_of_any_type_may_be_repeated),
		cmocka_unit_test(unknown_names_have_a_nearest_one),
		cmocka_unit_test(keys_of_the_future_are_not_swallowed),
		cmocka_unit_test(wrong_values_are_named),
		cmocka_unit_test(what_is_twice_is_said_with_both_places),
		cmocka_unit_test(what_is_missing_is_said),
		cmocka_unit_test(what_does_not_go_together_is_refused),
		cmocka_unit_test(what_is_no_ini_is_refused),
		cmocka_unit_test(line_ends_and_marks_of_other_systems_are_taken),
		cmocka_unit_test(long_lines_are_refused_not_cut),
		cmocka_unit_test(files_include_others),
		cmocka_unit_test(keys_are_described),
		cmocka_unit_test(the_number_of_blocks_may_follow_from_a_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
