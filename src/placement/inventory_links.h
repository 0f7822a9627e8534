/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The second half of an inventory: links between its items and remarks on them. */

#include "placement/inventory.h"

/* Adds a sentence; without memory it is lost. */
void inventory_note(struct inventory_item *item, const char *fmt, ...) _printf_(2, 3);

/* Fills journal_path, users, shares_disk and notes of all items, which stay in place from
 * then on. */
int inventory_link(struct inventory *inv, struct err *e);
