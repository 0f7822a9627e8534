/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Everything that takes part in a move: the volume, the journal device of today, and the
 * one of tomorrow; each held and read.  What cannot be held or read becomes a reason to
 * refuse, and the rest is looked at all the same, so that a user learns of all obstacles
 * at once.
 */

#include "core/err.h"
#include "core/strbuf.h"
#include "device/claim.h"
#include "device/signature.h"
#include "placement/placement.h"
#include "volume/volume.h"

struct member {
	char *path;	     /* canonical; NULL: not found */
	struct claim *claim; /* NULL: could not be held */
	struct volume_info info;
	bool readable; /* info means something */
};

struct subject {
	const struct placement *to;
	struct member volume;
	struct member old_journal; /* when the journal is external today */
	struct member target;	   /* when it shall be external; empty if it is old_journal */
	bool same_device;	   /* the target is the journal device of today */
	bool journal_missing; /* no device has the UUID of the old journal */
	struct signature_list signatures; /* on the target */
	const char *overwrite; /* signatures that the user named, "xfs,gpt"; NULL: none */
	bool mounted; /* the volume will be unmounted before the move */
	struct strbuf reasons;	/* against the move, one sentence a line */
	struct strbuf warnings; /* one sentence a line */
};

struct subject_options {
	const char *device;
	const struct placement *to;
	const char *overwrite;
	bool mounted;
};

/* Finds, holds and reads.  A device that is in the way of the move goes to s->reasons;
 * what has no answer at all (no such volume) is an error. */
int subject_open(struct subject *s, const struct subject_options *o, struct err *e);

/* Did the user name this signature to be overwritten? */
bool subject_may_overwrite(const struct subject *s, const char *type);

/* Lets go of the devices, so that somebody may mount the volume. */
void subject_release(struct subject *s);
void subject_deinit(struct subject *s);

/* Adds a sentence to the reasons. */
void subject_refuse(struct subject *s, const char *fmt, ...) _printf_(2, 3);
void subject_warn(struct subject *s, const char *fmt, ...) _printf_(2, 3);

/* Claim that a compiled move writes the new journal through; NULL unless external. */
const struct claim *subject_new_journal(const struct subject *s);
