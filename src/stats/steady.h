/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Steady state of a disk, as SNIA's Performance Test Specification defines it: over the
 * last five rounds the highest and the lowest value lie no further apart than 20 % of the
 * mean, and the straight line through them rises or falls by no more than 10 % of it.
 */

#include <stdbool.h>
#include <stddef.h>

enum { STEADY_WINDOW = 5, STEADY_ROUNDS_MAX = 25 };

/* values: one for each round so far, the last one last. */
bool steady_is_reached(const double *values, size_t count);
