/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The devices of a run are found, identified and asked for their lease before anything is
 * written.
 */

#include "device/claim.h"
#include "run/session.h"
#include "volume/volume.h"

/* Phases; the context is a struct session. */
int devices_find(void *session, struct err *e); /* those that are not found yet */
int devices_check(void *session, struct err *e); /* locks them, too */
int devices_unlock(void *session, struct err *e);

/* Finds d->spec, or what an earlier process has recorded of ROLE NAME; a scratch disk of
 * the run that is not made leaves d->path NULL. */
int devices_find_one(struct session *s, struct session_device *d, const char *role,
	const char *name, struct err *e);

/*
 * Holds a device for writing, and makes sure that it still is the one that was found and
 * that it may be overwritten.  Every step that destroys something begins with this.
 */
int devices_hold(struct claim **out, const struct session_device *d, struct err *e);

/* The same for a step that destroys everything on the device: nothing may be on it that
 * came after its lease. */
int devices_hold_to_overwrite(
	struct claim **out, const struct session_device *d, struct err *e);

/* Holds it for a moment, and reads what the volume on it says; deinit *info in any case. */
int devices_read_volume(
	struct volume_info *info, const struct session_device *d, struct err *e);

/*
 * Keeps a device from becoming another one while a program, the kernel or a move opens it
 * by its name: as long as it is open, its number and its name are given to nothing else.
 * It is held by nobody, so that they can hold it.  *fd is -1 for a device that there is
 * not (path NULL); close it.  Another device than at the start: ERR_REFUSED.
 */
int devices_pin(int *fd, const struct session_device *d, struct err *e);

/* Everything that is known of the devices, as an array; NULL: no memory. */
json_t *devices_to_json(const struct session *s);

/* The same of one device, which is called so. */
json_t *device_to_json(
	const char *role, const char *name, const struct session_device *d);

/* ERR_REFUSED when files at path would lie on a disk under test. */
int devices_check_bundle(const struct session *s, const char *path, struct err *e);

void session_device_deinit(struct session_device *d);
