/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Steady state; see steady.h. */

#include "stats/steady.h"

#include <math.h>

#define RANGE_MAX 0.2
#define EXCURSION_MAX 0.1

bool steady_is_reached(const double *values, size_t count)
{
	const double middle = (STEADY_WINDOW - 1) / 2.0;
	double sum = 0, low = INFINITY, high = 0, slope = 0, squares = 0, mean;

	if (count < STEADY_WINDOW)
		return false;
	values += count - STEADY_WINDOW;
	for (int i = 0; i < STEADY_WINDOW; i++) {
		sum += values[i];
		low = fmin(low, values[i]);
		high = fmax(high, values[i]);
		slope += (i - middle) * values[i];
		squares += (i - middle) * (i - middle);
	}
	mean = sum / STEADY_WINDOW;
	slope /= squares;
	return mean > 0 && high - low <= RANGE_MAX * mean &&
	       fabs(slope) * (STEADY_WINDOW - 1) <= EXCURSION_MAX * mean;
}
