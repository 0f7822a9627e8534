/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The report of iozone's throughput mode, from a run of `throughput`. */

#include <stdbool.h>

#include "core/strbuf.h"
#include "result/result.h"

/* For each number of children the heading and the six lines of each phase, in kB (1024
 * bytes), character for character as iozone 3.471 prints them. */
void render_iozone(const struct result_run *run, struct strbuf *out);
