/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The counter as a clock; see ticks.h.
 *
 * The kernel watches the counter against other clocks and takes another clock source when
 * it stops, drifts or differs between CPUs; current_clocksource is that verdict.  How
 * long a tick is is not published, so it is measured: both clocks are read at two
 * moments, each time in the tightest of several attempts, because a reading may be
 * interrupted between the two.
 */

#include "core/ticks.h"

#include <string.h>

#include "core/fileio.h"
#include "core/macros.h"

#define CALIBRATION_NS (2 * NS_PER_MS)
enum { ATTEMPTS = 32 };

static bool counter_is_good(void)
{
	_cleanup_free_ char *source = fileio_read_line(
		"/sys/devices/system/clocksource/clocksource0/current_clocksource");

	return source && !strcmp(source, "tsc") && ticks_counter() != 0;
}

/* Both clocks at one moment. */
static void read_both(uint64_t *ticks, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < ATTEMPTS; i++) {
		uint64_t before = ticks_counter(), now_ns = clock_now_ns();
		uint64_t width = ticks_counter() - before;

		if (width < best) {
			best = width;
			*ticks = before + width / 2;
			*ns = now_ns;
		}
	}
}

void ticks_begin(struct ticks *t)
{
	*t = (struct ticks){.counter = counter_is_good()};
	if (t->counter)
		read_both(&t->begun_ticks, &t->begun_ns);
}

void ticks_calibrate(struct ticks *t)
{
	uint64_t ticks = 0, ns = 0;

	if (!t->counter)
		return;
	while (clock_now_ns() - t->begun_ns < CALIBRATION_NS)
		;
	read_both(&ticks, &ns);
	ticks -= t->begun_ticks;
	ns -= t->begun_ns;
	/* From 100 MHz to 10 GHz; anything else is no time stamp counter. */
	t->counter = ns / 10 < ticks && ticks / 10 < ns;
	if (t->counter)
		t->scale = (uint64_t)(((unsigned __int128)ns << 32) / ticks);
}
