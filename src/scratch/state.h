/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What is recorded of a scratch disk: one JSON file for each in SCRATCH_STATE_DIR, written
 * before anything is created and removed after everything is gone.  It lies in /var/lib
 * and not in /run, because the data file which it names outlives a reboot.
 */

#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

#define SCRATCH_STATE_DIR "/var/lib/jbdlab/scratch"
#define SCRATCH_RUN_DIR "/run/jbdlab/scratch" /* NAME/: mount point, lock, socket */
#define SCRATCH_NAME_MAX 32
#define SCRATCH_DATA_FILE "jbdlab-%s-%s.disk" /* name, eight random digits */

struct scratch_state {
	char *name;
	char *model;
	char *file; /* data file, absolute */
	char *owner; /* process that made it, as owner.h writes it; NULL: unknown */
	uint64_t size_bytes;
};

void scratch_state_deinit(struct scratch_state *s);

/* Letters, digits, "-", "_" and ".", not beginning with "." or "-": usable as file name. */
int scratch_name_check(const char *name, struct err *e);

/* -ENOENT, with a text, when there is no disk of that name. */
int scratch_state_read(struct scratch_state *s, const char *name, struct err *e);
int scratch_state_write(const struct scratch_state *s, struct err *e);
int scratch_state_remove(const char *name, struct err *e);

/* Removes what writes that were killed left behind; under the lock of all disks. */
void scratch_state_remove_incomplete(void);

/* Names of all recorded disks, sorted; none at all is no error. */
int scratch_state_names(char ***names, size_t *count, struct err *e);
void scratch_state_names_free(char **names, size_t count);

/* "/run/jbdlab/scratch/NAME" with "/LEAF" behind it, NULL: without.  Caller frees. */
char *scratch_run_path(const char *name, const char *leaf);

/* Name of the file that the disk's model serves: that of the data file, which no other
 * disk has, not even in another container; the colon keeps it apart from data files.
 * Caller frees. */
char *scratch_state_model_file(const struct scratch_state *s);

/* The file that the loop device is attached to: the data file, or that of the model below
 * its mount point.  Caller frees. */
char *scratch_state_backing(const struct scratch_state *s);

/*
 * How the kernel names it afterwards, as a pattern for fnmatch(3): the mount of a model is
 * taken out of sight as soon as the loop device holds it.  A record without the name of
 * the data file gives one that fits every disk of the name.  Caller frees.
 */
char *scratch_state_backing_pattern(const struct scratch_state *s);
