/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Tables for people, the same wherever a report has one: a line of titles, columns as wide
 * as what stands in them.  What is printed does not depend on the terminal.
 *
 * Running out of memory is remembered and reported by the last call, so that those before
 * it need no answer.
 */

#include <stddef.h>

#include "core/err.h"
#include "core/strbuf.h"

enum { TEXT_TABLE_WIDTH = 80 };

enum text_align {
	TEXT_LEFT,
	TEXT_RIGHT,
	TEXT_CUT,  /* left; loses its end when the table would be too wide */
	TEXT_WRAP, /* left; goes on in the next line then */
};

struct text_column {
	const char *title; /* NULL: the column is left out */
	enum text_align align;
};

struct text_table; /* opaque */

/* width: in columns, 0 for as wide as it must be.  Columns are copied.  NULL: no memory. */
struct text_table *text_table_new(
	const struct text_column *columns, size_t count, size_t width);

/* A row; texts has as many as there were columns, those left out too.  They are copied. */
void text_table_add(struct text_table *t, const char *const *texts);

/* Appends the table and a line feed, or empty when it has no row, and frees it in any
 * case.  -ENOMEM, also for what ran out of memory before. */
int text_table_finish(
	struct text_table *t, const char *empty, struct strbuf *out, struct err *e);
