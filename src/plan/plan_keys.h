/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The kinds of sections of an experiment file and their keys, described once: reading,
 * "did you mean", the check of what is required, and the manual's list come from here.
 * Workload sections have the keys of their type instead; see workload/workload.h.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"
#include "core/ini_file.h"
#include "plan/experiment.h"

struct plan_key {
	const char *name;
	const char *value;	   /* what is expected: "SIZE" */
	const char *default_value; /* for the manual; NULL: must be given */
	const char *help;
	/* Sets it in a struct experiment, plan_disk, plan_volume or plan_arm. */
	int (*set)(void *object, const char *value, struct err *e);
};

enum plan_section {
	SECTION_EXPERIMENT,
	SECTION_DISK,
	SECTION_VOLUME,
	SECTION_ARM,
	SECTION_GRID,
	SECTION_WORKLOAD,
	SECTION_KINDS
};

struct plan_section_kind {
	const char *word;
	bool named; /* [arm NAME] */
	const struct plan_key *keys;
	size_t key_count;
};

extern const struct plan_section_kind plan_section_kinds[SECTION_KINDS];

/* A name that may stand in a section, a metric's path and a file name. */
int plan_check_name(const char *name, struct err *e);

/* What must hold between the sections of an experiment.  ini is the file that it was read
 * from, for the line numbers of messages. */
int experiment_check(
	const struct experiment *x, const struct ini_file *ini, struct err *e);

/* A value of a workload without what means something else on another machine: "2x-ram"
 * becomes a number of bytes.  Caller frees; NULL: no memory. */
char *plan_resolve_value(const char *value);
