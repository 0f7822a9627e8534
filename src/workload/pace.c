/* SPDX-License-Identifier: GPL-3.0-or-later */

/* When operations begin; see pace.h. */

#include "workload/pace.h"

#include <sys/prctl.h>
#include <time.h>

#include "core/clock.h"
#include "core/macros.h"

#define POLL_NS (200 * NS_PER_MS)

bool pacer_next(struct pacer *p, uint64_t *due_ns)
{
	const struct pace *pace = p->pace;
	uint64_t due = 0;

	/* The default slack of 50 us would count as latency. */
	if (!p->turns && (pace->rate > 0 || pace->think_ns))
		prctl(PR_SET_TIMERSLACK, 1UL);
	if (pace->rate > 0)
		due = p->start_ns + (uint64_t)((double)NS_PER_S / pace->rate *
					       (double)(p->turns * p->threads + p->index));
	else if (pace->think_ns && p->turns)
		due = clock_now_ns() + pace->think_ns;
	if (pace->runtime_ns &&
		MAX(due, clock_now_ns()) - p->start_ns >= pace->runtime_ns)
		return false;
	p->turns++;
	*due_ns = due;
	return true;
}

bool pace_sleep(uint64_t due_ns, const int *quit)
{
	uint64_t now_ns;

	while (!__atomic_load_n(quit, __ATOMIC_RELAXED) &&
		(now_ns = clock_now_ns()) < due_ns) {
		uint64_t to_ns = MIN(due_ns, now_ns + POLL_NS);
		struct timespec at = {.tv_sec = (time_t)(to_ns / NS_PER_S),
			.tv_nsec = (long)(to_ns % NS_PER_S)};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
	return !__atomic_load_n(quit, __ATOMIC_RELAXED);
}
