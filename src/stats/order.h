/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Order statistics of a few doubles, such as the values of a metric over blocks. */

#include <stddef.h>

/* Sorts in place, ascending. */
void order_sort(double *values, size_t n);

/* Middle value, or the mean of the two middle ones; NAN when n is 0.  The values are not
 * changed and may be in any order; NAN also when there is no memory. */
double order_median(const double *values, size_t n);

/* Quantile q (0..1) of sorted values, linear between neighbours (R's type 7). */
double order_quantile_sorted(const double *sorted, size_t n, double q);
