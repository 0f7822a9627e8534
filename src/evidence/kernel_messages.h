/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the kernel said while something was measured. */

#include <jansson.h>

/*
 * Records since a mark of kmsg_open_end(): {"lines": [{"level", "text"}], "more"}, where
 * more counts those beyond the first hundred.  null when the mark is -1: the log could not
 * be read.  A new reference; NULL: no memory.
 */
json_t *kernel_messages_since(int mark);
