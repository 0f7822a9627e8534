/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A placement: where a journal lives, as people type it:
 *
 *	none
 *	inline[,size=400M][,at=start|middle|end|BLOCK]
 *	external=DEVICE[,size=400M]
 *
 * DEVICE is a path, UUID=, LABEL=, PARTUUID= or PARTLABEL=.
 */

#include <stdint.h>

#include "core/err.h"
#include "volume/volume.h"

enum placement_position { AT_ANYWHERE, AT_START, AT_MIDDLE, AT_END, AT_BLOCK };

struct placement {
	enum journal_place place;
	uint64_t size_bytes; /* 0: e2fsprogs' default for the volume, or the whole device */
	enum placement_position position; /* inline only */
	uint64_t block;			  /* with AT_BLOCK */
	char *device;			  /* external only, as typed; owned */
};

/* -EINVAL (ERR_USAGE) with the word that is wrong and what was expected. */
int placement_parse(struct placement *p, const char *text, struct err *e);

/* The text that placement_parse() would read back; caller frees; NULL: no memory. */
char *placement_format(const struct placement *p);
void placement_deinit(struct placement *p);
