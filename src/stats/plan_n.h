/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * How many blocks an experiment needs.  Stein's two stages: the pilot gives the spread,
 * from which the number for a wanted half-width of the interval follows; no test is made
 * in between, so the level holds.  (Stein 1945; reference in jbdlab-method(7).)
 */

#include <stddef.h>

#include "stats/paired.h"

#define PILOT_BLOCKS 6

/* Blocks in all for an interval of +-half (log ratio) at the level, from n0 pilot values
 * with standard deviation sd; never fewer than n0. */
size_t plan_n_stein(double sd, size_t n0, double half, double level);

/* Stein's own interval at the end: mean +- t(n0-1) sd0 / sqrt(n); it has the wanted width
 * or less, whatever the later blocks were. */
struct interval plan_n_stein_interval(const double *d, size_t n, size_t n0, double level);

/* The smallest effect (log ratio) that n blocks would have shown with probability power
 * at that level. */
double plan_n_detectable(double sd, size_t n, double level, double power);
