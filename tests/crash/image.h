/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The content of a disk in memory: the start of a case, and one state built from it.
 */
#pragma once

#include "common.h"

struct image {
	uint64_t bytes;
	uint8_t *base;	   /* as at the start; never changed, shared between workers */
	uint8_t *now;	   /* the state being built */
	uint8_t *used;	   /* a byte per page: 1 base is not zero, 2 now was written */
	uint32_t *written; /* the pages with 2 */
	uint32_t n_written;
};

/* image_load() - reads a (sparse) file of whole pages; @img is initialised by this. */
void image_load(struct image *img, const char *path);
void image_free(struct image *img);

/* image_write(), image_zero() - change the state. A range beyond the end is cut off. */
void image_write(struct image *img, uint64_t offset, const void *data, uint64_t bytes);
void image_zero(struct image *img, uint64_t offset, uint64_t bytes);

/* image_reset() - the state is the start again. */
void image_reset(struct image *img);

/* image_store() - makes the content of @fd equal to the state, writing what differs. */
void image_store(struct image *img, int fd);

/* image_capture() - makes the state equal to the content of @fd. */
void image_capture(struct image *img, int fd);

/* image_save() - writes the state to a new sparse file. */
void image_save(const struct image *img, const char *path);

/* image_differs() - Return: the offset of the first byte where the state is not as in the
 * file, or -1 if they are equal. */
int64_t image_differs(struct image *img, const char *path);
