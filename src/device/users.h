/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Who uses a block device or an image file.  The kernel only says "busy"; these functions
 * find the name of the user for the message.  Not finding one proves nothing: O_EXCL is
 * the test, this is the explanation.
 */

#include <sys/types.h>

#include "core/strbuf.h"

/* Each adds phrases such as "is mounted on /srv" to b, separated by ", ". */
void users_add_mounts(struct strbuf *b, dev_t devno);
void users_add_swap(struct strbuf *b, dev_t devno, ino_t inode);
void users_add_holders(struct strbuf *b, const char *sysfs_dir);
void users_add_journal(struct strbuf *b, const char *kernel_name);

/* Loop devices over this block device (inode 0) or file (device and inode). */
void users_add_loops(struct strbuf *b, dev_t devno, ino_t inode);

/* Other programs that have the device open: "e2fsck (process 123)". */
void users_add_programs(struct strbuf *b, dev_t devno);
