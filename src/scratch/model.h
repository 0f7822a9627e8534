/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The arithmetic of a disk: when is a request done that arrives now?  No I/O, no clock
 * and no threads in here; the caller passes the time and waits until the answer.
 */

#include <stdint.h>

#include "core/macros.h"
#include "scratch/model_parameters.h"

enum model_kind { MODEL_READ, MODEL_WRITE, MODEL_FLUSH, MODEL_DISCARD, MODEL_KINDS };

extern const char *const model_kind_names[MODEL_KINDS];

struct model_kind_stats {
	uint64_t requests;
	uint64_t bytes;
	uint64_t latency_ns; /* sum of arrival to completion */
	uint64_t charged_ns; /* its share of the time in which the disk was busy */
};

struct model_stats {
	struct model_kind_stats kinds[MODEL_KINDS];
	uint64_t cache_hits; /* reads that the medium did not see */
	uint64_t seeks, seek_ns;
	uint64_t rotations, rotation_ns; /* waits for the platter */
	uint64_t transfer_ns;		 /* of the medium */
	uint64_t destaged_extents, destaged_bytes; /* written from cache to medium */
	uint64_t dirty_bytes, dirty_bytes_max;	   /* in the cache */
	uint64_t busy_ns; /* some request was in the disk: sum of all charged_ns */
};

struct model;

/* size_bytes: of the disk.  NULL when memory is out. */
struct model *model_new(const struct model_parameters *p, uint64_t size_bytes);
struct model *model_free(struct model *m); /* NULL allowed; returns NULL */
DEFINE_CLEANUP(struct model *, model_free)

struct model_request {
	enum model_kind kind;
	uint64_t offset, bytes; /* not for a flush */
	uint64_t arrival_ns;	/* charged from here; monotonic clock */
	uint64_t seen_ns;	/* when it is known; from then on it waits in the queue */
};

/* Takes one request, in the order in which they are seen; returns when it is done, not
 * before its arrival. */
uint64_t model_serve(struct model *m, const struct model_request *r);

const struct model_stats *model_stats(const struct model *m);
void model_stats_reset(struct model *m); /* counters only; cache and head stay */
uint64_t model_busy_ns(const struct model *m); /* as in the stats, but never set to zero */
const struct model_parameters *model_parameters(const struct model *m);
