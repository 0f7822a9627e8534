/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The block layer's counters of one device: /sys/dev/block/MAJOR:MINOR/stat, described in
 * the kernel's Documentation/block/stat.rst.  Sectors there are always 512 bytes.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct diskstats {
	uint64_t reads, read_bytes;
	uint64_t writes, write_bytes;
	uint64_t discards;
	uint64_t busy_ns; /* with at least one request at work; coarse: whole ticks */
	uint64_t in_flight; /* requests that the device has not answered yet */
	uint64_t flushes, flush_ns;
	bool has_flushes; /* the kernel has these fields: since 5.5 */
};

/* 0, or -ENOENT when there is no such device, -EBADMSG when its line has another form. */
int diskstats_read(struct diskstats *s, dev_t devno);

/* The same from the text of a stat file, for tests. */
int diskstats_parse(struct diskstats *s, const char *line);

/* after - before, field by field; a counter that went backwards counts as 0. */
struct diskstats diskstats_difference(const struct diskstats *before,
	const struct diskstats *after);

/* What the queue of a device says of itself; of a partition, that of its disk. */
struct disk_facts {
	bool partition; /* the kernel counts its flushes on the whole disk only */
	bool requests;	/* it has a queue of requests; dm and md have none, and no count */
	bool accounts;	/* its counters are not switched off (queue/iostats) */
	bool write_back, fua, rotational;
};

void disk_facts_read(struct disk_facts *f, dev_t devno);
