/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Moving the journal of a volume.  The volume must not be mounted.  Both devices are held
 * from the first check to the last write.  After an error the volume is as it was, or the
 * error's kind is ERR_NEEDS_RECOVER.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "core/log.h"
#include "placement/placement.h"

enum move_verify { VERIFY_NONE, VERIFY_FSCK, VERIFY_MOUNT };

#define MOVE_STATE_DIR "/var/lib/jbdlab"

struct move_options {
	const char *device; /* the volume: path, UUID=, LABEL=, ... */
	const struct placement *to;
	enum move_verify verify;
	const char *state_dir; /* for the intent log; NULL: MOVE_STATE_DIR */
	const char *overwrite; /* types of signatures on the target that may go, "xfs,gpt" */
	const char *fstab; /* the file to change; NULL: only say what to change */
	bool replay;	       /* first let e2fsck -p replay a log that is not empty */
	bool lost_journal;     /* the journal device is gone for good: go on without it */
	bool dry_run;	       /* all checks, all computing, no write */
	bool mounted; /* with dry_run: the volume would be unmounted first, so that it is
		       * mounted now is no obstacle; what is written cannot be computed */
	bool undo; /* it goes to where the journal was before an interrupted move */
	bool takes_log; /* a log that recover_settle() has kept gives way to that of this move */
	const struct log *log;
};

struct move_outcome {
	bool nothing_to_do; /* the journal was already there */
	char *device;	    /* canonical path of the volume */
	char *journal_device; /* canonical path; NULL unless external */
	uint64_t journal_bytes;
	uint64_t duration_ns; /* first to last write */
	unsigned writes, flushes;
	char *mount_option; /* "journal_path=/dev/disk/by-..."; NULL unless external */
	char *fstab;	    /* what to change in fstab, or what was changed; NULL: nothing */
	char *steps;	    /* what is written and why, one step a line */
	char *kept;	    /* file with the bytes that --overwrite destroyed; NULL: none */
	char *warnings;	    /* one sentence a line; NULL: none */
};

/* Refused: ERR_REFUSED with every reason, one sentence a line. */
int move_run(const struct move_options *o, struct move_outcome *out, struct err *e);
void move_outcome_deinit(struct move_outcome *out);
