/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A whole file mapped into memory, of any size.  Reading or writing there what the device
 * cannot deliver or the file system cannot store raises SIGBUS; here it is a return value.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

struct mapping {
	char *bytes; /* NULL: not mapped */
	uint64_t length;
};

/* Maps the first length bytes of fd, which must be open for reading, and for writing too
 * when write is set.  The calling thread can take SIGBUS from now on.  -errno. */
int mapping_open(struct mapping *m, int fd, uint64_t length, bool write, const char *path,
	struct err *e);
void mapping_close(struct mapping *m);

/* Copies n bytes; false: a page could not be had. */
bool mapping_read(const struct mapping *m, uint64_t at, void *to, size_t n);
bool mapping_write(const struct mapping *m, uint64_t at, const void *from, size_t n);

/* msync(2) of the pages of n bytes; 0 or -1 with errno. */
int mapping_sync(const struct mapping *m, uint64_t at, size_t n);
