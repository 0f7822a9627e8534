/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What jbdlab may do with a disk, and why: for "check-disks".  Nothing is written. */

#include <stdbool.h>

#include "core/err.h"
#include "device/identity.h"

enum disk_verdict {
	DISK_SYSTEM,	   /* this system runs from it */
	DISK_IN_USE,	   /* somebody has it, or needs it */
	DISK_READ_ONLY,
	DISK_SCRATCH,	   /* a scratch disk of jbdlab */
	DISK_LEASED,	   /* experiments may overwrite it */
	DISK_DATA,	   /* something is on it that no lease speaks of */
	DISK_FREE,	   /* nothing known is on it, and it is not leased */
	DISK_UNIDENTIFIED, /* nothing by which it could be known again */
	DISK_UNKNOWN,	   /* it cannot be looked at */
};

struct disk_judgement {
	struct device_identity identity; /* path NULL: it could not be read */
	enum disk_verdict verdict;
	char *reason;  /* a sentence without its subject, the disk */
	char *content; /* what is on it; NULL: not known */
};

/*
 * path: of a block device.  hold: it is held exclusively meanwhile, so that nobody who has
 * it goes unseen; without, nobody is turned away (see claim_look()).  The only error is
 * that there is no memory.
 */
int disk_judge(struct disk_judgement *j, const char *path, bool hold, struct err *e);
void disk_judgement_deinit(struct disk_judgement *j);

const char *disk_verdict_word(enum disk_verdict verdict);
bool disk_may_be_overwritten(const struct disk_judgement *j);
