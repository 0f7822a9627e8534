/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* From the events of a trace to a timeline: which transactions there were, and what one
 * fsync waited for. */

#include "core/err.h"
#include "evidence/trace_text.h"
#include "result/timeline.h"

/* A disk whose requests are traced. */
struct trace_disk {
	dev_t devno;
	char name[EVIDENCE_NAME_BYTES];
	unsigned roles; /* enum evidence_role, or-ed */
	bool bio_based; /* it has no queue of requests: dm, md */
};

/* A piece of a disk and what lies there.  Of two that overlap the first counts. */
struct trace_range {
	dev_t devno; /* of the whole disk */
	uint64_t first_sector, sectors;
	bool journal; /* false: the rest of a volume */
	uint64_t superblock_sector; /* of the journal; only with journal */
};

struct trace_map {
	struct trace_disk disks[EVIDENCE_DISKS_MAX];
	size_t disk_count;
	struct trace_range *ranges;
	size_t range_count;
};

/* The events are in the order of time.  -ENOMEM. */
int timeline_make(struct timeline **out, const struct trace_map *map,
	const struct trace_event *events, size_t count, struct err *e);
