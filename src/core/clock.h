/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Time.  Durations come from the monotonic clock only; the real clock is for dates. */

#include <stdint.h>

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t clock_now_ns(void);

/* CLOCK_REALTIME in nanoseconds since 1970, for dates and for noticing clock steps. */
uint64_t clock_wall_ns(void);

/* Writes "2026-11-30T20:03:00Z" for a real-clock time into out. */
void clock_format_utc(uint64_t wall_ns, char out[static 32]);
