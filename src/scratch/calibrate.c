/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The way to a disk model and back; see calibrate.h.
 *
 * The model is told to take one fixed time for each request, about what a read of it
 * takes, because a processor that slept for milliseconds wakes up more slowly than one
 * that was busy.  What a direct read takes more than that is the way.  The median of many
 * is taken, and a limit set, so that a machine that is busy just now does not make the
 * disk faster than it should be.
 */

#include "scratch/calibrate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/fileio.h"
#include "core/macros.h"
#include "scratch/model_control.h"
#include "scratch/model_device.h"

#define READS 31
#define BLOCK_BYTES 4096
#define FIXED_NS_MAX (8 * NS_PER_MS)
#define FIXED_NS_MIN (50 * NS_PER_US)
#define LEAD_NS_MAX (150 * NS_PER_US)

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* A read somewhere on the disk, roughly and at most FIXED_NS_MAX. */
static uint64_t typical_ns(const struct model_parameters *p)
{
	uint64_t ns = p->overhead_ns + p->read_ns + p->seek_max_ns / 2;

	if (p->rpm)
		ns += 30 * NS_PER_S / p->rpm;
	return MIN(MAX(ns, FIXED_NS_MIN), FIXED_NS_MAX);
}

static int median_read_ns(const char *device, uint64_t *median_ns, struct err *e)
{
	_cleanup_close_ int fd = open(device, O_RDONLY | O_DIRECT | O_CLOEXEC);
	_cleanup_free_ void *buffer = NULL;
	uint64_t taken[READS], from;
	int r;

	if (fd < 0)
		return err_set(e, errno, "open %s", device);
	if (posix_memalign(&buffer, BLOCK_BYTES, BLOCK_BYTES)) {
		buffer = NULL;
		return err_set(e, ENOMEM, "measure the way to %s", device);
	}
	for (size_t i = 0; i < READS; i++) {
		from = clock_now_ns();
		r = fileio_pread_full(fd, buffer, BLOCK_BYTES, 0, device, e);
		if (r)
			return r;
		taken[i] = clock_now_ns() - from;
	}
	qsort(taken, READS, sizeof(*taken), compare);
	*median_ns = taken[READS / 2];
	return 0;
}

static int control_ns(const char *name, const char *word, uint64_t ns, struct err *e)
{
	char line[48];

	snprintf(line, sizeof(line), "%s %llu", word, (unsigned long long)ns);
	return model_control(name, line, e);
}

int calibrate_lead(const char *name, const char *device, const struct model_parameters *p,
	struct err *e)
{
	uint64_t fixed_ns = typical_ns(p), median_ns = 0, lead_ns;
	int r = control_ns(name, MODEL_CONTROL_FIXED, fixed_ns, e);

	if (!r)
		r = median_read_ns(device, &median_ns, e);
	if (r)
		return r;
	lead_ns = median_ns > fixed_ns ? median_ns - fixed_ns : 0;
	r = control_ns(name, MODEL_CONTROL_LEAD, MIN(lead_ns, LEAD_NS_MAX), e);
	if (!r)
		r = model_control(name, MODEL_CONTROL_CHARGE, e);
	if (!r)
		r = model_control(name, MODEL_CONTROL_RESET, e);
	return r;
}
