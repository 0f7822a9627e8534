/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Texts for a terminal.  What comes from a bundle, a kernel message or the output of another
 * program may hold control characters, which would move the cursor, change colours or worse.
 */

#include <stdbool.h>

#include "core/strbuf.h"

/* Appends text (UTF-8), each control character but newline and tab as "\x1b". */
void printable_add(struct strbuf *out, const char *text);

/* The same for text that the caller's cleanup frees: replaces it. */
void printable_make(struct strbuf *text);

/*
 * How many bytes of text fit into so many without half a character of UTF-8 at the end; what
 * is cut there would be no text for JSON.
 */
size_t printable_cut(const char *text, size_t bytes);

/* Can text be a name: is there anything in it, and no control character? */
bool printable_is_name(const char *text);
