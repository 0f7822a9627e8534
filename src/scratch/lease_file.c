/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The file of a lease; see lease_file.h.
 *
 * The checksum is that of the text without it, with sorted keys.  It finds damage and
 * careless edits; who can write the file as root needs no lease.
 *
 * What is on a disk is known by type and UUID.  A journal device gets a new UUID with
 * each move, and whose it is, is asked for elsewhere; so its type is enough.  While a step
 * that overwrites the disk is under way ("overwriting"), so is that of a volume.
 */

#include "scratch/lease_file.h"

#include <errno.h>
#include <string.h>

#include "core/fileio.h"
#include "core/sha256.h"
#include "device/signature.h"
#include "scratch/lease.h"

static int checksum(json_t *o, char sum[static SHA256_TEXT])
{
	json_t *copy = json_copy(o);
	_cleanup_free_ char *text = NULL;

	json_object_del(copy, "checksum");
	text = copy ? json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	json_decref(copy);
	if (!text)
		return -ENOMEM;
	sha256_hex(text, strlen(text), sum);
	return 0;
}

int lease_file_write(const char *path, json_t *o, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	char sum[SHA256_TEXT];
	int r = checksum(o, sum);

	if (!r && !json_object_set_new(o, "checksum", json_string(sum)))
		text = json_dumps(o, JSON_INDENT(2));
	if (!text)
		return err_set(e, ENOMEM, "write %s", path);
	r = fileio_make_dirs(LEASE_DIR, 0700, e);
	return r ? r : fileio_write_durable(path, text, strlen(text), 0600, e);
}

static bool is_whole(json_t *o)
{
	const char *schema = json_string_value(json_object_get(o, "schema"));
	const char *sum = json_string_value(json_object_get(o, "checksum"));
	char now[SHA256_TEXT];

	return schema && sum && !strcmp(schema, LEASE_SCHEMA) && !checksum(o, now) &&
	       !strcmp(sum, now);
}

int lease_file_read(const char *path, json_t **out, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	json_t *o;
	int r = fileio_read(path, &text, NULL, e);

	if (r)
		return r;
	o = json_loads(text, 0, NULL);
	if (!o || !is_whole(o)) {
		json_decref(o);
		return err_refuse(e, "the lease %s is damaged or was changed: remove it and "
				     "lease the disk again", path);
	}
	*out = o;
	return 0;
}

int lease_content_read(const struct claim *device, json_t **out, struct err *e)
{
	_cleanup_(signature_list_deinit) struct signature_list list = { 0 };
	json_t *content;
	int r = signature_list_read(&list, claim_fd(device), claim_path(device), e);

	if (r)
		return r;
	content = json_array();
	for (size_t i = 0; i < list.count; i++)
		if (json_array_append_new(content,
			    json_pack("{ss,ss*}", "type", list.items[i].type, "uuid",
				    list.items[i].uuid))) {
			json_decref(content);
			return err_say(e, EINVAL, "%s: a signature is not valid UTF-8",
				claim_path(device));
		}
	*out = content;
	return 0;
}

static bool is_in(const json_t *content, const struct signature *s)
{
	const json_t *item;
	size_t i;

	json_array_foreach(content, i, item) {
		const char *type = json_string_value(json_object_get(item, "type"));
		const char *uuid = json_string_value(json_object_get(item, "uuid"));

		if (type && !strcmp(type, s->type) &&
			!strcmp(uuid ? uuid : "", s->uuid ? s->uuid : ""))
			return true;
	}
	return false;
}

static bool is_meant(const json_t *lease, const struct signature *s)
{
	bool volume = !strcmp(s->type, "ext2") || !strcmp(s->type, "ext3") ||
		!strcmp(s->type, "ext4");

	return !strcmp(s->type, "jbd") || is_in(json_object_get(lease, "content"), s) ||
	       (volume && json_is_true(json_object_get(lease, "overwriting")));
}

int lease_content_check(const struct claim *device, const json_t *lease, struct err *e)
{
	_cleanup_(signature_list_deinit) struct signature_list list = { 0 };
	int r = signature_list_read(&list, claim_fd(device), claim_path(device), e);

	for (size_t i = 0; !r && i < list.count; i++) {
		const struct signature *s = &list.items[i];

		if (!is_meant(lease, s))
			r = err_refuse(e,
				"%s carries %s%s%s%s, which was not there when it was leased; if "
				"that may be overwritten too, lease it again",
				claim_path(device), s->type, s->uuid ? " (UUID " : "",
				s->uuid ? s->uuid : "", s->uuid ? ")" : "");
	}
	return r;
}
