/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What a modelled disk loses with its power: whatever was written since the last flush.
 * The data file has the new content at once; here is the old one, page by page.
 */

#include <stdint.h>

#include "core/err.h"

struct model_volatile;

/* data_fd: the data file of size_bytes; not owned. */
int model_volatile_new(struct model_volatile **out, int data_fd, uint64_t size_bytes,
	struct err *e);
struct model_volatile *model_volatile_free(struct model_volatile *v); /* NULL allowed */
DEFINE_CLEANUP(struct model_volatile *, model_volatile_free)

/* Keeps what is there now, before it is overwritten; may be called by several threads.
 * 0 or a positive errno. */
int model_volatile_keep(struct model_volatile *v, uint64_t offset, uint64_t bytes);

/* What was written so far is durable. */
void model_volatile_flush(struct model_volatile *v);

/* The power is gone: puts the old content back.  Returns how many bytes that were. */
uint64_t model_volatile_lose(struct model_volatile *v);
