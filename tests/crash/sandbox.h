/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scratch block devices that cannot outlive the process, and cannot be mistaken.
 */
#pragma once

#include "common.h"

#define SANDBOX_DISKS_MAX 4
#define SANDBOX_HOME "/var/lib/.sandbox"
#define SANDBOX_MOUNTPOINT SANDBOX_HOME "/volume"

struct sandbox_disk {
	char name[8];  /* V, J1, ... : also the environment variable with the path */
	char path[24]; /* /dev/loopN */
	uint64_t bytes;
	int memory_fd; /* the content */
	int loop_fd;   /* keeps the loop device alive */
	unsigned int major_number, minor_number;
};

struct sandbox {
	unsigned int n_disks;
	struct sandbox_disk disk[SANDBOX_DISKS_MAX];
};

/*
 * sandbox_enter() - puts this process into a mount namespace of its own, with @s->disk[]
 * (name and bytes filled in by the caller) as loop devices.
 *
 * In there: $V, $J1 ... are the devices' paths; the lists of block devices hold only
 * these, so that workers with the same UUIDs do not find each other's; /var/lib is an
 * empty tmpfs, so that a program's state directory is this sandbox's own. SANDBOX_HOME in
 * it is ours and has the directory SANDBOX_MOUNTPOINT. Loop devices, contents and mounts
 * vanish with the last process that inherited them.
 */
void sandbox_enter(struct sandbox *s);

/* sandbox_find() - Return: the disk of that name, or NULL. */
struct sandbox_disk *sandbox_find(struct sandbox *s, const char *name);

/* sandbox_sync() - everything written to the device is in memory_fd. */
void sandbox_sync(struct sandbox_disk *d);

/* sandbox_invalidate() - forget what the kernel cached of a disk whose content changed.
 * Return: false if something is still cached. */
bool sandbox_invalidate(struct sandbox_disk *d);

/* sandbox_erase() - the disk is empty, and the kernel has forgotten it even where it had
 * kept hold of pages. */
void sandbox_erase(struct sandbox_disk *d);
