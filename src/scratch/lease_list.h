/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* All leases of this machine, for people who want to know what may be overwritten. */

#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

struct lease_entry {
	char *file;	/* of the lease */
	char *identity; /* "serial=... model=..."; NULL: the file is damaged */
	char *device;	/* where it is now; NULL: not connected */
	uint64_t size_bytes;
	char *user, *time; /* who took it, and when; NULL: damaged */
};

/* Sorted by file; caller frees with lease_list_free().  No directory of leases is no
 * error. */
int lease_list(struct lease_entry **out, size_t *count, struct err *e);
void lease_list_free(struct lease_entry *list, size_t count);
