/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A run seen from outside, by what it leaves in its bundle: status.json, which says where
 * it is, and the lock of state.log, which it holds as long as it lives.
 */

#include <stdbool.h>

#include "core/strbuf.h"

/* Does somebody work on it?  where: appends where it is ("block 2 of 6, arm ssd, ..."), or
 * nothing when that is not known. */
bool run_state_read(const char *bundle, struct strbuf *where);
