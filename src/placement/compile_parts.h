/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the parts of the compiler share; for compile*.c only. */

#include "placement/compile.h"
#include "volume/edit.h"
#include "volume/superblock.h"
#include "volume/transaction.h"

struct compile {
	const struct compile_input *in;
	struct step_list *steps;
	struct volume_edit edit;
	struct superblock last; /* image of the volume's superblock after the steps so far */
	struct superblock_journal journal; /* what the switch states */
	struct journal_state jsb;	   /* of the new journal */
	uint64_t jsb_offset;
	uint32_t sequence;
	uint32_t now;
	struct transaction log;
};

/* Do the metadata of this move go through the log of the new journal? */
bool compile_logged(const struct compile *c);

/* Begins a step. */
int compile_step(struct compile *c, enum step_device device, const char *what,
	struct err *e);

/* Adds a new image of the volume's superblock, whose changes lie in the first sector. */
int compile_superblock(struct compile *c, struct superblock *next, struct err *e);

/* Adds blocks in their places. */
int compile_images(struct compile *c, const struct block_image *images, size_t count,
	struct err *e);

/* Adds the transaction to the current step. */
int compile_log(struct compile *c, struct err *e);

/* The switch by superblock, to what c->journal states. */
int compile_switch(struct compile *c, const char *what, struct err *e);

/* What follows the switch: checkpoint, empty log, clean superblock, backups. */
int compile_settle(struct compile *c, enum step_device journal_on, struct err *e);

/* compile_external.c */
int compile_to_external(struct compile *c, struct err *e);
int compile_resize(struct compile *c, struct err *e);
int compile_release(struct compile *c, struct err *e);
