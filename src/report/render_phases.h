/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The phases of any run as a table with the percentiles of operations and of syncs. */

#include "core/strbuf.h"
#include "result/result.h"

/* Appends the table.  Columns that no phase has a value for are left out.  -ENOMEM. */
int render_phases(const struct result_run *run, struct strbuf *out, struct err *e);
