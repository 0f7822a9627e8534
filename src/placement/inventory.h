/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Every volume and journal device, and which belongs to which: the links that are only
 * UUIDs on disk, resolved to the devices that carry them now.  Read-only.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"
#include "device/identity.h"
#include "device/topology.h"
#include "volume/volume.h"

struct inventory_user { /* of a journal device */
	char uuid[37];
	char *path; /* the volume with this UUID, or NULL when there is none */
};

struct inventory_item {
	bool named; /* asked for by name, or all were asked for */
	struct device_identity identity;
	struct volume_info volume;
	struct topology topology;
	char *mounted_on; /* mount point in our namespace, or NULL */
	char *in_use;	  /* a phrase as of claim_describe_users(), or NULL */

	/* Of an external journal.  The device that carries it, NULL: not found; with its
	 * identity in items[journal_item]. */
	const char *journal_path;
	size_t journal_item;
	bool move_pending;   /* a move of its journal was interrupted */
	bool number_differs; /* the recorded device number is not where it is now */

	/* YES for an inline journal; UNKNOWN also when there is no journal. */
	enum device_answer shares_disk;

	struct inventory_user *users; /* of a journal device */
	size_t user_count;

	char **notes; /* sentences about what is wrong or dangerous */
	size_t note_count;
};

struct inventory_failure { /* a device that could not be looked at */
	char *path;
	bool named;
	int code;     /* errno */
	bool refused; /* it is not there, or holds no volume that can be trusted: no I/O
		       * failed, and a command that needs a volume refuses it */
	char *reason; /* whole message */
};

struct inventory {
	struct inventory_item *items;
	size_t count;
	struct inventory_failure *failures;
	size_t failure_count;
};

/*
 * Looks at all devices, and besides at those named (paths or tags as of device_find();
 * also image files), which come first, in their order.  names NULL: nothing is named and
 * every item counts as such.  A device that cannot be read or is damaged becomes a
 * failure, not an error; so does a named one that holds neither volume nor journal.
 * Returns -errno only without memory or without a list of devices.
 */
int inventory_read(struct inventory *inv, const char *const names[], size_t name_count,
	struct err *e);
void inventory_deinit(struct inventory *inv);
