/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The writers of a witness and the kinds that they can be; see kinds.c. */

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

enum { RECORD_MAX = 65536, WITNESS_KINDS = 4 };

struct writer;

struct kind {
	const char *name;
	int (*sync)(int fd);
	/* Finds w->last, the number of the last whole record, and calls record_lost() for what
	 * should be there and is not; 0 or -errno. */
	int (*scan)(struct writer *w, struct err *e);
	/* Makes w->fd ready for the record after w->last. */
	int (*open)(struct writer *w, struct err *e);
	/* Writes w->record (record n) and makes it durable. */
	int (*put)(struct writer *w, uint64_t n, size_t bytes, struct err *e);
};

struct writer {
	const struct kind *kind;
	unsigned number;
	char path[4096];
	int fd;
	uint64_t last;	    /* last whole record that scan() found, 0 = none */
	uint64_t end_bytes; /* append: where the record after last begins */
	unsigned lost;	    /* how often record_lost() was called */
	void (*on_lost)(void *data, const struct writer *w, uint64_t n, const char *reason);
	void *data;
	unsigned char record[RECORD_MAX];
	unsigned char other[RECORD_MAX];
};

/* The kind of writer number n is witness_kinds[n % WITNESS_KINDS]. */
extern const struct kind witness_kinds[WITNESS_KINDS];

/* Makes record n of a writer in buf (RECORD_MAX bytes) and returns its size. */
size_t record_make(const struct writer *w, uint64_t n, unsigned char *buf);

/* Counts a loss and tells w->on_lost, if there is one. */
void record_lost(struct writer *w, uint64_t n, const char *reason);
