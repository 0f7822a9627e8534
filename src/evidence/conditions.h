/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Under which conditions something is measured, and the rules, fixed beforehand, by which
 * a measurement is invalid: conditions that changed under it, I/O of others, errors of the
 * disks.  Never "it looks like an outlier".
 */

#include <jansson.h>
#include <stdint.h>

#include "core/err.h"
#include "result/evidence.h"

enum validity_rule {
	RULE_IO_ERROR = 1 << 0,	 /* the kernel logged an error or reset of a disk */
	RULE_AUDIT = 1 << 1,	 /* syncs did not reach their device */
	RULE_FOREIGN_IO = 1 << 2, /* others moved more than 2 % of what we moved */
	RULE_THROTTLED = 1 << 3, /* a processor or disk was too hot */
	RULE_CLOCK = 1 << 4,	 /* the clock was set, or the machine slept */
	RULE_SETTINGS = 1 << 5,	 /* of a disk's queue, or of the processors */
	RULE_SWAP = 1 << 6,	 /* memory was read back from swap */
};

struct conditions {
	int64_t wall_offset_ns; /* of the wall clock against time since boot */
	int64_t asleep_ns;	/* since boot */
	uint64_t throttles;	/* events of all processors since boot; 0: not counted */
	uint64_t swap_ins;	/* pages since boot */
	uint64_t alarms;	/* temperature alarms of the disks, just now */
	uint64_t at_ns;		/* when, since boot */
	char *settings;		/* "sdb {scheduler...} governor=..." */
};

/* Of the machine and of these disks, by their kernel names.  What cannot be had counts as
 * unchanged.  -ENOMEM. */
int conditions_read(
	struct conditions *c, const char *const *disks, size_t count, struct err *e);
void conditions_deinit(struct conditions *c);

/* Appends an object with "rule" and "detail" to an array; returns the rule.  -ENOMEM is
 * seen at the array: it misses the element. */
unsigned validity_add(json_t *reasons, enum validity_rule rule, const char *fmt, ...)
	_printf_(3, 4);

/* What changed between the two; returns the rules that were broken, or-ed. */
unsigned validity_of_conditions(json_t *reasons, const struct conditions *before,
	const struct conditions *after);

/*
 * I/O that was not ours in a phase: writes and reads of a disk beyond those of our
 * partitions on it; and, with own_reads, what was read from our devices and not for this
 * process.  More than 2 % of all that was moved, and more than 4 MiB.
 */
unsigned validity_of_evidence(json_t *reasons, const struct result_evidence *v,
	const char *phase, bool own_reads);

/* "foreign_io"; a mask of one rule. */
const char *validity_word(enum validity_rule rule);
/* Several, "foreign_io, throttled"; valid until the next call. */
const char *validity_text(unsigned rules);
/* The mask of a word; 0: unknown. */
unsigned validity_rule_of(const char *word);
