/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Factors and the effects of their levels; see factors.h. */

#include "report/factors.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* What a bundle says is not believed without limit. */
enum { FACTORS_MAX_BLOCKS = 1 << 20 };

static int find_factor(struct factors *f, const char *name, size_t *at)
{
	struct factor *list;

	for (*at = 0; *at < f->count; ++*at)
		if (!strcmp(f->list[*at].name, name))
			return 0;
	list = reallocarray(f->list, f->count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	f->list = list;
	list[f->count] = (struct factor){.name = strdup(name)};
	if (!list[f->count].name)
		return -ENOMEM;
	f->count++;
	return 0;
}

static int find_level(struct factor *factor, const char *level, size_t *at)
{
	char **levels;

	for (*at = 0; *at < factor->level_count; ++*at)
		if (!strcmp(factor->levels[*at], level))
			return 0;
	levels = reallocarray(factor->levels, factor->level_count + 1, sizeof(*levels));
	if (!levels)
		return -ENOMEM;
	factor->levels = levels;
	levels[factor->level_count] = strdup(level);
	return levels[factor->level_count] ? (int)(factor->level_count++, 0) : -ENOMEM;
}

/* visit() gets every FACTOR=LEVEL of an arm. */
static int each_level(struct factors *f, const struct bundle_arm *arm,
	int (*visit)(struct factors *f, size_t arm, const char *name, const char *level),
	size_t number, struct err *e)
{
	_cleanup_free_ char *copy = strdup(arm->levels);
	char *save = NULL;
	int r = copy ? 0 : -ENOMEM;

	for (char *word = r ? NULL : strtok_r(copy, " \t", &save); !r && word;
		word = strtok_r(NULL, " \t", &save)) {
		char *equals = strchr(word, '=');

		if (!equals)
			return err_say(e, EBADMSG, "arm %s: \"%s\" is not FACTOR=LEVEL",
				arm->name, word);
		*equals = '\0';
		r = visit(f, number, word, equals + 1);
	}
	return r ? err_set(e, -r, "levels of arm %s", arm->name) : 0;
}

static int collect(struct factors *f, size_t arm _unused_, const char *name,
	const char *level)
{
	size_t factor = 0, at;
	int r = find_factor(f, name, &factor);

	return r ? r : find_level(&f->list[factor], level, &at);
}

static int assign(struct factors *f, size_t arm, const char *name, const char *level)
{
	size_t factor = 0, at = 0;
	int r = find_factor(f, name, &factor);

	if (!r)
		r = find_level(&f->list[factor], level, &at);
	if (!r)
		f->arms[arm][factor] = (int)at;
	return r;
}

int factors_read(struct factors *f, const struct bundle_info *info, struct err *e)
{
	int r = 0;

	*f = (struct factors){.arms = calloc(info->arm_count, sizeof(*f->arms)),
		.design = info->design};
	if (!f->arms)
		return err_set(e, ENOMEM, "report");
	f->arm_count = info->arm_count;
	for (size_t i = 0; !r && i < info->arm_count; i++)
		r = each_level(f, &info->arms[i], collect, i, e);
	for (size_t i = 0; !r && i < info->arm_count; i++) {
		f->arms[i] = calloc(f->count + 1, sizeof(**f->arms));
		if (!f->arms[i])
			return err_set(e, ENOMEM, "report");
		for (size_t k = 0; k < f->count; k++)
			f->arms[i][k] = -1;
		r = each_level(f, &info->arms[i], assign, i, e);
	}
	return r;
}

void factors_deinit(struct factors *f)
{
	for (size_t i = 0; i < f->count; i++) {
		for (size_t k = 0; k < f->list[i].level_count; k++)
			free(f->list[i].levels[k]);
		free(f->list[i].levels);
		free(f->list[i].name);
	}
	for (size_t i = 0; f->arms && i < f->arm_count; i++)
		free(f->arms[i]);
	free(f->list);
	free(f->arms);
	*f = (struct factors){0};
}

bool factors_have_arm(const struct factors *f, size_t arm)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->arms[arm][i] >= 0)
			return true;
	return false;
}

/* Differ a and b in this factor alone, a having its first level? */
static bool is_pair(
	const struct factors *f, size_t a, size_t b, size_t factor, size_t level)
{
	if (f->arms[a][factor] || f->arms[b][factor] != (int)level)
		return false;
	for (size_t i = 0; i < f->count; i++)
		if (i != factor && MAX(f->arms[a][i], 0) != MAX(f->arms[b][i], 0))
			return false;
	return true;
}

/* Sums over the pairs, for each block. */
struct block_sum {
	double logs;
	size_t pairs;
};

/* first[] and other[] are the values of two arms, 0 where there is none. */
static void add_pair(
	const double *first, const double *other, struct block_sum *sums, size_t blocks)
{
	for (size_t i = 0; i < blocks; i++) {
		if (!(first[i] > 0) || !(other[i] > 0))
			continue;
		sums[i].logs += log(other[i] / first[i]);
		sums[i].pairs++;
	}
}

/* The mean ratio of every block that has all pairs. */
static size_t mean_ratios(const struct block_sum *sums, size_t blocks, size_t pairs,
	double *ratios)
{
	size_t n = 0;

	for (size_t i = 0; pairs && i < blocks; i++)
		if (sums[i].pairs == pairs)
			ratios[n++] = exp(sums[i].logs / (double)pairs);
	return n;
}

int factors_effect(const struct factors *f, const struct series *s, size_t factor,
	size_t level, struct factor_effect *out, struct err *e)
{
	size_t blocks = 0;
	_cleanup_free_ struct block_sum *sums = NULL;
	_cleanup_free_ double *values = NULL, *ones = NULL, *ratios = NULL;

	for (size_t i = 0; i < s->count; i++) {
		if (s->samples[i].block >= FACTORS_MAX_BLOCKS)
			return err_say(e, EBADMSG, "%u is not the number of a block",
				s->samples[i].block);
		blocks = MAX(blocks, (size_t)s->samples[i].block + 1);
	}
	sums = calloc(blocks + 1, sizeof(*sums));
	ones = calloc(blocks + 1, sizeof(*ones));
	ratios = calloc(blocks + 1, sizeof(*ratios));
	values = calloc(blocks * f->arm_count + 1, sizeof(*values));
	if (!sums || !ones || !ratios || !values)
		return err_set(e, ENOMEM, "compare factors");
	for (size_t i = 0; i < s->count; i++)
		values[s->samples[i].arm * blocks + s->samples[i].block] =
			s->samples[i].value;
	*out = (struct factor_effect){0};
	for (size_t a = 0; a < f->arm_count; a++)
		for (size_t b = 0; b < f->arm_count; b++)
			if (is_pair(f, a, b, factor, level)) {
				add_pair(values + a * blocks, values + b * blocks, sums,
					blocks);
				out->pairs++;
			}
	out->blocks = mean_ratios(sums, blocks, out->pairs, ratios);
	for (size_t i = 0; i < out->blocks; i++)
		ones[i] = 1;
	contrast_make(&out->contrast, ones, ratios, out->blocks, f->design.margin,
		f->design.level);
	return 0;
}
