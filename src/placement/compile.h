/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * From "this volume, that placement" to the list of steps.  Reads the devices, writes
 * nothing.  The order of the steps is the crash safety of the move; compile.c explains
 * it.
 */

#include "core/err.h"
#include "device/claim.h"
#include "device/signature.h"
#include "placement/placement.h"
#include "placement/steps.h"
#include "volume/volume.h"

struct compile_input {
	const struct claim *volume;
	const struct claim *new_journal; /* external target, else NULL; may be the same
					    claim as old_journal: a changed size */
	const struct claim *old_journal; /* external journal of today, else NULL */
	const struct volume_info *info;	 /* of the volume */
	const struct placement *to;
	const struct signature_list *wipe; /* on the new journal device; may be NULL */
};

struct compile_output {
	struct step_list steps;
	uint64_t journal_bytes;	 /* of the new journal, 0 for none */
	uint8_t journal_uuid[16]; /* of the new journal device */
};

/* -ENOSPC, -ERANGE and others with a sentence for the user. */
int compile_move(struct compile_output *out, const struct compile_input *in,
	struct err *e);
void compile_output_deinit(struct compile_output *out);

/* The smallest journal device that the kernel mounts with this volume, in blocks. */
uint32_t compile_external_blocks_min(const struct volume_info *info);

/* How many blocks a journal on that device will have; size_bytes 0: all that it has and
 * that can be used.  Refused when it cannot be. */
int compile_external_blocks(const struct volume_info *info,
	const struct device_identity *id, uint64_t size_bytes, uint32_t *blocks,
	struct err *e);
