/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What is written on a device: every file system, RAID, LVM, swap, journal or partition
 * table signature that libblkid knows, not only the first.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

struct signature {
	char *type;  /* "ext4", "jbd", "swap", "LVM2_member", "gpt", "dos" ... */
	char *usage; /* "filesystem", "raid", "crypto", "other", "partition table" */
	char *uuid, *label; /* NULL when it has none */
	uint64_t offset;    /* of the magic, bytes */
	size_t length;	    /* of the magic, bytes; 0: unknown */
};

struct signature_list {
	struct signature *items;
	size_t count;
};

/* Probes through the descriptor; nothing is written.  name for messages. */
int signature_list_read(struct signature_list *list, int fd, const char *name,
	struct err *e);

/* Is the type one of the words in "xfs,gpt"?  types may be NULL. */
bool signature_types_have(const char *types, const char *type);
void signature_list_deinit(struct signature_list *list);

/* "ext4 \"data\" (UUID ...), gpt partition table"; caller frees; "nothing" when empty. */
char *signature_list_describe(const struct signature_list *list);
