/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The mkfs line: words of a command, and nothing that would write somewhere else. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/strbuf.h"
#include "plan/mkfs.h"

static void expect_all_words(const char *text, bool discard, const char *expected)
{
	struct strbuf b = { 0 };
	char *type, *options, **words;

	assert_int_equal(mkfs_parse(text, &type, &options, NULL), 0);
	words = mkfs_words(type, options, "/dev/x y", discard);
	assert_non_null(words);
	for (size_t i = 0; words[i]; i++)
		strbuf_addf(&b, "%s<%s>", i ? " " : "", words[i]);
	assert_string_equal(strbuf_text(&b), expected);
	strbuf_deinit(&b);
	mkfs_words_free(words);
	free(type);
	free(options);
}

static void expect_words(const char *text, const char *expected)
{
	expect_all_words(text, true, expected);
}

#define START "<mke2fs> <-q> <-F> <-t> "
#define LAZY "lazy_itable_init=0,lazy_journal_init=0"

static void words_are_made_without_a_shell(void **state)
{
	(void)state;
	expect_words("ext3", START "<ext3> <-E> <" LAZY "> </dev/x y>");
	expect_words("ext4 -b 4096 -O ^64bit,^metadata_csum",
		START "<ext4> <-b> <4096> <-O> <^64bit,^metadata_csum> <-E> <" LAZY
		      "> </dev/x y>");
	expect_words("ext2   -b1024\t-m  0",
		START "<ext2> <-b1024> <-m> <0> <-E> <" LAZY "> </dev/x y>");
	expect_words("ext4 -L $(reboot);`x`",
		START "<ext4> <-L> <$(reboot);`x`> <-E> <" LAZY "> </dev/x y>");
}

static void extended_options_are_joined(void **state)
{
	(void)state;
	expect_words("ext4 -E stride=4 -b 4096",
		START "<ext4> <-b> <4096> <-E> <" LAZY ",stride=4> </dev/x y>");
	expect_words("ext4 -Estride=4",
		START "<ext4> <-E> <" LAZY ",stride=4> </dev/x y>");
}

static void what_was_there_is_kept_where_that_is_wanted(void **state)
{
	(void)state;
	expect_all_words("ext4 -E stride=4", false,
		START "<ext4> <-E> <" LAZY ",nodiscard,stride=4> </dev/x y>");
}

static void expect_refusal(const char *text, const char *message)
{
	struct err e = { 0 };
	char *type = NULL, *options = NULL;

	if (!mkfs_parse(text, &type, &options, &e))
		fail_msg("\"%s\" was taken", text);
	assert_int_equal(e.kind, ERR_USAGE);
	if (!strstr(err_message(&e), message))
		fail_msg("\"%s\" does not say \"%s\"", err_message(&e), message);
	assert_null(type);
	assert_null(options);
	err_clear(&e);
}

static void what_could_write_elsewhere_is_refused(void **state)
{
	(void)state;
	expect_refusal("", "\"\" is not a type");
	expect_refusal("xfs", "\"xfs\"");
	expect_refusal("ext3 /dev/sda", "\"/dev/sda\" is not an option");
	expect_refusal("ext3 -b 4096 1000", "\"1000\" is not an option");
	expect_refusal("ext3 -", "\"-\" is not an option");
	expect_refusal("ext3 --", "\"--\" is not allowed");
	expect_refusal("ext3 -n", "\"-n\" is not allowed");
	expect_refusal("ext3 -S", "\"-S\" is not allowed");
	expect_refusal("ext3 -J device=/dev/sda", "\"-J\" is not allowed");
	expect_refusal("ext3 -z /tmp/undo", "\"-z\" is not allowed");
	expect_refusal("ext3 -d /etc", "\"-d\" is not allowed");
	expect_refusal("ext3 -t ext4", "\"-t\" is not allowed");
	expect_refusal("ext3 -::", "\"-::\" is not allowed");
	expect_refusal("ext3 -DS", "\"-DS\" is not allowed");
	expect_refusal("ext3 -b", "-b needs a value");
	expect_refusal("ext3 -b -m 0", "-b needs a value");
	expect_refusal("ext4 -O journal_dev", "journal_dev");
	expect_refusal("ext4 -Oextent,journal_dev", "journal_dev");
	expect_refusal("ext4 -E offset=4096", "offset");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_made_without_a_shell),
		cmocka_unit_test(extended_options_are_joined),
		cmocka_unit_test(what_was_there_is_kept_where_that_is_wanted),
		cmocka_unit_test(what_could_write_elsewhere_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
