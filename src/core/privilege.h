/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The capabilities of root, given up where they are not needed.  The sets are masks of
 * CAP_*; what each holds, and why, is in jbdlab(8), RIGHTS.
 */

#include <stdint.h>

#include <linux/capability.h>

#define PRIVILEGE(capability) (UINT64_C(1) << (capability))

/* To read and write files of whomever. */
#define PRIVILEGE_FILES (PRIVILEGE(CAP_DAC_OVERRIDE) | PRIVILEGE(CAP_DAC_READ_SEARCH))

/* What measures: the blocks that a volume keeps for root, locked memory, priorities. */
#define PRIVILEGE_WORK                                                                      \
	(PRIVILEGE_FILES | PRIVILEGE(CAP_SYS_RESOURCE) | PRIVILEGE(CAP_IPC_LOCK) |           \
		PRIVILEGE(CAP_SYS_NICE))

/* A program that is measured: the same, files of other users, to become another, and what
 * is done with a volume or its mounts (fstrim, fsfreeze, a mount namespace). */
#define PRIVILEGE_COMMAND                                                                   \
	(PRIVILEGE_WORK | PRIVILEGE(CAP_CHOWN) | PRIVILEGE(CAP_FOWNER) |                     \
		PRIVILEGE(CAP_FSETID) | PRIVILEGE(CAP_KILL) | PRIVILEGE(CAP_SETUID) |        \
		PRIVILEGE(CAP_SETGID) | PRIVILEGE(CAP_SETPCAP) |                             \
		PRIVILEGE(CAP_NET_BIND_SERVICE) | PRIVILEGE(CAP_AUDIT_WRITE) |               \
		PRIVILEGE(CAP_SYS_CHROOT) | PRIVILEGE(CAP_SYS_ADMIN))

/* A disk model, which mounts itself, and its threads once it is mounted. */
#define PRIVILEGE_MODEL_THREAD PRIVILEGE(CAP_IPC_LOCK)
#define PRIVILEGE_MODEL                                                                     \
	(PRIVILEGE_MODEL_THREAD | PRIVILEGE_FILES | PRIVILEGE(CAP_SYS_ADMIN))

#define PRIVILEGE_ALL UINT64_MAX

/*
 * Gives up, for good, what is not in keep: in this thread, in those that it starts from
 * now on, and in what it executes.  Who has nothing keeps nothing.  Returns 0 or -errno.
 */
int privilege_limit(uint64_t keep);
