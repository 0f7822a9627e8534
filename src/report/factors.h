/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The factors of an experiment, from the levels of its arms ("journal=external commit=5");
 * see plan/grid.h for how they come about.  The first level of a factor, in the order of
 * the arms, is its baseline.
 *
 * The effect of a level is the ratio of two arms that differ in that factor alone, of all
 * such pairs: in each block the mean of their log ratios.  In a design that varies one
 * factor at a time there is one pair, in a full one there are many, and what the other
 * factors do cancels.  An arm for which a factor has no meaning counts as its first level.
 */

#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "report/comparison.h"
#include "result/bundle.h"

struct factor {
	char *name;
	char **levels; /* in the order of the arms */
	size_t level_count;
};

struct factors {
	struct factor *list;
	size_t count; /* 0: no arm has levels */
	int **arms; /* [arm][factor]: index of the level, -1: the arm has none */
	size_t arm_count;
	struct bundle_design design; /* margin and level */
};

/* -ENOMEM; -EBADMSG for a text that is no list of FACTOR=LEVEL. */
int factors_read(struct factors *f, const struct bundle_info *info, struct err *e);
void factors_deinit(struct factors *f);

/* Is this arm part of the factors? */
bool factors_have_arm(const struct factors *f, size_t arm);

struct factor_effect {
	size_t pairs;  /* of arms */
	size_t blocks; /* that have all of them */
	struct contrast contrast; /* its n is 0 without pairs */
};

/* The effect of a level (from 1) of a factor on a metric.  -ENOMEM; -EBADMSG. */
int factors_effect(const struct factors *f, const struct series *s, size_t factor,
	size_t level, struct factor_effect *out, struct err *e);
