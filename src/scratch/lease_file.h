/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The file of a lease: JSON with a checksum, and what was on the disk. */

#include <jansson.h>

#include "core/err.h"
#include "device/claim.h"

#define LEASE_SCHEMA "jbdlab-lease/1"

/* Adds the checksum and writes it durably; makes the directory.  o stays the caller's. */
int lease_file_write(const char *path, json_t *o, struct err *e);

/* No file: -ENOENT; one that is damaged or was changed by hand: ERR_REFUSED.  The caller
 * frees *out with json_decref(). */
int lease_file_read(const char *path, json_t **out, struct err *e);

/* What is on the device: an array for the key "content". */
int lease_content_read(const struct claim *device, json_t **out, struct err *e);

/* ERR_REFUSED when something is on the device that the lease does not speak of. */
int lease_content_check(const struct claim *device, const json_t *lease, struct err *e);
