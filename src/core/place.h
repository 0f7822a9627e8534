/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Files that come with the program: in the source tree, or where they were installed. */

#include <stddef.h>

/*
 * The real path of the first of the places that is there, each relative to the directory of
 * the program; the caller frees it.  given: if it is neither NULL nor empty, it alone
 * counts.  NULL: there is none, or no memory.
 */
char *place_find(const char *given, const char *const places[], size_t count);
