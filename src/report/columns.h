/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What can be done with the description of columns, whatever the format. */

#include <stdbool.h>

#include "core/err.h"
#include "core/strbuf.h"
#include "report/report.h"

/* What the types of columns mean. */
struct column_kind {
	const char *word; /* "ratio" */
	const char *unit; /* of raw numbers, "" for what has none */
	const char *json; /* its type in JSON Schema */
	bool is_right;	  /* how it is aligned in a table */
};
extern const struct column_kind column_kinds[COLUMN_TYPES];

/* A line for each column: key, unit, help; for people, in 80 columns. */
void columns_help(const struct report_table *t, struct strbuf *out);

/* A table of some columns of another; its texts are those of that one. */
struct column_selection {
	struct report_table table;
	struct report_column *columns;
};

/* keys: "arm,metric,ratio", in the order that is wanted; NULL: all.  An unknown key is
 * ERR_USAGE with the nearest one.  -ENOMEM. */
int columns_select(const struct report_table *t, const char *keys,
	struct column_selection *s, struct err *e);
void column_selection_deinit(struct column_selection *s);

/* The empty table of that key; unknown: ERR_USAGE with the nearest one. */
int columns_find_table(const char *key, const struct report_table **out, struct err *e);
