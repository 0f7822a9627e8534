/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Does it hang?  See hang.h. */

#include "run/hang.h"

#include "core/clock.h"
#include "core/macros.h"

enum { LOOKS = 10, CPU_SHARE = 10 };

void hang_init(struct hang *h, uint64_t bound_ns, uint64_t now_ns)
{
	*h = (struct hang){.bound_ns = bound_ns, .sign_ns = now_ns, .looked_ns = now_ns};
}

uint64_t hang_pause_ns(const struct hang *h)
{
	uint64_t pause = h->bound_ns / LOOKS;

	return !pause ? 10 * NS_PER_S
		      : MAX(NS_PER_MS, MIN(pause, 10 * NS_PER_S));
}

void hang_step(struct hang *h, uint64_t expected_ns, uint64_t now_ns)
{
	h->expected_ns = expected_ns;
	h->sign_ns = now_ns;
}

void hang_set_devices(struct hang *h, size_t count, uint64_t now_ns)
{
	h->count = MIN(count, (size_t)HANG_DEVICES_MAX);
	for (size_t i = 0; i < h->count; i++)
		h->devices[i] = (struct hang_device){.since_ns = now_ns};
}

/* Did it complete something since the last look? */
static bool look_at(struct hang_device *d, const struct hang_sample *now, uint64_t now_ns)
{
	bool did = now->completed != d->last.completed;

	if (did || !now->in_flight)
		d->since_ns = now_ns;
	d->last = *now;
	return did;
}

/* Who did not look for so long was stopped itself, and they with him: nobody knows. */
static bool has_slept(const struct hang *h, uint64_t now_ns)
{
	return now_ns - h->looked_ns > h->bound_ns / 2;
}

/* Less is what somebody needs who only waits for others. */
static bool has_worked(const struct hang *h, uint64_t cpu_ns, uint64_t now_ns)
{
	/* Less than before: some process has ended. */
	return cpu_ns < h->cpu_ns ||
	       (cpu_ns - h->cpu_ns) * CPU_SHARE > now_ns - h->looked_ns;
}

int hang_look(struct hang *h, const struct hang_sample *samples, uint64_t cpu_ns,
	uint64_t now_ns)
{
	bool sign = has_worked(h, cpu_ns, now_ns), slept = has_slept(h, now_ns);
	int found = HANG_NONE;

	for (size_t i = 0; i < h->count; i++) {
		sign |= look_at(&h->devices[i], &samples[i], now_ns);
		if (slept)
			h->devices[i].since_ns = now_ns;
		if (found == HANG_NONE && now_ns - h->devices[i].since_ns >= h->bound_ns)
			found = (int)i;
	}
	if (sign || slept)
		h->sign_ns = now_ns;
	h->cpu_ns = cpu_ns;
	h->looked_ns = now_ns;
	if (found == HANG_NONE && now_ns - h->sign_ns >= h->bound_ns + h->expected_ns)
		found = HANG_STEP;
	return h->bound_ns ? found : HANG_NONE;
}
