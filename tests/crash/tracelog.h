/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recorded run in memory.
 */
#pragma once

#include "common.h"
#include "trace.h"

struct traced_op {
	enum trace_op kind; /* TRACE_WRITE, TRACE_ZERO or TRACE_SYNC */
	uint32_t device;
	uint32_t number; /* in program order, from 1 */
	uint64_t offset; /* bytes */
	uint64_t bytes;
	const uint8_t *data; /* NULL for TRACE_ZERO */
};

struct trace {
	const struct trace_header *header;
	struct traced_op *op;
	uint32_t n;
};

/* trace_load() - reads a log; injected faults, which changed nothing, are left out. */
void trace_load(struct trace *t, const char *path);
