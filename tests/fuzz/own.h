/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The readers of what lies on disks and of our own files, as targets of fuzzing. */

#include <stddef.h>
#include <stdint.h>

typedef void fuzz_own_fn(const uint8_t *bytes, size_t n);

/* "volume", "plan" or "log"; NULL: no such target. */
fuzz_own_fn *fuzz_own_find(const char *name);

void must(int condition, const char *what); /* of target.c */
