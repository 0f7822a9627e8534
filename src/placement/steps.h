/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A move as a list of steps, complete in memory before the first byte is written.
 *
 * A step is a set of writes to one device, followed by a flush of that device.  Within a
 * step the writes may reach the disk in any order or in part; a step begins only when the
 * one before is durable.  One step is the switch: before it a reader of the disk finds
 * the old placement, after it the new one.
 *
 * A write remembers what was there before, unless it goes to space that nobody refers to.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

enum step_device { ON_VOLUME, ON_NEW_JOURNAL, ON_OLD_JOURNAL, STEP_DEVICES };

struct step_write {
	uint64_t offset; /* bytes on the device */
	size_t length;
	uint8_t *after;	 /* owned */
	uint8_t *before; /* owned; NULL: whatever was there does not matter */
	bool loose; /* later steps may write over a part of it: it is undone, but tells
		     * nothing about where the disks are */
};

struct step {
	char *what; /* for people; owned */
	enum step_device device;
	bool is_switch;
	struct step_write *writes;
	size_t write_count;
};

struct step_list {
	struct step *items;
	size_t count;
};

/* The devices that steps write to; -1 where there is none.  Descriptors are the
 * claims'. */
struct step_devices {
	int fd[STEP_DEVICES];
	const char *name[STEP_DEVICES];
	bool absent[STEP_DEVICES]; /* it is not connected: its steps are left out */
};

/* Adds an empty step. */
int step_list_add(struct step_list *l, enum step_device device, const char *what,
	struct err *e);

/* Adds a write to the last step; after and before are copied. */
int step_list_write(struct step_list *l, uint64_t offset, const void *after,
	const void *before, size_t length, struct err *e);

/* Marks the last write as loose. */
void step_list_mark_loose(struct step_list *l);

/* Marks the last step as the switch. */
void step_list_mark_switch(struct step_list *l);

/* Index of the switch; count when there is none. */
size_t step_list_switch(const struct step_list *l);

void step_list_deinit(struct step_list *l);

struct step_progress {
	size_t next;	     /* first step that is not known to be durable */
	bool wrote;	     /* something has been written */
	unsigned writes, flushes;
};

/*
 * Carries out the steps from p->next on, writing, flushing and reading back: what a disk
 * acknowledged and does not hold is -EIO.  Right before the switch
 * every `before` of the switch and of later steps is compared with the disk: if somebody
 * else has written there, -ESTALE and nothing of the switch is written.
 * On an error p tells how far it came.
 */
int step_list_execute(const struct step_list *l, const struct step_devices *devices,
	struct step_progress *p, struct err *e);

/* Writes back the `before` of the first `count` steps, last step first.  only_ours: leaves
 * alone what does not hold the `after` of its step, because somebody else wrote it.
 * Errors of a new journal device do not count, because nobody refers to it before the
 * switch. */
int step_list_undo(const struct step_list *l, const struct step_devices *devices,
	size_t count, bool only_ours, struct err *e);

/* Flushes every device that has steps. */
int step_list_flush(const struct step_list *l, const struct step_devices *devices,
	struct err *e);

enum step_position {
	STEPS_NOT_BEGUN,	  /* nothing that matters was written */
	STEPS_BEFORE_SWITCH, /* some of the steps before the switch */
	STEPS_AFTER_SWITCH,  /* the switch, perhaps more */
	STEPS_FOREIGN,	  /* somebody else has written: the steps no longer apply */
};

/* Where the disks are, judged by their content alone. */
int step_list_locate(const struct step_list *l, const struct step_devices *devices,
	enum step_position *position, struct err *e);
