/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Was somebody else at work on the same disks?  Over a stretch in which all that we begin
 * also ends (it begins and ends with a sync), everything that a device has read or written
 * must be accounted for: by what our process fetched and dirtied, and by what jbd2 logged.
 * What is beyond that was done by others.
 *
 * It is a bound, not a count: a foreign write that is smaller than the slack is not seen,
 * and what is seen is "at least so much".
 */

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/err.h"
#include "evidence/ledger.h"

struct balance; /* opaque */

struct balance_setup {
	const struct ledger_disk *disks; /* as for a ledger */
	size_t disk_count;
	char *const *journals; /* names below /proc/fs/jbd2, of all volumes; may be NULL */
	size_t journal_count;
	uint32_t block_bytes; /* of the volumes, the largest */
	bool external;	      /* the journals are on devices of their own */
};

/* Copies the setup and reads the counters: the start. */
int balance_new(struct balance **out, const struct balance_setup *setup, struct err *e);
struct balance *balance_free(struct balance *b);
DEFINE_CLEANUP(struct balance *, balance_free)

/*
 * Reads them again: [{"name", "role", "rough", "read_bytes", "write_bytes",
 * "ours_read_bytes_max", "ours_write_bytes_max", "foreign_read_bytes",
 * "foreign_write_bytes"}], role being "data", "journal" or "below", and rough a disk below
 * loop, dm or md.  Foreign bytes are 0 when everything is accounted for and null when that
 * cannot be known.  A new reference; NULL: no memory.
 */
json_t *balance_end(struct balance *b);

/* The arithmetic: at least so many of a device's bytes are foreign, given that ours are at
 * most so many. */
uint64_t balance_foreign(uint64_t device_bytes, uint64_t ours_bytes);
