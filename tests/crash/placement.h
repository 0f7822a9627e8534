/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the journal of a volume is, read from the bytes of the devices alone.
 */
#pragma once

#include "common.h"

#define PLACEMENT_TEXT_BYTES 96

struct placement {
	/* "none", "inline 4194304" (bytes), "J1", "other" ... */
	char text[PLACEMENT_TEXT_BYTES];
	/* the journal devices: "J1 users 1, J2 users 0" */
	char users[PLACEMENT_TEXT_BYTES];
	int device;	 /* index of the journal device in use, or -1 */
	uint32_t errors; /* that the kernel has counted in the superblock */
};

/*
 * placement_read() - reads @fd[0] as the volume and @fd[1..] as journal devices, called
 * @names[]. A superblock that is no superblock gives "none".
 */
void placement_read(
	struct placement *p, const int *fd, const char *const *names, unsigned int n);
