/* SPDX-License-Identifier: GPL-3.0-or-later */

/* "hdd-7200,seek_max=8ms": what is taken, and what is refused with which words. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "scratch/model_parameters.h"

static void a_value_replaces_that_of_the_built_in_model(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };
	struct model_parameters p;

	assert_int_equal(model_parameters_parse("hdd-7200,seek_max=8ms,cache=4M,rpm=5400,"
						"rotation=angle",
				 &p, &e),
		0);
	assert_int_equal(p.seek_max_ns, 8 * NS_PER_MS);
	assert_int_equal(p.cache_bytes, 4 << 20);
	assert_int_equal(p.rpm, 5400);
	assert_int_equal(p.rotation, ROTATION_ANGLE);
	assert_int_equal(p.seek_min_ns, 1 * NS_PER_MS); /* as it was */
	assert_string_equal(p.base, "hdd-7200");
}

static void refused(const char *text, const char *words)
{
	_cleanup_(err_clear) struct err e = { 0 };
	struct model_parameters p;

	assert_int_equal(model_parameters_parse(text, &p, &e), -EINVAL);
	assert_int_equal(e.kind, ERR_USAGE);
	if (!strstr(err_message(&e), words))
		fail_msg("\"%s\" does not contain \"%s\"", err_message(&e), words);
}

static void what_is_wrong_is_named(void **state _unused_)
{
	refused("hdd-720", "did you mean \"hdd-7200\"");
	refused("", "unknown model \"\"");
	refused("hdd-7200,seekmax=8ms", "did you mean \"seek_max\"");
	refused("hdd-7200,colour=red", "unknown model parameter \"colour\"");
	refused("hdd-7200,seek_max", "not parameter=value");
	refused("hdd-7200,seek_max=fast", "\"fast\" is not a duration");
	refused("hdd-7200,cache=much", "\"much\" is not a size");
	refused("hdd-7200,rotation=none", "neither average nor angle");
	refused("ssd,channels=0", "channels");
	refused("hdd-7200,channels=2", "one channel");
	refused("ssd,cache=1M", "one channel");
	refused("hdd-7200,seek_max=0", "seek_max is less than seek_min");
	refused("hdd-7200,transfer=0", "transfer rate");
	refused("ssd,bad_at=4k", "bad_at needs bad_bytes");
	refused("ssd,slow=4", "slow and slow_by need each other");
	refused("ssd,slow_by=4s", "slow and slow_by need each other");
	refused("ssd,hang_for=4s", "hang_for needs hang");
	refused("ssd,fail_times=4", "fail_times needs");
}

static void faults_are_replaced_and_nothing_else(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };
	struct model_parameters p, was;

	assert_int_equal(model_parameters_parse("ssd,hang=3,fail_read=2,read=5ms", &p, &e), 0);
	was = p;
	assert_int_equal(model_parameters_parse_faults("fail_write=7,fail_times=1", &p, &e), 0);
	assert_int_equal(p.hang + p.fail_read, 0);
	assert_int_equal(p.fail_write, 7);
	assert_int_equal(p.fail_times, 1);
	assert_int_equal(p.read_ns, 5 * NS_PER_MS);
	was = p;
	assert_int_equal(model_parameters_parse_faults("fail_reads=5", &p, &e), -EINVAL);
	assert_string_equal(err_message(&e), "faults \"fail_reads=5\": unknown fault "
					     "\"fail_reads\"; did you mean \"fail_read\"?");
	err_clear(&e);
	assert_int_equal(model_parameters_parse_faults("", &p, &e), -EINVAL);
	err_clear(&e);
	assert_int_equal(model_parameters_parse_faults("hang_for=1s", &p, &e), -EINVAL);
	assert_memory_equal(&p, &was, sizeof(p));
	assert_int_equal(model_parameters_parse_faults("none", &p, NULL), 0);
	assert_int_equal(p.fail_write + p.fail_times, 0);
}

static void every_value_is_printed_as_it_would_be_parsed(void **state _unused_)
{
	const struct model_parameters *m;

	for (size_t i = 0; (m = model_builtin(i)); i++)
		for (const struct model_parameter *t = model_parameter_table; t->name; t++) {
			_cleanup_(err_clear) struct err e = { 0 };
			struct model_parameters p;
			char value[32], text[96];

			model_parameter_format(m, t, value);
			snprintf(text, sizeof(text), "%s,%s=%s", m->base, t->name, value);
			assert_int_equal(model_parameters_parse(text, &p, &e), 0);
			assert_int_equal(model_parameter_value(&p, t),
				model_parameter_value(m, t));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_replaces_that_of_the_built_in_model),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(faults_are_replaced_and_nothing_else),
		cmocka_unit_test(every_value_is_printed_as_it_would_be_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
