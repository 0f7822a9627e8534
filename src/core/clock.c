/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Time; see clock.h. */

#include "core/clock.h"

#include <time.h>

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t clock_now_ns(void)
{
	return now(CLOCK_MONOTONIC);
}

uint64_t clock_wall_ns(void)
{
	return now(CLOCK_REALTIME);
}

void clock_format_utc(uint64_t wall_ns, char out[static 32])
{
	time_t seconds = (time_t)(wall_ns / NS_PER_S);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}
