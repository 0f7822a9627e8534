/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Which blocks an inode occupies, as runs of consecutive blocks.  With extents the tree
 * is walked, not the blocks: a journal of 4 GiB costs as much as one of 4 MiB.
 */

#include <ext2fs/ext2fs.h>

#include "core/err.h"
#include "volume/volume.h"

struct run_list {
	struct block_run *runs;	  /* in the order of the file; owned */
	struct block_run *sorted; /* the same, by first block; owned */
	size_t count, room;
};

struct inode_runs {
	struct run_list data; /* blocks of the file */
	struct run_list tree; /* extent or indirect blocks */
};

/* All runs lie within the volume and are as many blocks as the inode's size says, or
 * -EUCLEAN; an empty inode has none.  Messages speak of "it": the file of the inode. */
int inode_runs_read(struct inode_runs *out, ext2_filsys fs, ext2_ino_t inode,
	struct err *e);
void inode_runs_deinit(struct inode_runs *r);

bool run_list_contains(const struct run_list *l, uint64_t block);
uint64_t run_list_blocks(const struct run_list *l);

/* Physical block of a logical one; 0 when beyond the end. */
uint64_t run_list_map(const struct run_list *l, uint64_t logical);
