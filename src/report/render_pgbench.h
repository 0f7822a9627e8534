/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Transactions per second and percentiles of their time, as comparisons of database
 * servers print them, from the phases wal and wal-readonly of `commit`. */

#include "core/strbuf.h"
#include "result/result.h"

/* A row for each number of clients.  The percentiles are those of the read-write
 * transactions, or of the read-only ones where there are no others. */
void render_pgbench(const struct result_run *run, struct strbuf *out);
