/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Lines of a trace as the kernel prints them, for the events of jbd2, ext4 and the block
 * layer that tell how a sync came to a disk:
 *
 *	  jbd2/sdb1-8-594   [000] .....   639.210641: jbd2_start_commit: dev 8,17 ...
 *
 * The texts behind the name of an event are those of include/trace/events/{jbd2,ext4,
 * block}.h in the kernel.  Times have the resolution of the text, 1 us.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum trace_kind {
	TRACE_SYNC_ENTER,     /* ext4_sync_file_enter: inode, data_only */
	TRACE_SYNC_EXIT,      /* ext4_sync_file_exit: inode */
	TRACE_COMMIT_LOCKING, /* jbd2_commit_locking: tid */
	TRACE_COMMIT_FLUSHING,
	TRACE_COMMIT_LOGGING,
	TRACE_RUN_STATS,    /* jbd2_run_stats: tid and all the rest */
	TRACE_CHECKPOINT,   /* jbd2_checkpoint: the log was full, somebody had to empty it */
	TRACE_QUEUE,	    /* block_bio_queue: rwbs, sector, sectors */
	TRACE_ISSUE,	    /* block_rq_issue */
	TRACE_COMPLETE,	    /* block_rq_complete */
	TRACE_BIO_COMPLETE, /* block_bio_complete */
};

struct trace_event {
	enum trace_kind kind;
	uint64_t ns; /* of the tracer's clock */
	int thread;
	char command[16];
	dev_t devno; /* of the volume (jbd2, ext4) or of the whole disk (block) */
	char rwbs[12];
	uint64_t sector;
	uint32_t sectors;
	uint64_t inode;
	bool data_only;
	uint32_t tid; /* of a transaction */
	uint32_t wait_ms, running_ms, locked_ms, flushing_ms, logging_ms;
	uint32_t handles, blocks, logged_blocks;
};

/* 0; -EBADMSG when it is no line of such an event. */
int trace_parse(struct trace_event *v, const char *line);

/*
 * The letters that the block layer has for a request: "FWFSM" is a flush first, a write
 * that must be on the medium when it ends (FUA), synchronous, of metadata.
 */
bool trace_flush_first(const struct trace_event *v);
bool trace_fua(const struct trace_event *v);
bool trace_write(const struct trace_event *v);
bool trace_metadata(const struct trace_event *v);

/* The request of a queue that flushes the cache of the disk and does nothing else. */
bool trace_flush_only(const struct trace_event *v);
