/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The set of byte ranges, against a plain map of bytes. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/macros.h"
#include "scratch/extents.h"

#define SPACE 200

static void ranges_that_touch_are_merged(void **state _unused_)
{
	struct extents s;

	assert_int_equal(extents_init(&s, 8), 0);
	assert_true(extents_add(&s, 10, 20));
	assert_true(extents_add(&s, 30, 40));
	assert_int_equal(s.count, 2);
	assert_true(extents_add(&s, 20, 30));
	assert_int_equal(s.count, 1);
	assert_int_equal(s.items[0].start, 10);
	assert_int_equal(s.items[0].end, 40);
	assert_int_equal(s.bytes, 30);
	extents_deinit(&s);
}

static void a_full_set_refuses_a_new_range_and_a_split(void **state _unused_)
{
	struct extents s;

	assert_int_equal(extents_init(&s, 2), 0);
	assert_true(extents_add(&s, 0, 10));
	assert_true(extents_add(&s, 20, 30));
	assert_false(extents_add(&s, 40, 50));
	assert_false(extents_remove(&s, 4, 6));
	assert_int_equal(s.bytes, 20);
	assert_true(extents_add(&s, 10, 20)); /* merges: needs no room */
	assert_int_equal(s.count, 1);
	assert_true(extents_remove(&s, 4, 6));
	assert_int_equal(s.count, 2);
	assert_int_equal(s.bytes, 28);
	extents_deinit(&s);
}

static void check_against_map(const struct extents *s, const bool *map)
{
	uint64_t bytes = 0, at = 0;

	for (size_t i = 0; i < s->count; i++) {
		assert_true(s->items[i].start < s->items[i].end);
		assert_true(i == 0 || s->items[i - 1].end < s->items[i].start);
		for (; at < s->items[i].start; at++)
			assert_false(map[at]);
		for (; at < s->items[i].end; at++, bytes++)
			assert_true(map[at]);
	}
	for (; at < SPACE; at++)
		assert_false(map[at]);
	assert_int_equal(bytes, s->bytes);
}

static void random_changes_agree_with_a_map_of_bytes(void **state _unused_)
{
	bool map[SPACE] = { false };
	struct extents s;

	srandom(1);
	assert_int_equal(extents_init(&s, SPACE), 0);
	for (int i = 0; i < 20000; i++) {
		uint64_t start = (uint64_t)random() % SPACE;
		uint64_t end = start + (uint64_t)random() % (SPACE - start + 1);
		bool add = random() % 2;
		uint64_t overlap = 0;

		if (random() % 3)
			end = MIN(end, start + 5);
		for (uint64_t at = start; at < end; at++)
			overlap += map[at];
		assert_int_equal(extents_overlap(&s, start, end), overlap);
		assert_true(add ? extents_add(&s, start, end) : extents_remove(&s, start, end));
		memset(map + start, add, end - start);
		check_against_map(&s, map);
	}
	extents_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_that_touch_are_merged),
		cmocka_unit_test(a_full_set_refuses_a_new_range_and_a_split),
		cmocka_unit_test(random_changes_agree_with_a_map_of_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
