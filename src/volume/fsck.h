/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The judgement of e2fsck on a whole volume, without changing anything.
 *
 * Both devices may be held by the caller with O_EXCL meanwhile: with -n, e2fsck opens
 * neither of them exclusively and only warns that the volume is in use (seen with 1.47.0
 * on both kinds of claim).  It opens the journal device for writing even so, which a
 * read-only device refuses: then this fails with e2fsck's words.  e2fsck reads through
 * the same page cache as our descriptors, so that it sees what was written and not yet
 * synced.
 */

#include "core/err.h"

/*
 * Runs e2fsck -fn on device, with -j journal_device unless that is NULL (then e2fsck
 * looks for an external journal itself, through libblkid without its cache).  0: nothing
 * at all was found.  -EUCLEAN: anything else, with the last lines in the text; -EIO: it was
 * killed; -ENOENT: e2fsck is not installed.
 */
int fsck_check(const char *device, const char *journal_device, struct err *e);

/*
 * Runs e2fsck -p: replays the log, mends what can be mended without questions.  Neither
 * device may be held by the caller.  0: the volume is clean now; -EUCLEAN: it needs
 * somebody's attention, with the last lines and the command in the text.
 */
int fsck_repair(const char *device, const char *journal_device, struct err *e);

/* Runs e2fsck -fy: a full check that answers every question with yes. */
int fsck_repair_all(const char *device, struct err *e);
