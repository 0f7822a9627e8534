/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Factors: which arms are pairs, and that the effect of a level is the mean over them, so
 * that what other factors do cancels.
 */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/factors.h"

static void read_factors(
	struct factors *f, struct bundle_info *info, const char *const *levels, size_t n)
{
	*info = (struct bundle_info){.design = {.level = 0.95, .margin = 0.03}};
	for (size_t i = 0; i < n; i++) {
		char name[3] = {'a', (char)('0' + i), '\0'};

		assert_int_equal(
			bundle_info_add_arm(info, name, "inline", "", NULL), 0);
		assert_int_equal(bundle_info_set_levels(info, levels[i], NULL), 0);
	}
	assert_int_equal(factors_read(f, info, NULL), 0);
}

/* A series with value(block, arm). */
static void fill(struct series *s, size_t blocks, size_t arms,
	double (*value)(size_t block, size_t arm))
{
	*s = (struct series){.samples = calloc(blocks * arms, sizeof(*s->samples))};
	for (size_t b = 0; b < blocks; b++)
		for (size_t a = 0; a < arms; a++)
			s->samples[s->count++] = (struct sample){
				(uint32_t)b, (uint32_t)a, (uint32_t)a, value(b, a)};
}

static struct factor_effect effect_of(
	const struct factors *f, const struct series *s, size_t factor, size_t level)
{
	struct factor_effect effect;

	assert_int_equal(factors_effect(f, s, factor, level, &effect, NULL), 0);
	return effect;
}

/* Blocks drift; the journal's place doubles, data=writeback multiplies by 1.5, and both
 * together by 3 * 1.21. */
static double two_by_two(size_t block, size_t arm)
{
	static const double effects[] = {1, 1.5, 2, 3 * 1.21};

	return (1 + 0.1 * (double)block) * effects[arm];
}

static void a_full_design_has_the_mean_over_all_pairs(void **state)
{
	static const char *const levels[] = {"journal=inline data=ordered",
		"journal=inline data=writeback", "journal=external data=ordered",
		"journal=external data=writeback"};
	struct bundle_info info;
	struct factor_effect effect;
	struct factors f;
	struct series s;

	(void)state;
	read_factors(&f, &info, levels, 4);
	assert_int_equal(f.count, 2);
	assert_string_equal(f.list[1].name, "data");
	assert_string_equal(f.list[1].levels[1], "writeback");
	fill(&s, 6, 4, two_by_two);
	effect = effect_of(&f, &s, 0, 1);
	assert_int_equal(effect.pairs, 2);
	assert_int_equal(effect.blocks, 6);
	/* Pairs: 2 and 2 * 1.21; their geometric mean. */
	assert_true(fabs(effect.contrast.ratio - 2.2) < 1e-9);
	assert_int_equal(effect.contrast.verdict, VERDICT_HIGHER);
	effect = effect_of(&f, &s, 1, 1);
	assert_true(fabs(effect.contrast.ratio - 1.65) < 1e-9);
	free(s.samples);
	factors_deinit(&f);
	bundle_info_deinit(&info);
}

static double by_arm(size_t block, size_t arm)
{
	return (double)(block + 1) * (double)(arm + 1);
}

static void arms_without_a_factor_count_as_its_first_level(void **state)
{
	static const char *const levels[] = {"journal=inline commit=5", "journal=none",
		"journal=inline commit=30", "", "journal=external commit=30"};
	struct bundle_info info;
	struct factor_effect effect;
	struct factors f;
	struct series s;

	(void)state;
	read_factors(&f, &info, levels, 5);
	fill(&s, 6, 5, by_arm);
	assert_true(factors_have_arm(&f, 1));
	assert_false(factors_have_arm(&f, 3));
	effect = effect_of(&f, &s, 0, 1); /* none with inline: arms 1 and 0 */
	assert_int_equal(effect.pairs, 1);
	assert_true(fabs(effect.contrast.ratio - 2) < 1e-9);
	effect = effect_of(&f, &s, 1, 1); /* commit=30: arms 2 and 0 */
	assert_int_equal(effect.pairs, 1);
	assert_true(fabs(effect.contrast.ratio - 3) < 1e-9);
	effect = effect_of(&f, &s, 0, 2); /* external with commit=30: arms 4 and 2 */
	assert_int_equal(effect.pairs, 1);
	assert_true(fabs(effect.contrast.ratio - 5.0 / 3) < 1e-9);
	free(s.samples);
	factors_deinit(&f);
	bundle_info_deinit(&info);
}

static double with_a_gap(size_t block, size_t arm)
{
	if (block == 2 && arm == 1)
		return NAN;
	return block == 4 && arm == 0 ? 0 : by_arm(block, arm);
}

static void blocks_that_lack_a_pair_are_left_out(void **state)
{
	static const char *const levels[] = {"x=1", "x=2", "y=1 x=3"};
	struct bundle_info info;
	struct factor_effect effect;
	struct factors f;
	struct series s;

	(void)state;
	read_factors(&f, &info, levels, 3);
	fill(&s, 8, 3, with_a_gap);
	effect = effect_of(&f, &s, 0, 1);
	assert_int_equal(effect.blocks, 6);
	effect = effect_of(&f, &s, 0, 2);
	assert_int_equal(effect.blocks, 7);
	s.samples[0].block = 1u << 31;
	assert_int_equal(factors_effect(&f, &s, 0, 1, &effect, NULL), -EBADMSG);
	free(s.samples);
	factors_deinit(&f);
	bundle_info_deinit(&info);
}

static void no_levels_are_no_factors_and_nonsense_is_refused(void **state)
{
	static const char *const levels[] = {"", ""};
	struct bundle_info info;
	struct factors f;
	struct err e = {0};

	(void)state;
	read_factors(&f, &info, levels, 2);
	assert_int_equal(f.count, 0);
	factors_deinit(&f);
	assert_int_equal(bundle_info_set_levels(&info, "x=1 y", NULL), 0);
	assert_int_equal(factors_read(&f, &info, &e), -EBADMSG);
	assert_non_null(strstr(err_message(&e), "arm a1: \"y\" is not FACTOR=LEVEL"));
	factors_deinit(&f);
	err_clear(&e);
	bundle_info_deinit(&info);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_design_has_the_mean_over_all_pairs),
		cmocka_unit_test(arms_without_a_factor_count_as_its_first_level),
		cmocka_unit_test(blocks_that_lack_a_pair_are_left_out),
		cmocka_unit_test(no_levels_are_no_factors_and_nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
