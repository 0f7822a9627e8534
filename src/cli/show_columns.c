/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The facts that "show" can print; see show.h. */

#include <string.h>

#include "cli/show.h"
#include "cli/show_journal.h"
#include "cli/show_text.h"
#include "core/strbuf.h"

static bool is_journal(const struct inventory_item *item)
{
	return item->volume.kind == VOLUME_JOURNAL_DEVICE;
}

static char *text_device(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	return show_copy(item->identity.path);
}

static char *text_stable(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	return show_copy(item->identity.stable_name);
}

static char *text_type(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	return show_copy(item->volume.type);
}

static char *block_type(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	return strdup(is_journal(item) ? "external journal device" : item->volume.type);
}

static char *text_label(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	return show_copy(item->volume.label);
}

static char *text_uuid(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	return show_copy(item->volume.uuid);
}

static char *text_size(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	return show_bytes(item->volume.size_bytes);
}

static char *block_size(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	const struct volume_info *v = &item->volume;
	_cleanup_free_ char *size = show_bytes(v->size_bytes);

	return show_format("%s (%llu bytes, %llu blocks of %u bytes)", size ? size : "",
		(unsigned long long)v->size_bytes, (unsigned long long)v->block_count,
		v->block_bytes);
}

static char *text_free(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	if (is_journal(item))
		return NULL;
	return show_bytes(item->volume.free_blocks * item->volume.block_bytes);
}

static char *text_block_bytes(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	return show_format("%u", item->volume.block_bytes);
}

static char *text_disks(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	for (size_t i = 0; i < item->topology.count; i++)
		strbuf_addf(&b, "%s%s", i ? ", " : "", item->topology.disks[i]);
	if (!item->topology.complete)
		strbuf_add(&b, b.length ? " and what lies below" : "unknown");
	return b.length ? strbuf_take(&b) : NULL;
}

static char *block_disks(const struct inventory *inv, const struct inventory_item *item)
{
	const struct device_identity *id = &item->identity;
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	_cleanup_free_ char *disks = text_disks(inv, item);

	strbuf_add(&b, disks ? disks : "unknown");
	if (id->model)
		strbuf_addf(&b, "; model %s", id->model);
	if (id->serial)
		strbuf_addf(&b, "; serial %s", id->serial);
	if (id->wwn)
		strbuf_addf(&b, "; WWN %s", id->wwn);
	if (id->backing_file)
		strbuf_addf(&b, "; backing file %s", id->backing_file);
	return strbuf_take(&b);
}

static char *text_rotational(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	return show_answer(item->identity.rotational);
}

static char *text_write_cache(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	return show_write_cache(item->identity.write_cache);
}

static char *text_state(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	const struct volume_info *v = &item->volume;
	const char *errors = v->state_error ? ", errors" : "";

	if (is_journal(item))
		return show_journal_state(item);
	if (item->move_pending)
		return show_format("move pending%s", errors);
	if (item->mounted_on)
		return show_format("mounted%s", errors);
	if (item->in_use)
		return show_format("in use%s", errors);
	if (v->needs_recovery)
		return show_format("needs recovery%s", errors);
	if (!v->state_valid)
		return show_format("not clean%s", errors);
	return show_format("clean%s", errors);
}

static char *text_mounted(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	return show_copy(item->mounted_on);
}

static char *text_in_use(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	_cleanup_free_ char *phrase = show_copy(item->in_use);

	return phrase ? show_format("it %s", phrase) : NULL;
}

static char *text_features(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	static const char *const matter[] = { "has_journal", "metadata_csum", "64bit",
		"fast_commit", "orphan_file", "bigalloc" };
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(matter); i++)
		if (volume_has_feature(&item->volume, matter[i]))
			strbuf_addf(&b, "%s%s", b.length ? "," : "", matter[i]);
	return b.length ? strbuf_take(&b) : NULL;
}

static char *block_features(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	return volume_features(&item->volume);
}

static char *text_notes(const struct inventory *inv _unused_,
	const struct inventory_item *item)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	for (size_t i = 0; i < item->note_count; i++)
		strbuf_addf(&b, "%s%s", i ? "; " : "", item->notes[i]);
	return b.length ? show_printable(strbuf_text(&b)) : NULL;
}

const char show_default_columns[] =
	"device,type,size,placement,journal-size,where,same-disk,state";

const struct show_column show_columns[] = {
	{ "device", "DEVICE", "Device", "path of the device or image",
		.text = text_device },
	{ "stable-name", "STABLE-NAME", "Stable name", "name that survives a restart",
		.text = text_stable },
	{ "type", "TYPE", "Type", "ext2, ext3, ext4 or journal", .text = text_type,
		.block_text = block_type },
	{ "label", "LABEL", "Label", "label of the volume", .text = text_label },
	{ "uuid", "UUID", "UUID", "UUID of the volume or of the journal device",
		.text = text_uuid },
	{ "size", "SIZE", "Size", "size of the volume or journal device", .right = true,
		.text = text_size, .block_text = block_size },
	{ "free", "FREE", "Free", "free space of the volume", .right = true,
		.text = text_free },
	{ "block-size", "BLOCK", NULL, "bytes in a block", .right = true,
		.text = text_block_bytes },
	{ "state", "STATE", "State",
		"mounted, clean, needs recovery, ...; of a journal device: in use, clean, free",
		.text = text_state },
	{ "mounted-on", "MOUNTED-ON", NULL, "mount point", .text = text_mounted },
	{ "in-use", "IN-USE", "In use", "who uses the device now", .may_cut = true,
		.text = text_in_use },
	{ "placement", "PLACEMENT", "Placement", "none, inline or external",
		.text = show_placement },
	{ "journal-size", "JOURNAL", "Journal size", "size of the journal", .right = true,
		.text = show_journal_size, .block_text = show_journal_size_block },
	{ "journal-blocks", "BLOCKS", NULL, "size of the journal in blocks",
		.right = true, .text = show_journal_blocks },
	{ "where", "WHERE", NULL,
		"first block of an inline journal, device of an external one; of a journal "
		"device: the volumes that use it",
		.may_cut = true, .text = show_where },
	{ "first-block", "FIRST-BLOCK", "Position", "first block of an inline journal",
		.right = true, .text = show_first_block,
		.block_text = show_position_block },
	{ "extents", "EXTENTS", NULL, "pieces that an inline journal lies in",
		.right = true, .text = show_extents },
	{ "journal-uuid", "JOURNAL-UUID", "Journal UUID",
		"UUID of the external journal, as the volume names it",
		.text = show_journal_uuid },
	{ "journal-device", "JOURNAL-DEVICE", "Journal device",
		"where a journal of this UUID is now", .text = show_journal_device,
		.block_text = show_journal_device_block },
	{ "recorded-number", "RECORDED", "Recorded number",
		"device number of the journal as the volume records it; mounting uses it",
		.text = show_recorded_number },
	{ "users", "USERS", "Users", "volumes that a journal device lists",
		.may_cut = true, .text = show_users },
	{ "journal-features", "JOURNAL-FEATURES", "Journal features",
		"features of the journal", .text = show_journal_features },
	{ "same-disk", "SAME-DISK", "Same disk",
		"whether an external journal and its volume share a physical disk",
		.text = show_shares_disk },
	{ "disks", "DISKS", "Disks", "physical disks below the device",
		.text = text_disks, .block_text = block_disks },
	{ "rotational", "ROTATIONAL", "Rotational", "whether the disk turns",
		.text = text_rotational },
	{ "write-cache", "WRITE-CACHE", "Write cache",
		"write back: the disk keeps a volatile cache, flushes matter",
		.text = text_write_cache },
	{ "journal-rotational", "JOURNAL-ROTATIONAL", "Journal rotational",
		"the same of the disk of an external journal",
		.text = show_journal_rotational },
	{ "journal-write-cache", "JOURNAL-WRITE-CACHE", "Journal write cache",
		"the same of the disk of an external journal",
		.text = show_journal_write_cache },
	{ "features", "FEATURES", "Features", "features that matter for a journal",
		.text = text_features, .block_text = block_features },
	{ "notes", "NOTES", NULL, "what is wrong or dangerous", .may_cut = true,
		.text = text_notes },
	{ 0 },
};
