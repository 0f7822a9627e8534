/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Counters of a block device; see diskstats.h. */

#include "evidence/diskstats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/clock.h"
#include "core/fileio.h"

#define SECTOR_BYTES 512

int diskstats_parse(struct diskstats *s, const char *line)
{
	uint64_t f[17] = { 0 };
	int n, got = 0;

	for (size_t i = 0; i < ARRAY_SIZE(f); i++, got++) {
		if (sscanf(line, "%" SCNu64 "%n", &f[i], &n) != 1)
			break;
		line += n;
	}
	if (got < 11)
		return -EBADMSG;
	*s = (struct diskstats){
		.reads = f[0],
		.read_bytes = f[2] * SECTOR_BYTES,
		.writes = f[4],
		.write_bytes = f[6] * SECTOR_BYTES,
		.in_flight = f[8],
		.busy_ns = f[9] * NS_PER_MS,
		.discards = f[11],
		.flushes = f[15],
		.flush_ns = f[16] * NS_PER_MS,
		.has_flushes = got >= 17,
	};
	return 0;
}

int diskstats_read(struct diskstats *s, dev_t devno)
{
	_cleanup_free_ char *line = fileio_read_line("/sys/dev/block/%u:%u/stat",
		major(devno), minor(devno));

	return line ? diskstats_parse(s, line) : -ENOENT;
}

static uint64_t difference(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

struct diskstats diskstats_difference(const struct diskstats *before,
	const struct diskstats *after)
{
	return (struct diskstats){
		.reads = difference(before->reads, after->reads),
		.read_bytes = difference(before->read_bytes, after->read_bytes),
		.writes = difference(before->writes, after->writes),
		.write_bytes = difference(before->write_bytes, after->write_bytes),
		.busy_ns = difference(before->busy_ns, after->busy_ns),
		.discards = difference(before->discards, after->discards),
		.flushes = difference(before->flushes, after->flushes),
		.flush_ns = difference(before->flush_ns, after->flush_ns),
		.has_flushes = before->has_flushes && after->has_flushes,
	};
}

void disk_facts_read(struct disk_facts *f, dev_t devno)
{
	_cleanup_free_ char *partition = NULL, *cache = NULL, *loop = NULL;
	char queues[64];
	const char *up;
	uint64_t value;

	partition = fileio_read_line("/sys/dev/block/%u:%u/partition", major(devno),
		minor(devno));
	up = partition ? "/.." : "";
	snprintf(queues, sizeof(queues), "/sys/dev/block/%u:%u%s/mq", major(devno),
		minor(devno), up);
	*f = (struct disk_facts){ .partition = partition,
		.requests = !access(queues, F_OK) };
	f->accounts = fileio_read_u64(&value, "/sys/dev/block/%u:%u%s/queue/iostats",
			      major(devno), minor(devno), up) ||
		value;
	cache = fileio_read_line("/sys/dev/block/%u:%u%s/queue/write_cache", major(devno),
		minor(devno), up);
	f->write_back = cache && !strcmp(cache, "write back");
	f->fua = !fileio_read_u64(&value, "/sys/dev/block/%u:%u%s/queue/fua", major(devno),
			 minor(devno), up) &&
		value;
	/* A loop device repeats what the disk below says, whatever lies between. */
	loop = fileio_read_line("/sys/dev/block/%u:%u%s/loop/backing_file", major(devno),
		minor(devno), up);
	f->rotational = !loop &&
		!fileio_read_u64(&value, "/sys/dev/block/%u:%u%s/queue/rotational",
			major(devno), minor(devno), up) &&
		value;
}
