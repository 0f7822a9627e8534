/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A witness of durability: writes numbered records, makes each durable, tells somebody who
 * survives a power cut, and can tell afterwards whether every record that it vouched for is
 * still there.
 */

#include <signal.h>
#include <stdint.h>

#include "core/err.h"

enum { WITNESS_WRITERS_MAX = 16 };

struct witness_options {
	const char *directory;
	unsigned writers; /* 1..WITNESS_WRITERS_MAX */
	uint64_t time_ns; /* writing ends after it; 0: with *stop only */
	int acknowledge;  /* descriptor that gets "ACK WRITER NUMBER\n" for each record */
	volatile sig_atomic_t *stop;
};

/*
 * Finds the end of each writer's records and goes on from there.  Records that are missing
 * already: -EUCLEAN.  An acknowledgement that cannot be sent ends it with an error.
 */
int witness_write(const struct witness_options *o, struct err *e);

/* What verifying has found. */
struct witness_findings {
	/* Each lost or damaged record, as it is found. */
	void (*lost)(void *data, unsigned writer, const char *kind, uint64_t number,
		const char *path, const char *reason);
	void *data;
	uint64_t last[WITNESS_WRITERS_MAX]; /* whole records of each writer; 0: none */
	unsigned lost_count;
};

/* acknowledged: numbers by writer. */
int witness_verify(const struct witness_options *o,
	const uint64_t acknowledged[static WITNESS_WRITERS_MAX],
	struct witness_findings *found, struct err *e);

const char *witness_kind(unsigned writer); /* "append", "spool", "slots", "database" */

/*
 * Reads lines of acknowledgements, the last of which may be cut off, into acknowledged[];
 * other lines are passed over, for they may be of a console.  A number that goes back, as
 * after a restart with a new directory, replaces the one before.  A writer beyond the
 * number of writers: -EINVAL (ERR_USAGE).
 */
int witness_read_log(const char *text, unsigned writers,
	uint64_t acknowledged[static WITNESS_WRITERS_MAX], struct err *e);
