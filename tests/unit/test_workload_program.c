/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Command lines, figures in what programs print, and keys that come in families. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "workload/program.h"

static const char *lookup(const void *data, const char *name)
{
	return !strcmp(name, "X") ? data : NULL;
}

/* Words joined by "|"; NULL: an error that says text. */
static void splits(const char *line, const char *expected, const char *text)
{
	_cleanup_(err_clear) struct err e = {0};
	char **argv = NULL, joined[200] = "";
	int r = program_words(line, lookup, "v 1", &argv, &e);

	if (!expected) {
		assert_int_equal(r, -EINVAL);
		assert_non_null(strstr(err_message(&e), text));
		return;
	}
	assert_int_equal(r, 0);
	for (size_t i = 0; argv[i]; i++) {
		strcat(joined, argv[i]);
		strcat(joined, "|");
	}
	assert_string_equal(joined, expected);
	program_words_free(argv);
}

static void a_line_is_split_as_a_shell_would_without_being_one(void **state _unused_)
{
	splits("a  b\tc ", "a|b|c|", NULL);
	splits("'a b' \"c d\"e \\ f", "a b|c de| f|", NULL);
	splits("$X '$X' \"$X\" ${X}y \\$X", "v 1|$X|v 1|v 1y|$X|", NULL);
	splits("\"a\\\"b\\\\c\\d\" 'e\\'", "a\"b\\c\\d|e\\|", NULL);
	splits("'' a", "|a|", NULL);
	splits("*.c ~ $X;`ls` | > &", "*.c|~|v 1;`ls`|||>|&|", NULL);
	splits("", NULL, "empty");
	splits("a 'b", NULL, "quote (') is not closed");
	splits("a \"b", NULL, "quote (\") is not closed");
	splits("$Y", NULL, "$Y is unknown");
	splits("${X", NULL, "${NAME}");
	splits("a $", NULL, "${NAME}");
}

/* The value, or the code of an error that says text. */
static void reads(const char *spec, const char *output, double expected, int code,
	const char *text)
{
	_cleanup_(err_clear) struct err e = {0};
	const struct program_output o = {.text = output,
		.errors = "on error: 77 x\n",
		.text_bytes = strlen(output),
		.elapsed_ns = 5000};
	struct program_metric m;
	double value = -1;

	assert_int_equal(program_metric_parse(&m, "p/n", spec, &e), 0);
	assert_int_equal(program_metric_read(&m, &o, &value, &e), -code);
	if (code)
		assert_non_null(strstr(err_message(&e), text));
	else
		assert_float_equal(value, expected, 1e-6 * expected);
	program_metric_deinit(&m);
}

static void figures_are_found(void **state _unused_)
{
	reads("ops/s higher regex ([0-9]+) x", "1 x\n22 x\n3 y\n", 22, 0, NULL);
	reads("ops/s higher regex ^a ([0-9]+)$", "b\na 5\n", 5, 0, NULL);
	reads("ops/s higher regex ([0-9]+) x", "none\n", 77, 0, NULL);
	reads("us lower regex t=(.*)", "t=1.5e3\n", 1.5e6, 0, NULL);
	reads("MB/s higher csv 2", "a,7 ,b\n\n", 7e6, 0, NULL);
	reads("percent lower csv two", "one,two\n1,50\n", .5, 0, NULL);
	reads("KiB lower json /a~1b/~0c/1", "# x\n{\"a/b\": {\"~c\": [0, \"2\"]}}\ntail",
		2048, 0, NULL);
	reads("s lower elapsed", "", 5000, 0, NULL);
}

static void what_is_no_figure_is_refused(void **state _unused_)
{
	static const char *const rubbish[] = {"t=", "t=x", "t=1x", "t=-1", "t=inf",
		"t=nan", "t=0x10", "t=1 2", "t=1e999", "t=+++++"};

	for (size_t i = 0; i < ARRAY_SIZE(rubbish); i++)
		reads("s lower regex t=(.*)", rubbish[i], 0, EBADMSG, "is no figure");
	reads("s lower regex q(.)", "x", 0, ENODATA, "nothing matches");
	reads("s lower regex (x*)$", "", 0, EBADMSG, "is no figure");
	reads("s lower csv 4", "1,2,3\n", 0, ENODATA, "no column 4");
	reads("s lower csv four", "1,2,3\n", 0, ENODATA, "no column four");
	reads("s lower csv 0", "1,2,3\n", 0, ENODATA, "no column 0");
	reads("s lower json /a", "", 0, EBADMSG, "no JSON");
	reads("s lower json /a", "{\"a\"", 0, EBADMSG, "no JSON");
	reads("s lower json /a/b", "{\"a\": 1}", 0, ENODATA, "nothing at /a/b");
	reads("s lower json /a/x", "{\"a\": [1]}", 0, ENODATA, "nothing at");
	reads("s lower json /a", "{\"a\": {}}", 0, EBADMSG, "is no figure");
	reads("s lower json /a", "{\"a\": -1}", 0, EBADMSG, "is no figure");
}

static void refuses(const char *path, const char *spec, const char *text)
{
	_cleanup_(err_clear) struct err e = {0};
	struct program_metric m;

	assert_int_equal(program_metric_parse(&m, path, spec, &e), -EINVAL);
	if (!strstr(err_message(&e), text))
		fail_msg("\"%s\" not in \"%s\"", text, err_message(&e));
}

static void a_metric_that_makes_no_sense_is_refused(void **state _unused_)
{
	refuses("x", "", "UNIT DIRECTION SOURCE");
	refuses("x", "s lower", "UNIT DIRECTION SOURCE");
	refuses("x", "m lower elapsed", "unit");
	refuses("x", "s worse elapsed", "\"worse\" is not");
	refuses("x", "s lower awk x", "\"awk\" is not");
	refuses("x", "s lower elapsed x", "nothing follows");
	refuses("x", "s lower json x", "begins with");
	refuses("x", "s lower csv", "needs a column");
	refuses("x", "s lower regex (", "Unmatched");
	refuses("x", "s lower regex x", "parentheses");
	refuses("x y", "s lower elapsed", "no name");
	refuses("/x", "s lower elapsed", "needs a name");
	refuses("x/", "s lower elapsed", "needs a name");
}

static void a_family_of_keys_takes_any_name_but_none(void **state _unused_)
{
	const struct workload_key family = {.name = "env.NAME"}, single = {.name = "exec"};

	assert_true(workload_key_is(&family, "env.SIZE"));
	assert_true(workload_key_is(&family, "env.NAME"));
	assert_false(workload_key_is(&family, "env."));
	assert_false(workload_key_is(&family, "env"));
	assert_false(workload_key_is(&family, "environ"));
	assert_true(workload_key_is(&single, "exec"));
	assert_false(workload_key_is(&single, "exec.x"));
}

static void a_plan_overrides_a_definition(void **state _unused_)
{
	_cleanup_(program_deinit) struct program c = {0};
	_cleanup_(err_clear) struct err e = {0};

	assert_int_equal(program_settings_set(&c.shipped, "exec", "a", &e), 0);
	assert_int_equal(program_settings_set(&c.shipped, "env.X", "1", &e), 0);
	assert_int_equal(program_settings_set(&c.shipped, "env.Y", "2", &e), 0);
	assert_int_equal(program_settings_set(&c.own, "env.X", "3", &e), 0);
	assert_int_equal(program_settings_set(&c.own, "env.X", "4", &e), 0);
	assert_string_equal(program_field(&c, PROGRAM_EXEC), "a");
	assert_null(program_field(&c, PROGRAM_SETUP));
	assert_string_equal(program_variable(&c, "X"), "4");
	assert_string_equal(program_variable(&c, "Y"), "2");
	assert_null(program_variable(&c, "Z"));
	assert_int_equal(program_settings_set(&c.own, "nope", "", &e), -ENOENT);
	assert_int_equal(program_settings_set(&c.own, "timeout", "0", &e), -EINVAL);
}

static void needs_are_looked_for(void **state _unused_)
{
	_cleanup_(program_deinit) struct program c = {0};
	_cleanup_(err_clear) struct err e = {0};
	struct program_needs needs;

	assert_int_equal(program_settings_set(&c.own, "env.FILE", "/proc/self/st?t", &e), 0);
	assert_int_equal(
		program_settings_set(&c.own, "needs", "sh (dash), nope-nope, $FILE (x)", &e),
		0);
	assert_int_equal(program_needs_read(&needs, &c, &e), 0);
	assert_int_equal(needs.count, 3);
	assert_true(needs.at[0].installed);
	assert_string_equal(needs.at[0].package, "dash");
	assert_false(needs.at[1].installed);
	assert_null(needs.at[1].package);
	assert_true(needs.at[2].installed);
	program_needs_deinit(&needs);
	assert_int_equal(program_settings_set(&c.own, "needs", "sh (dash", &e), 0);
	assert_int_equal(program_needs_read(&needs, &c, &e), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_split_as_a_shell_would_without_being_one),
		cmocka_unit_test(figures_are_found),
		cmocka_unit_test(what_is_no_figure_is_refused),
		cmocka_unit_test(a_metric_that_makes_no_sense_is_refused),
		cmocka_unit_test(a_family_of_keys_takes_any_name_but_none),
		cmocka_unit_test(a_plan_overrides_a_definition),
		cmocka_unit_test(needs_are_looked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
