/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Sizes, durations and percentages as people type them: "4k", "400M", "2x-ram", "30s",
 * "2h", "3%".  Size suffixes are powers of 1024 (k M G T, optional "iB" or "B" behind
 * them), as in fio and mke2fs.  A number without suffix is bytes.
 */

#include <stdint.h>

#include "core/err.h"

/* Bytes.  "2x-ram" is twice MemTotal.  -EINVAL with a text that names the value. */
int units_parse_bytes(const char *text, uint64_t *bytes, struct err *e);

/* Nanoseconds: a number with ns us ms s m h; no suffix means seconds. */
int units_parse_duration(const char *text, uint64_t *ns, struct err *e);

/* "3%" gives 0.03; a number without "%" is an error, so that 3 is never 300 %. */
int units_parse_percent(const char *text, double *fraction, struct err *e);

/* A whole number in [low, high]. */
int units_parse_count(const char *text, uint64_t low, uint64_t high, uint64_t *value,
	struct err *e);

/* "yes/no", "true/false", "on/off", "1/0" into 1 or 0. */
int units_parse_bool(const char *text, int *value, struct err *e);

/* "400M", "1.5G", "512": at most 3 significant decimals, exact values without point. */
void units_format_bytes(uint64_t bytes, char out[static 16]);

/* "870us", "4.2ms", "1.3s", "2min 10s", "1h 5min". */
void units_format_duration(uint64_t ns, char out[static 24]);
