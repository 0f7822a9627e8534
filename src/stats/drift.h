/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Did a series drift, and which of its values stand out?  Both are told, never used to
 * drop a value. */

#include <stdbool.h>
#include <stddef.h>

/* Theil and Sen's slope per step: the median of the slopes between all pairs.  NAN for
 * n < 2. */
double drift_slope(const double *y, size_t n);

/* Two-sided p of Mann and Kendall's test for a trend: exact up to 10 values without ties,
 * else normal with corrections for ties and continuity.  1 for n < 3. */
double drift_p(const double *y, size_t n);

/* flags[i]: is y[i] farther than 3.5 scaled MADs from the median?  Returns how many; with
 * a MAD of zero none is flagged. */
size_t drift_outliers(const double *y, size_t n, bool *flags);
