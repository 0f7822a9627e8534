/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Where an inline journal lies: the blocks of its inode, in the order of the journal. */

#include "volume/volume.h"

/*
 * Fills v->runs and v->run_count from inode v->journal_inode, whose volume is read
 * through fd.  Returns NULL, or why the blocks cannot be told (caller frees; runs are
 * then empty): a hole, a block outside of the volume, a block that comes twice, ...
 */
char *journal_map_read(struct volume_info *v, int fd);
