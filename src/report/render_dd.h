/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The result line of dd (coreutils 8.25 and later), and ours with what that one lacks. */

#include "core/strbuf.h"
#include "result/result.h"

/* "209715200 bytes (210 MB, 200 MiB) copied, 0.40217 s, 521 MB/s", no newline. */
void render_dd_line(const struct result_phase *phase, struct strbuf *out);

/* Bytes, seconds, MiB/s and MB/s in full, operations and syncs; no newline. */
void render_dd_detail(const struct result_phase *phase, struct strbuf *out);

/* For each phase its title with the first line, and the second below. */
void render_dd(const struct result_run *run, struct strbuf *out);
