/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Reading JSON that may be wrong.  A reader looks at one object and remembers the first
 * thing that was not as it should be, so that a structure is read by a list of calls and
 * one look at status; what the calls return after an error means nothing.  The caller
 * adds where in the document the object was.
 */

#include <jansson.h>
#include <stdint.h>

#include "core/err.h"

struct json_reader {
	const json_t *object;
	struct err *e;
	int status; /* 0, or -EBADMSG or -ENOMEM with e filled */
};

/* A whole number in [0, limit]. */
uint64_t json_read_number(struct json_reader *rd, const char *key, uint64_t limit);

/* A text; the caller frees it, also after an error. */
char *json_read_text(struct json_reader *rd, const char *key);

/* A text in one line that is not empty; the caller frees it, also after an error. */
char *json_read_name(struct json_reader *rd, const char *key);

/* The index of a text in a list of words. */
unsigned json_read_word(struct json_reader *rd, const char *key,
	const char *const words[], unsigned count);

/* An array, owned by the object. */
const json_t *json_read_array(struct json_reader *rd, const char *key);

/* Says that a key is missing or not what is expected; for checks of the caller. */
void json_read_bad(struct json_reader *rd, const char *key, const char *expected);
