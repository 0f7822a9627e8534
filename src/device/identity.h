/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What a block device is, as opposed to what it is called today: size, model, serial,
 * WWN, partition UUID, backing file of a loop device.  Facts come from sysfs and from the
 * open device; what cannot be known is NULL or marked unknown, never guessed.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/err.h"

enum device_answer { DEVICE_NO, DEVICE_YES, DEVICE_UNKNOWN };

struct device_identity {
	char *path;	   /* as given, canonical: /dev/sdb1 */
	char *stable_name; /* /dev/disk/by-id/... or other name that survives; NULL */
	char *kernel_name; /* "sdb1" */
	dev_t devno;
	uint64_t size_bytes;
	uint32_t logical_block_bytes;
	uint32_t physical_block_bytes;
	bool read_only;
	bool is_block;		    /* false: a regular file used as image */
	char *model, *serial, *wwn; /* of the whole disk; NULL when unknown; dm: serial is
				     * the UUID of the mapping */
	char *partuuid;		    /* NULL unless a partition */
	uint64_t partition_start_bytes; /* on its disk; 0 unless a partition */
	char *backing_file;		/* NULL unless a loop device */
	enum device_answer rotational;
	enum device_answer write_cache; /* YES: volatile write-back cache */
};

/* From an open file descriptor on a block device or regular file; path for messages and
 * for the path field.  Neither: -ENOTBLK.  A regular file has devno 0, no kernel name and
 * blocks of 512 bytes. */
int device_identity_read(struct device_identity *id, int fd, const char *path,
	struct err *e);

/* The part of device_identity_read() that comes from sysfs, for a tree below sysfs_root:
 * kernel name, model, serial, WWN, partition start, backing file, rotational, cache.
 * A device that is not in the tree leaves them unknown. */
void device_identity_read_sysfs(struct device_identity *id, const char *sysfs_root,
	dev_t devno);
void device_identity_deinit(struct device_identity *id);

/*
 * Same device by everything that is known of both (never by name): no known fact differs,
 * and at least one that is unique (serial, WWN, partition UUID, backing file) is equal.
 */
bool device_identity_same(const struct device_identity *a,
	const struct device_identity *b);
