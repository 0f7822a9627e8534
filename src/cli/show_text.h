/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Texts that several facts of "show" are made of.  The caller frees what is returned. */

#include <stdint.h>

#include "core/macros.h"
#include "device/identity.h"

/* Text from a disk made safe for a terminal and for JSON: control characters, and
 * everything beyond ASCII unless the text is valid UTF-8, become '?'. */
char *show_printable(const char *text);

/* The same for a message, whose further lines begin with two blanks. */
char *show_message(const char *text);

/* As show_printable(); NULL for NULL and for "". */
char *show_copy(const char *text);

char *show_format(const char *fmt, ...) _printf_(1, 2);
char *show_bytes(uint64_t bytes);		   /* "400M" */
char *show_answer(enum device_answer answer);	   /* "yes", "no", "unknown" */
char *show_write_cache(enum device_answer answer); /* "write back", ... */
