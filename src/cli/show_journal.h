/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Facts about journals, for the table of show_columns.c.  NULL where one does not apply;
 * the caller frees.  Those named _block are the longer text of a block. */

#include "placement/inventory.h"

char *show_placement(const struct inventory *inv, const struct inventory_item *item);
char *show_journal_size(const struct inventory *inv, const struct inventory_item *item);
char *show_journal_size_block(const struct inventory *inv,
	const struct inventory_item *item);
char *show_journal_blocks(const struct inventory *inv, const struct inventory_item *item);
char *show_where(const struct inventory *inv, const struct inventory_item *item);
char *show_first_block(const struct inventory *inv, const struct inventory_item *item);
char *show_extents(const struct inventory *inv, const struct inventory_item *item);
char *show_position_block(const struct inventory *inv, const struct inventory_item *item);
char *show_journal_uuid(const struct inventory *inv, const struct inventory_item *item);
char *show_journal_device(const struct inventory *inv, const struct inventory_item *item);
char *show_journal_device_block(const struct inventory *inv,
	const struct inventory_item *item);
char *show_recorded_number(const struct inventory *inv,
	const struct inventory_item *item);
char *show_users(const struct inventory *inv, const struct inventory_item *item);
char *show_shares_disk(const struct inventory *inv, const struct inventory_item *item);
char *show_journal_rotational(const struct inventory *inv,
	const struct inventory_item *item);
char *show_journal_write_cache(const struct inventory *inv,
	const struct inventory_item *item);
char *show_journal_features(const struct inventory *inv,
	const struct inventory_item *item);

/* Of a journal device: "in use", "damaged", "not replayed", "clean", "free". */
char *show_journal_state(const struct inventory_item *item);
