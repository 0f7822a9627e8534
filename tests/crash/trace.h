/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log that recorder.c writes and replay.c reads.
 *
 * One file: a header page, then records in program order, each followed by its data.
 * The header page is mapped by every process of the recorded program, so that operation
 * numbers go on counting across fork, exec and a second command; records are appended
 * with one write each (O_APPEND), so those of several processes do not mix.
 */
#pragma once

#include <stdint.h>

#define TRACE_MAGIC 0x6a6c7472u
#define TRACE_HEADER_BYTES 4096
#define TRACE_DEVICES_MAX 4

enum trace_op {
	TRACE_WRITE = 1, /* data follows */
	TRACE_ZERO,	 /* a range became zero: BLKZEROOUT, discard, fallocate */
	TRACE_SYNC,	 /* everything written to this device before is durable */
	TRACE_FAULT,	 /* an injected error; offset and bytes say what was asked for */
	TRACE_OTHER,	 /* a change that cannot be replayed: the recording is useless */
};

struct trace_header {
	uint32_t ops;	       /* operations of any kind so far */
	uint32_t writes;       /* of kind write (TRACE_WRITE, TRACE_ZERO) */
	uint32_t syncs;	       /* of kind sync */
	uint32_t fired;	       /* faults injected */
	uint32_t fault_device; /* 1 + device of the first fault */
};

struct trace_record {
	uint32_t magic;
	uint32_t op;	 /* enum trace_op */
	uint32_t device; /* index in JBDLAB_TRACE_DEVICES */
	uint32_t pid;
	uint32_t number; /* of the operation, from 1; header.ops at that time */
	uint32_t reserved;
	uint64_t offset; /* bytes */
	uint64_t bytes;
	uint64_t data_bytes; /* that follow this record */
};
