/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Making a journal device. */

#include <stdint.h>
#include <sys/sysmacros.h>
#include <sys/types.h>

#include "core/err.h"
#include "volume/superblock.h"

struct journal_device_options {
	int fd;
	const char *name; /* for messages */
	uint32_t block_bytes;
	uint64_t block_count;
	const uint8_t *uuid; /* 16 bytes */
	const char *label;   /* "" for none */
};

/* The superblock of a journal device; nothing is written. */
int journal_device_superblock(struct superblock *out,
	const struct journal_device_options *q, struct err *e);

/* Number of the block that holds the jbd2 superblock: 2 for blocks of 1024 bytes, else 1.
 * The log begins behind it. */
uint32_t journal_device_jsb_block(uint32_t block_bytes);

/* s_journal_dev: a device number as the kernel encodes it in 32 bits
 * (new_encode_dev() in include/linux/kdev_t.h). */
uint32_t journal_device_number(dev_t devno);
