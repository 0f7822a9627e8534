/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * After a move was interrupted.  recover_settle() brings the volume to one of the two
 * placements, whole and clean, and releases whatever journal device is then not in use.
 * With an intent log whose steps still fit the disks this takes a few writes; otherwise
 * e2fsck -p does it, from what is on the disks alone.
 */

#include <stdbool.h>

#include "core/err.h"
#include "core/log.h"

struct recover_options {
	const char *device;    /* the volume */
	bool keep_log; /* the caller goes on with a move that takes_log */
	const char *state_dir; /* NULL: MOVE_STATE_DIR */
	const struct log *log;
};

struct recover_outcome {
	bool found;	/* there was something to settle */
	char *origin;	/* placement before the interrupted move; NULL: no log */
	char *target;	/* the one it was going to; NULL: no log */
	bool undo;	/* the interrupted move itself was to undo another one */
	char *placement; /* what it has now, as text */
};

/* ERR_NEEDS_RECOVER when it is not possible now; the text says what to do. */
int recover_settle(const struct recover_options *o, struct recover_outcome *out,
	struct err *e);
void recover_outcome_deinit(struct recover_outcome *out);

/* Is a move of this volume (UUID as text) pending?  state_dir NULL: MOVE_STATE_DIR. */
bool recover_is_pending(const char *state_dir, const char *uuid);
