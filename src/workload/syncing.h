/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The keys about syncs that workloads have in common: which one, and how often. */

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"

enum syncing_kind {
	SYNCING_NONE,
	SYNCING_FSYNC,
	SYNCING_FDATASYNC,
	SYNCING_DSYNC, /* O_DSYNC: each write */
	SYNCING_SYNC,  /* O_SYNC */
};

struct syncing {
	unsigned kind;
	uint64_t every; /* fsync, fdatasync: after each n-th write; 0: only at the end */
};

#define SYNCING_WORDS "none|fsync|fdatasync|dsync|sync"

/* For the table of keys, behind the workload's own "sync". */
#define SYNCING_EVERY_KEY                                                                \
	{                                                                                \
		"sync_every", "COUNT", "0",                                              \
			"fsync or fdatasync also after each n-th write of a thread; 0: " \
			"only at the end"                                                \
	}

/* Sets "sync" or "sync_every".  Returns 1 when the key is none of these, else as
 * workload_type.set().  "osync" is taken for "sync". */
int syncing_set(struct syncing *s, const char *key, const char *value, struct err *e);

/* sync_every goes with the two calls only. */
int syncing_check(const struct syncing *s, struct err *e);

/* O_DSYNC, O_SYNC or 0. */
int syncing_open_flags(const struct syncing *s);

/* Its name as a value of "sync". */
const char *syncing_word(const struct syncing *s);

/* Is it a call, fsync(2) or fdatasync(2)? */
static inline bool syncing_calls(const struct syncing *s)
{
	return s->kind == SYNCING_FSYNC || s->kind == SYNCING_FDATASYNC;
}

/* Is it to come after the n-th write (n from 1)? */
static inline bool syncing_is_due(const struct syncing *s, uint64_t n)
{
	return s->every && n % s->every == 0 && syncing_calls(s);
}
