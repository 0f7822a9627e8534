/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Placements as people type them. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "placement/placement.h"

static void check_format(const char *text, const char *expected)
{
	_cleanup_(placement_deinit) struct placement p = { 0 }, again = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };
	_cleanup_free_ char *out = NULL;

	if (placement_parse(&p, text, &e))
		fail_msg("%s: %s", text, err_message(&e));
	out = placement_format(&p);
	assert_string_equal(out, expected);
	assert_int_equal(placement_parse(&again, out, NULL), 0);
	assert_int_equal(again.place, p.place);
	assert_int_equal(again.size_bytes, p.size_bytes);
	assert_int_equal(again.position, p.position);
	assert_int_equal(again.block, p.block);
	if (p.device)
		assert_string_equal(again.device, p.device);
	else
		assert_null(again.device);
}

static void what_is_typed_is_what_is_meant(void **state _unused_)
{
	static const char *const same[] = { "none", "inline", "inline,size=400M",
		"inline,size=400M,at=start", "inline,at=middle", "inline,at=end",
		"inline,at=1", "inline,at=123456", "inline,at=18446744073709551615",
		"external=/dev/sdb1", "external=/dev/sdb1,size=128M",
		"external=UUID=0b5bd1d8-9f6c-4e3c-8f7a-53a6a1d6a3a1",
		"external=LABEL=a b", "external=PARTUUID=x,size=1025",
		"inline,size=4193280" };

	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		check_format(same[i], same[i]);
}

static void other_spellings_become_the_one(void **state _unused_)
{
	check_format("inline,at=end,size=1G", "inline,size=1024M,at=end");
	check_format("inline,size=4096k", "inline,size=4M");
	check_format("inline,size=4095k", "inline,size=4193280");
	check_format("external=/dev/x,size=1T", "external=/dev/x,size=1048576M");
}

static void numbers_and_positions_are_taken_over(void **state _unused_)
{
	_cleanup_(placement_deinit) struct placement p = { 0 };

	assert_int_equal(placement_parse(&p, "inline,size=64M,at=777", NULL), 0);
	assert_int_equal(p.place, JOURNAL_INLINE);
	assert_int_equal(p.size_bytes, 64 << 20);
	assert_int_equal(p.position, AT_BLOCK);
	assert_int_equal(p.block, 777);
	assert_null(p.device);
}

static void check_error(const char *text, const char *part)
{
	_cleanup_(err_clear) struct err e = { 0 };
	struct placement p = { .size_bytes = 4711 };

	assert_int_equal(placement_parse(&p, text, &e), -EINVAL);
	assert_int_equal(e.kind, ERR_USAGE);
	if (!strstr(err_message(&e), part))
		fail_msg("%s gives \"%s\", not \"...%s...\"", text, err_message(&e), part);
	/* Untouched on failure. */
	assert_int_equal(p.size_bytes, 4711);
	assert_null(p.device);
}

static void each_error_says_what_was_wrong_and_what_is_right(void **state _unused_)
{
	check_error("", "is no placement; it is none, inline");
	check_error("bogus", "\"bogus\" is no placement");
	check_error("Inline", "\"Inline\" is no placement");
	check_error("external", "external=DEVICE");
	check_error("external=", "external=DEVICE");
	check_error("none,size=1M", "none has no attributes");
	check_error("none,", "none has no attributes");
	check_error("inline,", "unknown attribute \"\"");
	check_error("inline,siez=1M", "did you mean size=");
	check_error("inline,device=/dev/x", "unknown attribute \"device=/dev/x\"");
	check_error("inline,size=", "size");
	check_error("inline,size=0", "a journal has a size");
	check_error("inline,size=1X", "1X");
	check_error("inline,size=-1M", "-1M");
	check_error("inline,size=99999999999T", "99999999999T");
	check_error("inline,at=", "at= takes start, middle, end or the number");
	check_error("inline,at=top", "not \"top\"");
	check_error("inline,at=0", "not \"0\"");
	check_error("inline,at=-5", "not \"-5\"");
	check_error("inline,at=18446744073709551616", "18446744073709551616");
	check_error("external=/dev/x,at=start", "only for an inline journal");
}

static void an_attribute_that_is_given_twice_is_an_error(void **state _unused_)
{
	check_error("inline,size=1M,size=2M", "size= is given twice");
	check_error("inline,at=start,at=end", "at= is given twice");
	check_error("external=/dev/x,size=1M,size=1M", "size= is given twice");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_typed_is_what_is_meant),
		cmocka_unit_test(other_spellings_become_the_one),
		cmocka_unit_test(numbers_and_positions_are_taken_over),
		cmocka_unit_test(each_error_says_what_was_wrong_and_what_is_right),
		cmocka_unit_test(an_attribute_that_is_given_twice_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
