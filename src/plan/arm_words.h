/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The command lines "setup" and "teardown" of an arm: the variables that they may use and
 * that their programs find in the environment, and their words.
 *
 *	JBDLAB_ARM, JBDLAB_BLOCK (from 1), JBDLAB_JOURNAL (device of an external journal)
 *	JBDLAB_VOLUME (the first), JBDLAB_VOLUME_name, JBDLAB_DISK_name
 *
 * In a name every character but letters, digits and "_" becomes "_".
 */

#include "plan/experiment.h"

struct arm_facts {
	const struct experiment *x;
	const struct plan_arm *arm;
	uint32_t block; /* from 0 */
	const char *journal; /* device; NULL: none */
	const char *const *volumes; /* devices, parallel to x->volumes; NULL: not known */
	const char *const *disks; /* the same for x->disks */
};

/* "NAME=value" strings, NULL-ended; free with arm_environment_free().  NULL: no memory. */
char **arm_environment(const struct arm_facts *f);
void arm_environment_free(char **environment);

/* Splits a command line without any shell, with $NAME replaced; free the words with
 * program_words_free().  ERR_USAGE for what cannot be split and for unknown variables. */
int arm_words(const char *line, char **environment, char ***argv, struct err *e);
