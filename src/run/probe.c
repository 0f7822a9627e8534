/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The sentinel; see probe.h.  The places are the same in every block.  A file in a volume
 * mounted with data=journal would be written through the journal, which is what the arms
 * differ in; there only reads are made.
 *
 * Every cell is probed, so that all begin alike: the file that was written over leaves its
 * mark on where the kernel puts the next ones.  Kept is what the first of a block says.
 */

#include "run/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "plan/order.h"
#include "run/session.h"
#include "stats/order.h"

enum { READS = 16, READ_BYTES = 4096, STREAM_BYTES = 2 << 20, CHUNK_BYTES = 256 << 10 };

/* Purposes of seeds that no workload has. */
enum { PLACES = 1 << 20 };

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static double rate(uint64_t bytes, uint64_t ns)
{
	return ns ? (double)bytes * NS_PER_S / (double)ns : NAN;
}

/* Median time of a small read at random places; NAN: it cannot be done. */
static double read_places(int fd, void *buffer, uint64_t size, uint64_t seed)
{
	double times[READS];
	uint64_t blocks = size / READ_BYTES;

	for (size_t i = 0; blocks && i < READS; i++) {
		uint64_t at = order_workload_seed(seed, 0, PLACES + i) % blocks;
		uint64_t begun = clock_now_ns();

		if (pread(fd, buffer, READ_BYTES, (off_t)(at * READ_BYTES)) != READ_BYTES)
			return NAN;
		times[i] = (double)(clock_now_ns() - begun);
	}
	return blocks ? order_median(times, READS) : NAN;
}

/* Bytes per second of a stream of reads from the start. */
static double read_stream(int fd, void *buffer, uint64_t size)
{
	uint64_t bytes = MIN(size, (uint64_t)STREAM_BYTES), begun = clock_now_ns();

	bytes -= bytes % CHUNK_BYTES;
	for (uint64_t at = 0; at < bytes; at += CHUNK_BYTES)
		if (pread(fd, buffer, CHUNK_BYTES, (off_t)at) != CHUNK_BYTES)
			return NAN;
	return bytes ? rate(bytes, clock_now_ns() - begun) : NAN;
}

static bool write_file(int fd, const void *buffer)
{
	for (off_t at = 0; at < STREAM_BYTES; at += CHUNK_BYTES)
		if (pwrite(fd, buffer, CHUNK_BYTES, at) != CHUNK_BYTES)
			return false;
	return !fdatasync(fd);
}

/* Bytes per second of writing over a file whose blocks are there, with one flush. */
static double write_over(const char *directory, void *buffer)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	uint64_t begun = 0;
	bool done;

	if (asprintf(&path, "%s/probe", directory) < 0) {
		path = NULL;
		return NAN;
	}
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_DIRECT | O_CLOEXEC, 0600);
	if (fd < 0)
		return NAN;
	memset(buffer, 0x5a, CHUNK_BYTES);
	done = write_file(fd, buffer);
	if (done) {
		begun = clock_now_ns();
		done = write_file(fd, buffer);
	}
	begun = clock_now_ns() - begun;
	unlink(path);
	return done ? rate(STREAM_BYTES, begun) : NAN;
}

static json_t *probe(const struct session *s, const struct session_device *d,
	const char *role, const char *name, const char *directory, void *buffer)
{
	_cleanup_close_ int fd = open(d->path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	uint64_t size = d->identity.size_bytes;
	double place = NAN, stream = NAN, write = NAN;

	if (fd >= 0) {
		place = read_places(fd, buffer, size, s->x->seed);
		stream = read_stream(fd, buffer, size);
	}
	if (directory)
		write = write_over(directory, buffer);
	return json_pack("{so,so,so,so}", "device", json_sprintf("%s %s", role, name),
		"read_latency", number(place), "read_rate", number(stream), "write_rate",
		number(write));
}

int probe_devices(void *session, struct err *e)
{
	struct session *s = session;
	json_auto_t *list = json_array();
	_cleanup_free_ void *buffer = NULL;
	bool writes = s->evidence_arm.data != ARM_JOURNAL;

	if (!s->x->design.probe)
		return 0;
	if (!list || posix_memalign(&buffer, READ_BYTES, CHUNK_BYTES))
		return err_set(e, ENOMEM, "probe the devices");
	for (size_t i = 0; i < s->x->volume_count; i++)
		json_array_append_new(list,
			probe(s, &s->volumes[i].device, "volume", s->x->volumes[i].name,
				writes ? s->volumes[i].directory : NULL, buffer));
	for (size_t i = 0; i < s->x->arm_count; i++)
		if (s->journals[i].path)
			json_array_append_new(list,
				probe(s, &s->journals[i], "journal", s->x->arms[i].name,
					NULL, buffer));
	if (s->position)
		return 0;
	return json_object_set(s->cell, "probe", list)
		       ? err_set(e, ENOMEM, "probe the devices")
		       : 0;
}
