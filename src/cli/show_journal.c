/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Facts about journals: size, place, links.  The journal of a volume is described by a
 * superblock that lies in the volume itself or on another device of the inventory; the
 * journal of a journal device is its own.
 */

#include "cli/show_journal.h"

#include <string.h>
#include <sys/sysmacros.h>

#include "cli/show_text.h"
#include "core/strbuf.h"

#define EXTENTS_SHOWN 6

static bool is_journal(const struct inventory_item *item)
{
	return item->volume.kind == VOLUME_JOURNAL_DEVICE;
}

/* The item whose journal superblock describes the journal of this one; NULL: none. */
static const struct inventory_item *journal_of(const struct inventory *inv,
	const struct inventory_item *item)
{
	if (item->volume.place == JOURNAL_EXTERNAL)
		return item->journal_path ? &inv->items[item->journal_item] : NULL;
	return is_journal(item) || item->volume.place == JOURNAL_INLINE ? item : NULL;
}

char *show_placement(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	static const char *const words[] = { "none", "inline", "external" };

	return is_journal(item) ? NULL : strdup(words[item->volume.place]);
}

char *show_journal_size(const struct inventory *inv, const struct inventory_item *item)
{
	const struct inventory_item *journal = journal_of(inv, item);

	if (!journal)
		return item->volume.place == JOURNAL_EXTERNAL ? strdup("unknown") : NULL;
	if (!journal->volume.journal.readable)
		return strdup("unknown");
	return show_bytes(volume_journal_bytes(&journal->volume));
}

char *show_journal_size_block(const struct inventory *inv,
	const struct inventory_item *item)
{
	const struct inventory_item *journal = journal_of(inv, item);
	_cleanup_free_ char *size = show_journal_size(inv, item);
	const struct journal_state *j = journal ? &journal->volume.journal : NULL;

	if (!j || !j->readable || !size)
		return take_ptr(size);
	return show_format("%s (%llu bytes, %u blocks of %u bytes)", size,
		(unsigned long long)volume_journal_bytes(&journal->volume), j->max_blocks,
		j->block_bytes);
}

char *show_journal_blocks(const struct inventory *inv, const struct inventory_item *item)
{
	const struct inventory_item *journal = journal_of(inv, item);

	if (!journal || !journal->volume.journal.readable)
		return NULL;
	return show_format("%u", journal->volume.journal.max_blocks);
}

char *show_where(const struct inventory *inv, const struct inventory_item *item)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	if (item->volume.place == JOURNAL_INLINE)
		return item->volume.run_count
			       ? show_format("block %llu",
					 (unsigned long long)item->volume.runs[0].first)
			       : strdup("unknown");
	if (item->volume.place == JOURNAL_EXTERNAL)
		return show_copy(item->journal_path ? item->journal_path : "not found");
	for (size_t i = 0; i < item->user_count; i++)
		strbuf_addf(&b, "%s%s", i ? ", " : "of ",
			item->users[i].path ? item->users[i].path : "a volume not found");
	if (is_journal(item) && !item->user_count)
		strbuf_add(&b, "of nobody");
	(void)inv;
	return b.length ? strbuf_take(&b) : NULL;
}

char *show_first_block(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	if (!item->volume.run_count)
		return NULL;
	return show_format("%llu", (unsigned long long)item->volume.runs[0].first);
}

char *show_extents(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	return item->volume.run_count ? show_format("%u", item->volume.run_count) : NULL;
}

char *show_position_block(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	const struct volume_info *v = &item->volume;
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	if (!v->run_count)
		return NULL;
	strbuf_addf(&b, "from block %llu, %.0f%% into the volume, %u extent%s:",
		(unsigned long long)v->runs[0].first,
		100.0 * (double)v->runs[0].first / (double)v->block_count, v->run_count,
		PLURAL(v->run_count));
	for (uint32_t i = 0; i < v->run_count && i < EXTENTS_SHOWN; i++)
		strbuf_addf(&b, " %llu-%llu", (unsigned long long)v->runs[i].first,
			(unsigned long long)(v->runs[i].first + v->runs[i].count - 1));
	if (v->run_count > EXTENTS_SHOWN)
		strbuf_add(&b, " ...");
	return strbuf_take(&b);
}

char *show_journal_uuid(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	return item->volume.place == JOURNAL_EXTERNAL
		       ? show_copy(item->volume.journal_uuid)
		       : NULL;
}

char *show_journal_device(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	if (item->volume.place != JOURNAL_EXTERNAL)
		return NULL;
	return show_copy(item->journal_path ? item->journal_path : "not found");
}

char *show_journal_device_block(const struct inventory *inv,
	const struct inventory_item *item)
{
	const struct inventory_item *journal = journal_of(inv, item);

	if (item->volume.place != JOURNAL_EXTERNAL || !journal ||
		!journal->identity.stable_name)
		return show_journal_device(inv, item);
	return show_format("%s (%s)", item->journal_path, journal->identity.stable_name);
}

char *show_recorded_number(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	dev_t devno = volume_journal_devno(&item->volume);

	if (item->volume.place != JOURNAL_EXTERNAL)
		return NULL;
	return show_format("%u:%u%s", major(devno), minor(devno),
		item->number_differs ? " (out of date)" : "");
}

char *show_users(const struct inventory *inv _unused_, const struct inventory_item *item)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	if (!is_journal(item))
		return NULL;
	for (size_t i = 0; i < item->user_count; i++)
		strbuf_addf(&b, "%s%s (%s)", i ? ", " : "", item->users[i].uuid,
			item->users[i].path ? item->users[i].path : "not found");
	return b.length ? strbuf_take(&b) : strdup("none");
}

char *show_shares_disk(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	return item->volume.place == JOURNAL_EXTERNAL ? show_answer(item->shares_disk)
						      : NULL;
}

char *show_journal_rotational(const struct inventory *inv,
	const struct inventory_item *item)
{
	const struct inventory_item *journal = journal_of(inv, item);

	return journal && journal != item ? show_answer(journal->identity.rotational)
					  : NULL;
}

char *show_journal_write_cache(const struct inventory *inv,
	const struct inventory_item *item)
{
	const struct inventory_item *journal = journal_of(inv, item);

	return journal && journal != item
		       ? show_write_cache(journal->identity.write_cache)
		       : NULL;
}

char *show_journal_features(const struct inventory *inv,
	const struct inventory_item *item)
{
	const struct inventory_item *journal = journal_of(inv, item);
	_cleanup_free_ char *names = NULL;

	if (!journal || !journal->volume.journal.readable)
		return NULL;
	names = volume_journal_features(&journal->volume);
	return names && *names ? take_ptr(names) : strdup("none");
}

char *show_journal_state(const struct inventory_item *item)
{
	const struct journal_state *j = &item->volume.journal;

	if (item->in_use)
		return strdup("in use");
	if (!j->readable)
		return strdup("damaged");
	if (j->start)
		return strdup("not replayed");
	return strdup(j->user_count ? "clean" : "free");
}
