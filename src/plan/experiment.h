/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * An experiment as its file describes it: which disks to make, which volumes to prepare,
 * which arms to compare, what to measure, how often and in which order.  Plain data, with
 * all defaults filled in and all references checked; no device has been looked at.
 *
 * The same experiment printed by experiment_print() and read again is the same: that
 * text is the plan that a bundle keeps, and its SHA-256 names the plan.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "placement/placement.h"
#include "plan/design.h"
#include "workload/workload.h"

enum { EXPERIMENT_MAX_BLOCKS = 1000, EXPERIMENT_MAX_ARMS = 64 };

/* [disk NAME]: a scratch disk made for the run and destroyed after it.  A device of a
 * volume or of an external journal may be the name of such a disk. */
struct plan_disk {
	char *name;
	char *model; /* as scratch_create() takes it */
	uint64_t size_bytes;
	char *directory; /* of the backing file; NULL: the default */
};

enum plan_prepare { PREPARE_ONCE, PREPARE_EVERY_CELL };

/* [volume NAME] */
struct plan_volume {
	char *name;
	char *device;	    /* path, UUID=..., or the name of a disk */
	char *type;	    /* "ext3": of the mkfs line, NULL without one */
	char *mkfs_options; /* "-b 4096", "" for none; NULL: the volume exists already */
	char *mount;	    /* options, "" for none */
	enum plan_prepare prepare;
};

#define PLAN_ARM_TIMEOUT_NS UINT64_C(60000000000)

#define PLAN_HANG_NS UINT64_C(300000000000)

enum plan_switch { SWITCH_AS_IS, SWITCH_OFF, SWITCH_ON };

/* [arm NAME] */
struct plan_arm {
	char *name;
	struct placement placement; /* its device may be the name of a disk */
	char *mount;  /* options added to those of the volume, "" for none */
	char *levels; /* "data=ordered commit=30": by what it is grouped, "" for none */
	enum plan_switch fast_commit; /* feature of the volume in this arm */
	char *setup, *teardown; /* command lines of a cell; NULL: none */
	uint64_t timeout_ns;	/* of each of them */
};

/* [workload NAME]; what was set is kept for experiment_print(). */
struct plan_workload {
	char *name;
	struct workload *workload;
	uint32_t repeat; /* runs in a cell, which count as one */
	char **keys, **values;
	size_t setting_count;
};

struct experiment {
	char *name;
	uint32_t blocks; /* all, or the pilot: see design */
	struct plan_design design;
	bool seed_given;
	uint64_t seed;
	uint64_t max_time_ns; /* no new block after it; 0: no limit */
	uint64_t hang_ns; /* what does nothing for that long hangs; 0: nothing does */
	char *primary;	      /* WORKLOAD/PHASE/METRIC; NULL: none */
	bool strict;	      /* refuse to run what a reviewer would object to */
	bool trace;	      /* record what the kernel does during each phase */
	struct plan_disk *disks;
	size_t disk_count;
	struct plan_volume *volumes;
	size_t volume_count;
	struct plan_arm *arms;
	size_t arm_count;
	struct plan_workload *workloads;
	size_t workload_count;
	char *notes; /* what was left out of the plan, one sentence a line; or NULL */
};

/* Reads an experiment file.  Everything that is wrong with it is ERR_USAGE with
 * FILE:LINE, and the nearest known name where a name is unknown.  x must be zero; on
 * error it is zero again. */
int experiment_read(struct experiment *x, const char *path, struct err *e);

/* The same from a text; name stands for the file in messages. */
int experiment_parse(
	struct experiment *x, const char *text, const char *name, struct err *e);

void experiment_deinit(struct experiment *x);
void plan_arm_deinit(struct plan_arm *arm);

/* The resolved plan: every key with its value, sizes in bytes, times in nanoseconds where
 * they are no whole seconds.  Caller frees; NULL: no memory. */
char *experiment_print(const struct experiment *x);

/* The disk that a device names, or NULL when it is no name of a disk. */
const struct plan_disk *experiment_disk(const struct experiment *x, const char *device);

/* Mount options of a volume in an arm: both lists joined; caller frees; NULL: no memory;
 * "" for none. */
char *plan_mount_options(const struct plan_volume *v, const struct plan_arm *arm);
