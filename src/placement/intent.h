/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The intent log: what a move is about to write, on stable storage before its first
 * write.  STATE_DIR/moves/UUID.json holds the identities of the devices, the target and
 * all steps with the bytes before and after.  It is removed when the move is complete, so
 * its presence means that a move was interrupted.
 *
 * It is a help, not a need: the disks alone tell enough to finish or roll back, through
 * e2fsck.  With the log this takes milliseconds, and the superblock can be restored even
 * if a disk tore it.
 */

#include <stdbool.h>

#include "core/err.h"
#include "device/claim.h"
#include "placement/steps.h"

struct intent {
	char *uuid;   /* of the volume */
	char *target; /* placement, as text */
	char *origin; /* placement it had, as text */
	bool undo;    /* target is where the journal was before an interrupted move */
	char *path[STEP_DEVICES];     /* NULL where there is none */
	char *identity[STEP_DEVICES]; /* intent_identity() of the device */
	struct step_list steps;
};

/* One line that identifies a device without its name: wwn, serial, partition UUID, size,
 * backing file; of an image file its path.  Caller frees; NULL: no memory. */
char *intent_identity(const struct device_identity *id);

/* JSON takes no text (the path of a device) that is not valid UTF-8. */
bool intent_can_hold(const char *text);

/* Makes STATE_DIR/moves and writes the log durably. */
int intent_write(const struct intent *i, const char *state_dir, struct err *e);

/* No log for that volume: -ENOENT without message.  A log that cannot be understood:
 * -EBADMSG. */
int intent_read(struct intent *i, const char *state_dir, const char *uuid,
	struct err *e);

/* Removes the log durably; none is no error. */
int intent_remove(const char *state_dir, const char *uuid, struct err *e);

/* Instead of removing it: STATE_DIR/overwritten/UUID-N.json, with the bytes of the
 * signatures that the move has overwritten.  *kept is the path; caller frees. */
int intent_keep(const char *state_dir, const char *uuid, char **kept, struct err *e);

void intent_deinit(struct intent *i);
