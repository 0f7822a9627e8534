/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Who uses a block device or an image file.  The kernel only says "busy"; these functions
 * find the name of the user for the message.  Not finding one proves nothing: O_EXCL is
 * the test, this is the explanation.
 */

#include <sys/types.h>

#include "core/strbuf.h"
#include "device/identity.h"

/* Each adds phrases such as "is mounted on /srv" to b, separated by ", ". */
void users_add_mounts(struct strbuf *b, dev_t devno);
void users_add_swap(struct strbuf *b, dev_t devno, ino_t inode);
void users_add_holders(struct strbuf *b, const char *sysfs_dir);
void users_add_journal(struct strbuf *b, const char *kernel_name);

/* Is this device the journal of that mounted volume, by the name of its kernel thread?
 * Unknown where that thread cannot be seen. */
enum device_answer users_is_journal_of(const char *kernel_name, const char *volume);

/* Loop devices over this block device (inode 0) or file (device and inode). */
void users_add_loops(struct strbuf *b, dev_t devno, ino_t inode);

/* Loop devices that show the same bytes as the one of this name, under another number. */
void users_add_twins(struct strbuf *b, const char *kernel_name);

/* The block device that a loop device lies on, else 0 and the file that it lies on; all 0
 * when the name is that of no loop device. */
dev_t users_loop_below(const char *kernel_name, dev_t *file_devno, ino_t *file_inode);

/* Other programs that have the device (inode 0) or file open: "e2fsck (process 123)". */
void users_add_programs(struct strbuf *b, dev_t devno, ino_t inode);
