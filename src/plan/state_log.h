/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The log that survives: what a run has begun and what it has finished.  A line is on
 * stable storage before each step that cannot be taken back, and another one after it, so
 * that whatever ends the run, what is left can be told from the log.
 *
 * A line is a checksum, a blank, a JSON object and a newline.  The checksum is the SHA-256
 * of the checksum of the line before (none for the first) and of the object's text: a line
 * that was changed, left out or moved does not pass.  Only the end may be incomplete: a
 * last line that does not pass was being written when the power went, and counts as never
 * written.  It announced a step that had then not been begun, or ended one whose doing
 * again does no harm.
 *
 * Every record has a key "what"; see run/history.h for the words.
 */

#include <jansson.h>
#include <stdbool.h>

#include "core/err.h"

struct state_log; /* opaque */

/* Makes the log, which must not exist, with its first record, and locks it. */
int state_log_create(struct state_log **out, const char *path, json_t *first,
	struct err *e);

/*
 * Reads the log and goes on with it.  *records is an array of what was read; the caller
 * drops it.  An incomplete end is cut off.  No log: -ENOENT.  Damaged: -EBADMSG with the
 * line.  Locked for more than some seconds by another process, which carries out the same
 * run: ERR_REFUSED.
 */
int state_log_open(struct state_log **out, const char *path, json_t **records,
	struct err *e);

/* Appends a record, whose reference is taken also on failure; NULL is lack of memory.
 * Durable when it returns 0; after an error the log is as before. */
int state_log_add(struct state_log *l, json_t *record, struct err *e);

struct state_log *state_log_free(struct state_log *l); /* NULL allowed */
DEFINE_CLEANUP(struct state_log *, state_log_free)

/* Reads without locking or changing anything; otherwise as state_log_open(). */
int state_log_read(const char *path, json_t **records, struct err *e);

/* The last record whose "what" is one of the words, which are separated by blanks, and
 * whose "name" is name (NULL: any).  Borrowed; NULL: none. */
const json_t *state_log_last(
	const json_t *records, const char *words, const char *name);

/* Is the last of these records there, and is its "what" this word? */
bool state_log_ends(const json_t *records, const char *words, const char *name,
	const char *word);
