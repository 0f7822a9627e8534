/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What a run writes into its state log, and what a later process makes of it.
 *
 *	begin        schema, hash of the plan, seed, boot      the run itself
 *	resume       boot                                      it goes on
 *	restore      boot                                      it is taken back
 *	device       path, identity                            "volume data", "journal ssd",
 *	                                                       "home data": where the journal
 *	                                                       of a volume was at the start
 *	start        place, size, block                        of a volume that existed
 *	disk         scratch                                   disk-made disk-destroy
 *	                                                       disk-gone
 *	preconditioned                                         a device, "journal ssd"
 *	make         made                                      mke2fs of a volume
 *	unmade                                                 a volume went with a disk
 *	setup        torn-down                                 programs of an arm, its name
 *	place        placed, to                                move in a cell
 *	back         backed, to                                move back to the start
 *	mount        work                                      a directory of ours is made in
 *	                                                       the volume, which is mounted
 *	unmounted                                              and gone again
 *	cell         cell-done                                 block, position, arm
 *
 * The first word of each pair is written before the step, the second one after it.  Where
 * a record is about one thing, its key "name" says which.
 */

#include "run/session.h"

#define HISTORY_SCHEMA "jbdlab-state/1"

/* Appends a record, whose reference is taken; before there is a log: nothing. */
int history_add(struct session *s, json_t *record, struct err *e);

/* A record of a word and a name only. */
int history_note(struct session *s, const char *what, const char *name, struct err *e);

/* The devices that were found and are not in the log yet. */
int history_add_devices(struct session *s, struct err *e);

/* What earlier processes wrote of that name; NULL: nothing, or there were none. */
const json_t *history_last(const struct session *s, const char *words, const char *name);
bool history_ends(const struct session *s, const char *words, const char *name,
	const char *word);

/* A volume that the plan makes: was it made, and is it still there? */
bool history_is_made(const struct session *s, const struct session_volume *v);

/* Begins the log, or opens the one that is there. */
int history_begin(struct session *s, const char *plan_sha256, struct err *e);
int history_take_up(struct session *s, const char *plan_sha256, struct err *e);

/* Was this cell finished by an earlier process?  The context is a struct session. */
bool history_is_done(const void *session, uint32_t block, uint32_t position);

/* The rules that were broken in its block up to its end, enum validity_rule, or-ed. */
unsigned history_broken(const struct session *s, uint32_t block, uint32_t position);
