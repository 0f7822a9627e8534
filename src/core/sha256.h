/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * SHA-256 (FIPS 180-4), for naming a plan by its content.  Our own, because a library for
 * sixty lines would be the only reason to depend on it; the published test vectors are in
 * the unit test.
 */

#include <stddef.h>

enum { SHA256_TEXT = 65 };

/* Hash of n bytes as 64 lower-case hexadecimal digits and a NUL. */
void sha256_hex(const void *bytes, size_t n, char out[static SHA256_TEXT]);
