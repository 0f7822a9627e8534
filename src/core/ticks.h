/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A clock for short intervals that costs a third of clock_now_ns(): the time stamp
 * counter of an x86 CPU, where the kernel has found it good enough to be its own clock
 * source; elsewhere CLOCK_MONOTONIC.  For operations of a few hundred nanoseconds the
 * difference is several percent of what is measured.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/clock.h"

struct ticks {
	bool counter;	/* else ticks are nanoseconds */
	uint64_t scale; /* nanoseconds per tick, times 2^32 */
	uint64_t begun_ticks, begun_ns;
};

/* Chooses the clock and begins to compare the counter with CLOCK_MONOTONIC. */
void ticks_begin(struct ticks *t);

/* Ends the comparison, not sooner than two milliseconds after it began; from now on the
 * scale is right to some 10 parts in a million. */
void ticks_calibrate(struct ticks *t);

#ifdef __x86_64__
static inline uint64_t ticks_counter(void)
{
	return __builtin_ia32_rdtsc();
}
#else
static inline uint64_t ticks_counter(void)
{
	return 0;
}
#endif

static inline uint64_t ticks_now(const struct ticks *t)
{
	return t->counter ? ticks_counter() : clock_now_ns();
}

/* Nanoseconds of an interval; 0 when its end seems to lie before its start, as it may by
 * a few ticks between two CPUs. */
static inline uint64_t ticks_between_ns(const struct ticks *t, uint64_t from, uint64_t to)
{
	uint64_t interval = (int64_t)(to - from) > 0 ? to - from : 0;

	if (!t->counter)
		return interval;
	return (uint64_t)((unsigned __int128)interval * t->scale >> 32);
}
