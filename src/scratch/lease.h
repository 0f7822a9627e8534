/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A lease is the owner's word that a real disk may be overwritten.  It is bound to the
 * identity of the disk, this machine and what is on the disk, kept with a checksum in
 * /var/lib/jbdlab/leases, and asked for before an experiment makes a file system.  Scratch
 * disks of ours need none.  Nothing is written on the disk itself: a mark there would not
 * outlive the first file system, and would change a disk that was only promised.
 */

#include <stdbool.h>

#include "core/err.h"
#include "device/claim.h"

#define LEASE_DIR "/var/lib/jbdlab/leases"
#define LEASE_WORD_LENGTH 8 /* so much of the end of the identity may be typed */

/*
 * What a device is known by, in one line: "serial=Z1D5 partuuid=...", "file=/srv/disk".
 * Caller frees.  A device that has nothing by which it could be recognised after a reboot:
 * ERR_REFUSED.  File system UUIDs do not count, because overwriting changes them.
 */
int lease_identity(const struct claim *device, char **text, struct err *e);

/* word must be the disk's serial number or WWN, or the last LEASE_WORD_LENGTH characters
 * of its identity.  A disk of this system: ERR_REFUSED. */
int lease_take(const struct claim *device, const char *word, struct err *e);

/* No lease: -ENOENT. */
int lease_drop(const struct claim *device, struct err *e);

/* Removes a lease by its file, as lease_list() has it: its disk may be gone. */
int lease_remove(const char *file, struct err *e);

/*
 * As lease_require(), for what destroys everything on the device: what is on it must have
 * been there when it was leased, or be the journal or the volume that jbdlab has made since
 * then.  A lease that was forgotten does not stand for a disk that has got another use.
 */
int lease_require_overwrite(const struct claim *device, struct err *e);

/* To be called before (begun) and after such a step: the lease then also stands for what
 * the step leaves, or, if it is killed, may leave.  Nothing to do for a scratch disk. */
int lease_note_overwrite(const struct claim *device, bool begun, struct err *e);

/* 0 when the device is leased or a scratch disk of ours; else ERR_REFUSED, with the
 * command that would lease it. */
int lease_require(const struct claim *device, struct err *e);
