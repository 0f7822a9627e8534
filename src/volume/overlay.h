/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A volume of which every change stays in memory.  libext2fs is opened on an overlay, the
 * change is computed with its ordinary calls, and what differs from the disk afterwards
 * is the write set of the move.  When a computation fails, nothing has been written,
 * because nothing here can write.
 */

#include <ext2fs/ext2fs.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"

#define OVERLAY_PAGE_BYTES 4096

struct overlay;

/* fd stays the caller's and must outlive the overlay. */
int overlay_new(struct overlay **out, int fd, const char *name, struct err *e);
struct overlay *overlay_free(struct overlay *o);
DEFINE_CLEANUP(struct overlay *, overlay_free)

/* What to give to ext2fs_open2() or ext2fs_initialize() as manager and as name. */
io_manager overlay_manager(void);
const char *overlay_io_name(const struct overlay *o);

/* Bytes as they would be after the change. */
int overlay_read(struct overlay *o, uint64_t offset, void *buffer, size_t n,
	struct err *e);

/* Numbers of all pages (OVERLAY_PAGE_BYTES each) that were written, ascending; caller
 * frees. */
int overlay_pages(const struct overlay *o, uint64_t **pages, size_t *count,
	struct err *e);

/* Was the page written with nothing but zeros?  fallocate does so to all blocks of a
 * journal without extents; their content is looked at only when it matters. */
bool overlay_page_is_zero(const struct overlay *o, uint64_t page);
