/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of the command "show" share. */

#include <jansson.h>

#include "placement/inventory.h"

/*
 * One fact about a device.  The same array makes the table, its --columns, and the block
 * that is printed of a named device; show_json.c has the facts with their types.
 */
struct show_column {
	const char *key;   /* for --columns */
	const char *title; /* over the table */
	const char *label; /* in a block; NULL: not there, another line has the fact */
	const char *help;
	bool right;   /* a number */
	bool may_cut; /* on a narrow terminal */
	/* Text, NULL where the fact does not apply; caller frees. */
	char *(*text)(const struct inventory *inv, const struct inventory_item *item);
	/* The longer text of the block; NULL: the same. */
	char *(*block_text)(const struct inventory *inv,
		const struct inventory_item *item);
};

extern const struct show_column show_columns[]; /* ends with key NULL */

/* Columns of the table when none are asked for, comma-separated. */
extern const char show_default_columns[];

/* New reference; NULL: no memory. */
json_t *show_json(const struct inventory *inv);
