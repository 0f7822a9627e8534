/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Text in lines of a width, broken at blanks; a word that is longer stands alone. */

#include "core/strbuf.h"

enum { WRAP_WIDTH = 80 };

/* Appends text to a line that has `column` columns already; further lines begin with
 * `indent` blanks.  Line feeds in it count as blanks.  A line feed ends it. */
void wrap_text(struct strbuf *b, const char *text, size_t column, size_t indent);
