/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Does it hang?  A device hangs that has requests in flight and has completed none for the
 * time that is allowed, whatever else goes on.  A step hangs in which nothing at all
 * happens for that time and the one that it is expected to take: no further step begins,
 * no device completes a request, and no processor is used.  How long a step takes as a
 * whole is no sign: checking a large volume may take hours.
 *
 * Arithmetic only: the caller reads counters and clock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HANG_DEVICES_MAX = 64, HANG_NONE = -1, HANG_STEP = -2 };

struct hang_sample {
	uint64_t completed, in_flight; /* requests of a device */
};

struct hang {
	uint64_t bound_ns;    /* that is allowed; 0: nothing ever hangs */
	uint64_t expected_ns; /* in which the step may be without any sign */
	uint64_t sign_ns;     /* of the last sign */
	uint64_t looked_ns;
	uint64_t cpu_ns;
	struct hang_device {
		struct hang_sample last;
		uint64_t since_ns; /* when it last did something, or had nothing to do */
	} devices[HANG_DEVICES_MAX];
	size_t count;
};

void hang_init(struct hang *h, uint64_t bound_ns, uint64_t now_ns);

/* How long to wait between two looks. */
uint64_t hang_pause_ns(const struct hang *h);

/* A step begins, which may be quiet for expected_ns. */
void hang_step(struct hang *h, uint64_t expected_ns, uint64_t now_ns);

/* The devices are others from now on; nothing was seen of them yet. */
void hang_set_devices(struct hang *h, size_t count, uint64_t now_ns);

/*
 * One look: a sample of each device, and the time that our processes have spent on
 * processors.  Returns the number of the device that hangs, HANG_STEP or HANG_NONE.
 */
int hang_look(struct hang *h, const struct hang_sample *samples, uint64_t cpu_ns,
	uint64_t now_ns);
