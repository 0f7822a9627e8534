/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A string that grows.  Running out of memory is remembered, not reported at each call:
 * look at strbuf_failed() or at the NULL of strbuf_take() once, at the end.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/macros.h"

struct strbuf {
	char *text; /* NUL-terminated once anything was added, else NULL */
	size_t length;
	size_t room;
	bool failed;
};

void strbuf_add(struct strbuf *b, const char *text);
void strbuf_addn(struct strbuf *b, const char *bytes, size_t n);
void strbuf_addf(struct strbuf *b, const char *fmt, ...) _printf_(2, 3);
bool strbuf_failed(const struct strbuf *b);

/* The text so far, "" when empty.  Owned by the buffer. */
const char *strbuf_text(const struct strbuf *b);

/* Hands the text to the caller, who frees it; NULL when memory ran out. */
char *strbuf_take(struct strbuf *b);

/* Frees the text; the buffer may be used again.  Also the cleanup function. */
void strbuf_deinit(struct strbuf *b);
