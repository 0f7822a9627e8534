/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Putting a journal into inode 8, at a place of one's choice. */

#include <ext2fs/ext2fs.h>

#include "volume/edit.h"

/*
 * As ext2fs_add_journal_inode3(), on a volume that is open on an overlay and has its block
 * bitmaps read.  The position is kept with and without extents; where there is too little
 * room behind it, the journal begins so far in front of it that it fits.  -ENOSPC: no room
 * anywhere.
 */
int journal_inode_add(ext2_filsys fs, struct ext2fs_journal_params *params,
	const struct volume_edit_request *q, struct err *e);
