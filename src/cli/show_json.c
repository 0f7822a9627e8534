/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The inventory as JSON, schema "jbdlab-show/1".  Words are whole, numbers raw, sizes in
 * bytes; what is unknown or does not apply is null.  Keys are promises: they may be added
 * to, never changed.
 */

#include <string.h>
#include <sys/sysmacros.h>

#include <jansson.h>

#include "cli/show.h"
#include "cli/show_text.h"

static json_t *text(const char *s)
{
	_cleanup_free_ char *printable = s && *s ? show_printable(s) : NULL;

	return printable ? json_string(printable) : json_null();
}

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *devno_text(dev_t devno)
{
	return devno ? json_sprintf("%u:%u", major(devno), minor(devno)) : json_null();
}

static json_t *answer(enum device_answer a)
{
	return a == DEVICE_UNKNOWN ? json_null() : json_boolean(a == DEVICE_YES);
}

static json_t *write_cache(enum device_answer a)
{
	static const char *const words[] = { "write through", "write back" };

	return a == DEVICE_UNKNOWN ? json_null() : json_string(words[a]);
}

/* Space-separated words, freed here, as an array. */
static json_t *words(char *list)
{
	json_t *array = json_array();
	char *save = NULL;

	for (char *word = list ? strtok_r(list, " ", &save) : NULL; word;
		word = strtok_r(NULL, " ", &save))
		json_array_append_new(array, json_string(word));
	free(list);
	return array;
}

static json_t *strings(char *const *list, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, text(list[i]));
	return array;
}

static void set(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

static json_t *extents_of(const struct volume_info *v)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < v->run_count; i++) {
		json_t *extent = json_object();

		set(extent, "first_block", number(v->runs[i].first));
		set(extent, "block_count", number(v->runs[i].count));
		json_array_append_new(array, extent);
	}
	return array;
}

static json_t *users_of(const struct inventory_item *item)
{
	json_t *array = json_array();

	for (size_t i = 0; i < item->user_count; i++) {
		json_t *user = json_object();

		set(user, "uuid", text(item->users[i].uuid));
		set(user, "path", text(item->users[i].path));
		json_array_append_new(array, user);
	}
	return array;
}

/* What the journal superblock says; journal: the item that has it, or NULL. */
static void add_log(json_t *object, const struct inventory_item *journal)
{
	const struct journal_state *j = journal ? &journal->volume.journal : NULL;

	if (!j || !j->readable)
		return;
	set(object, "size_bytes", number(volume_journal_bytes(&journal->volume)));
	set(object, "block_count", number(j->max_blocks));
	set(object, "block_size_bytes", number(j->block_bytes));
	set(object, "fast_commit_block_count", number(j->fast_commit_blocks));
	set(object, "sequence", number(j->sequence));
	set(object, "empty", json_boolean(j->start == 0));
	set(object, "error", json_integer(j->error));
	set(object, "features", words(volume_journal_features(&journal->volume)));
	set(object, "checksum_valid",
		j->checksum_expected ? json_boolean(j->checksum_valid) : json_null());
}

/* The item that an external journal was found on, or NULL. */
static const struct inventory_item *external_item(const struct inventory *inv,
	const struct inventory_item *item)
{
	return item->journal_path ? &inv->items[item->journal_item] : NULL;
}

static json_t *external_of(const struct inventory *inv, const struct inventory_item *item)
{
	const struct inventory_item *journal = external_item(inv, item);
	const struct device_identity *id = journal ? &journal->identity : NULL;
	json_t *object = json_object();

	set(object, "uuid", text(item->volume.journal_uuid));
	set(object, "device", text(item->journal_path));
	set(object, "stable_name", text(id ? id->stable_name : NULL));
	set(object, "recorded_device_number",
		devno_text(volume_journal_devno(&item->volume)));
	set(object, "device_number_current",
		id && id->is_block ? json_boolean(!item->number_differs) : json_null());
	set(object, "rotational", answer(id ? id->rotational : DEVICE_UNKNOWN));
	set(object, "write_cache", write_cache(id ? id->write_cache : DEVICE_UNKNOWN));
	return object;
}

static json_t *journal_of(const struct inventory *inv, const struct inventory_item *item)
{
	static const char *const places[] = { "none", "inline", "external" };
	const struct volume_info *v = &item->volume;
	bool is_device = v->kind == VOLUME_JOURNAL_DEVICE;
	json_t *object = json_object();

	set(object, "placement", is_device ? json_null() : json_string(places[v->place]));
	set(object, "size_bytes", json_null());
	set(object, "block_count", json_null());
	set(object, "block_size_bytes", json_null());
	set(object, "shares_disk",
		v->place == JOURNAL_NONE ? json_null() : answer(item->shares_disk));
	if (is_device || v->place == JOURNAL_INLINE)
		add_log(object, item);
	if (v->place == JOURNAL_INLINE) {
		set(object, "inode", number(v->journal_inode));
		set(object, "first_block",
			v->run_count ? number(v->runs[0].first) : json_null());
		set(object, "extents", extents_of(v));
	}
	if (v->place == JOURNAL_EXTERNAL) {
		add_log(object, external_item(inv, item));
		set(object, "external", external_of(inv, item));
	}
	if (is_device)
		set(object, "users", users_of(item));
	set(object, "problem", text(v->journal_problem));
	return object;
}

static json_t *state_of(const struct inventory_item *item)
{
	const struct volume_info *v = &item->volume;
	json_t *object = json_object();

	set(object, "mounted_on", text(item->mounted_on));
	set(object, "in_use", text(item->in_use));
	set(object, "clean", json_boolean(v->state_valid));
	set(object, "errors", json_boolean(v->state_error));
	set(object, "move_pending", json_boolean(item->move_pending));
	set(object, "needs_recovery", json_boolean(v->needs_recovery));
	set(object, "orphans", json_boolean(v->orphan_present));
	set(object, "last_mount_time", number(v->last_mount_time));
	set(object, "last_write_time", number(v->write_time));
	set(object, "last_mounted_on", text(v->last_mounted));
	return object;
}

static json_t *disk_of(const struct inventory_item *item)
{
	const struct device_identity *id = &item->identity;
	const struct topology *t = &item->topology;
	json_t *object = json_object();

	set(object, "disks", strings(t->disks, t->count));
	set(object, "disks_complete", json_boolean(t->complete));
	set(object, "model", text(id->model));
	set(object, "serial", text(id->serial));
	set(object, "wwn", text(id->wwn));
	set(object, "partition_uuid", text(id->partuuid));
	set(object, "backing_file", text(id->backing_file));
	set(object, "read_only", json_boolean(id->read_only));
	set(object, "size_bytes", number(id->size_bytes));
	set(object, "logical_block_size_bytes", number(id->logical_block_bytes));
	set(object, "physical_block_size_bytes", number(id->physical_block_bytes));
	set(object, "rotational", answer(id->rotational));
	set(object, "write_cache", write_cache(id->write_cache));
	return object;
}

static json_t *item_json(const struct inventory *inv, const struct inventory_item *item)
{
	const struct volume_info *v = &item->volume;
	const struct device_identity *id = &item->identity;
	bool is_device = v->kind == VOLUME_JOURNAL_DEVICE;
	json_t *object = json_object();

	set(object, "path", text(id->path));
	set(object, "stable_name", text(id->stable_name));
	set(object, "kernel_name", text(id->kernel_name));
	set(object, "device_number", devno_text(id->devno));
	set(object, "image_file", json_boolean(!id->is_block));
	set(object, "kind", json_string(is_device ? "journal_device" : "volume"));
	set(object, "type", json_string(v->type));
	set(object, "uuid", text(v->uuid));
	set(object, "label", text(v->label));
	set(object, "size_bytes", number(v->size_bytes));
	set(object, "block_size_bytes", number(v->block_bytes));
	set(object, "block_count", number(v->block_count));
	set(object, "free_bytes",
		is_device ? json_null() : number(v->free_blocks * v->block_bytes));
	set(object, "features", words(volume_features(v)));
	set(object, "state", state_of(item));
	set(object, "journal", journal_of(inv, item));
	set(object, "disk", disk_of(item));
	set(object, "notes", strings(item->notes, item->note_count));
	return object;
}

json_t *show_json(const struct inventory *inv)
{
	json_t *devices = json_array();
	json_t *failures = json_array();
	json_t *root = json_object();

	for (size_t i = 0; i < inv->count; i++)
		if (inv->items[i].named)
			json_array_append_new(devices, item_json(inv, &inv->items[i]));
	for (size_t i = 0; i < inv->failure_count; i++) {
		json_t *failure = json_object();

		set(failure, "path", text(inv->failures[i].path));
		set(failure, "reason", text(inv->failures[i].reason));
		json_array_append_new(failures, failure);
	}
	set(root, "schema", json_string("jbdlab-show/1"));
	set(root, "devices", devices);
	set(root, "unreadable", failures);
	return root;
}
