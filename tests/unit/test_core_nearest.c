/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The nearest known word. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "core/macros.h"
#include "core/nearest.h"

static void distance_counts_single_slips_as_one(void **state _unused_)
{
	assert_int_equal(nearest_distance("time", "time"), 0);
	assert_int_equal(nearest_distance("time", "TIME"), 0);
	assert_int_equal(nearest_distance("tme", "time"), 1);
	assert_int_equal(nearest_distance("timee", "time"), 1);
	assert_int_equal(nearest_distance("tine", "time"), 1);
	assert_int_equal(nearest_distance("tiem", "time"), 1);
	assert_int_equal(nearest_distance("", "time"), 4);
	assert_int_equal(nearest_distance("kitten", "sitting"), 3);
}

static void distance_is_symmetric(void **state _unused_)
{
	static const char *const words[] = { "", "a", "threads", "treads", "block", "bs" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		for (size_t j = 0; j < ARRAY_SIZE(words); j++)
			assert_int_equal(nearest_distance(words[i], words[j]),
				nearest_distance(words[j], words[i]));
}

static const char *best_of(const char *word)
{
	static const char *const known[] = { "size", "block", "threads", "random", "sync" };
	struct nearest n = { .word = word };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		nearest_offer(&n, known[i]);
	return n.best;
}

static void misspelt_words_find_their_name(void **state _unused_)
{
	assert_string_equal(best_of("treads"), "threads");
	assert_string_equal(best_of("Blokc"), "block");
	assert_string_equal(best_of("radnom"), "random");
	assert_string_equal(best_of("snyc"), "sync");
}

static void strange_words_find_nothing(void **state _unused_)
{
	assert_null(best_of("journal"));
	assert_null(best_of(""));
	assert_null(best_of("x"));
	assert_null(best_of("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			    "aaaaaaaaaaaaaaaaaaaaaaaaa"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distance_counts_single_slips_as_one),
		cmocka_unit_test(distance_is_symmetric),
		cmocka_unit_test(misspelt_words_find_their_name),
		cmocka_unit_test(strange_words_find_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
