/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Finding a device again by what intent_identity() said of it; its name may be another
 * one since a reboot. */

#include <stdbool.h>

#include "core/err.h"

bool reidentify_is(const char *path, const char *identity);

/*
 * The path of the device, which the caller frees; hint, its old path, is looked at first.
 * An identity that is nothing but a size fits many devices: then only the hint counts.
 * Not there: -ENODEV without message.  Two devices with the identity: ERR_REFUSED.
 */
int reidentify_find(char **path, const char *hint, const char *identity, struct err *e);
