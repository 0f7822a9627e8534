/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Which of the connected volumes name a journal device.  What the device lists as its
 * users is no answer: a clone of a volume has the UUID of the original.
 */

#include "core/strbuf.h"

/* Adds the paths of all volumes, but for `except` (may be NULL), whose superblock names
 * the journal with this UUID, separated by commas. */
void journal_users_find(const char *journal_uuid, const char *except,
	struct strbuf *found);

/* The paths of all volumes whose journal the open device is, but for `except` (may be
 * NULL); NULL when it is nobody's or no journal device.  Caller frees. */
char *journal_users_of(int fd, const char *name, const char *except);
