/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a flush ledger has to watch: the devices of a volume and of its journal, and every
 * whole disk below them. */

#include "device/identity.h"
#include "evidence/judge.h"
#include "evidence/ledger.h"

struct watched {
	struct ledger_disk disks[EVIDENCE_DISKS_MAX];
	char names[EVIDENCE_DISKS_MAX][EVIDENCE_NAME_BYTES]; /* that disks[] points to */
	char *busy[EVIDENCE_DISKS_MAX]; /* and to these; parallel to disks */
	size_t count;
};

/* Adds a device and the disks below it; one that is there already gets the role, too. */
void watched_add(struct watched *w, const struct device_identity *id, unsigned role);

/* Says of scratch disks with a model where the time is that it charged. */
void watched_find_models(struct watched *w);
void watched_deinit(struct watched *w);

/* Fills data, barrier and async_commit from the options of a mount as the mount table has
 * them; placement and new_data stay. */
void watched_read_options(struct evidence_arm *arm, const char *options);
