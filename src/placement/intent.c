/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Intent log; see intent.h.  JSON, with the bytes in hexadecimal, so that somebody with a
 * broken machine can read it without us.
 *
 * What is read back will be written to a volume, so that a log in which anything has
 * changed must not pass: it carries the SHA-256 of all the rest, as compact JSON with
 * sorted keys.  The file is read as a stream: that of a nearly full volume, with a bitmap
 * to change in each group, may have hundreds of megabytes.
 */

#include "placement/intent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fileio.h"
#include "core/sha256.h"
#include "core/strbuf.h"

DEFINE_CLEANUP(DIR *, closedir)
DEFINE_CLEANUP(FILE *, fclose)

#define SCHEMA "jbdlab-move/1"

static const char *const roles[STEP_DEVICES] = {
	[ON_VOLUME] = "volume",
	[ON_NEW_JOURNAL] = "new_journal",
	[ON_OLD_JOURNAL] = "old_journal",
};

char *intent_identity(const struct device_identity *id)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	strbuf_addf(&b, "size=%" PRIu64, id->size_bytes);
	if (id->wwn)
		strbuf_addf(&b, " wwn=%s", id->wwn);
	if (id->serial)
		strbuf_addf(&b, " serial=%s", id->serial);
	if (id->partuuid)
		strbuf_addf(&b, " partuuid=%s", id->partuuid);
	if (id->backing_file)
		strbuf_addf(&b, " file=%s", id->backing_file);
	if (!id->is_block)
		strbuf_addf(&b, " image=%s", id->path);
	return strbuf_take(&b);
}

bool intent_can_hold(const char *text)
{
	json_auto_t *probe = json_string(text);

	return probe != NULL;
}

static char *path_of(const char *state_dir, const char *uuid)
{
	char *path;

	return asprintf(&path, "%s/moves/%s.json", state_dir, uuid) < 0 ? NULL : path;
}

static json_t *hex(const uint8_t *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	_cleanup_free_ char *text = malloc(2 * n + 1);

	if (!bytes)
		return json_null();
	if (!text)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	return json_stringn(text, 2 * n);
}

static int unhex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* NULL for JSON null and for anything that is no hexadecimal text. */
static uint8_t *unhex(const json_t *value, size_t *n)
{
	const char *text = json_string_value(value);
	size_t length = json_string_length(value);
	uint8_t *bytes = text && length % 2 == 0 ? malloc(length / 2 + 1) : NULL;

	if (!bytes)
		return NULL;
	for (size_t i = 0; i < length / 2; i++) {
		int high = unhex_digit(text[2 * i]), low = unhex_digit(text[2 * i + 1]);

		if (high < 0 || low < 0) {
			free(bytes);
			return NULL;
		}
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	*n = length / 2;
	return bytes;
}

static json_t *step_to_json(const struct step *s)
{
	json_t *writes = json_array();
	int r = 0;

	for (size_t k = 0; k < s->write_count; k++) {
		const struct step_write *w = &s->writes[k];

		r |= json_array_append_new(writes,
			json_pack("{s:I, s:b, s:o, s:o}", "offset", (json_int_t)w->offset,
				"loose", w->loose, "after", hex(w->after, w->length), "before",
				hex(w->before, w->length)));
	}
	if (r) {
		json_decref(writes);
		return NULL;
	}
	return json_pack("{s:s, s:s, s:b, s:o}", "what", s->what, "device",
		roles[s->device], "switch", s->is_switch, "writes", writes);
}

static json_t *to_json(const struct intent *i)
{
	json_t *devices = json_object(), *steps = json_array();
	int r = 0;

	for (size_t d = 0; d < STEP_DEVICES; d++)
		if (i->path[d])
			r |= json_object_set_new(devices, roles[d],
				json_pack("{s:s, s:s}", "path", i->path[d], "identity",
					i->identity[d]));
	for (size_t k = 0; k < i->steps.count; k++)
		r |= json_array_append_new(steps, step_to_json(&i->steps.items[k]));
	if (r) {
		json_decref(devices);
		json_decref(steps);
		return NULL;
	}
	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:o, s:o}", "schema", SCHEMA, "uuid",
		i->uuid, "origin", i->origin, "target", i->target, "undo", i->undo,
		"devices", devices, "steps", steps);
}

static int digest(const json_t *json, char out[static SHA256_TEXT])
{
	_cleanup_free_ char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);

	if (!text)
		return -ENOMEM;
	sha256_hex(text, strlen(text), out);
	return 0;
}

static char *to_text(const struct intent *i)
{
	json_auto_t *json = to_json(i);
	char hash[SHA256_TEXT];

	if (!json || digest(json, hash) ||
		json_object_set_new(json, "sha256", json_string(hash)))
		return NULL;
	return json_dumps(json, JSON_INDENT(1));
}

int intent_write(const struct intent *i, const char *state_dir, struct err *e)
{
	_cleanup_free_ char *path = path_of(state_dir, i->uuid);
	_cleanup_free_ char *directory = NULL;
	_cleanup_free_ char *text = to_text(i);
	int r;

	if (!path || !text || asprintf(&directory, "%s/moves", state_dir) < 0)
		return err_set(e, ENOMEM, "write intent log");
	r = fileio_make_dirs(directory, 0700, e);
	if (!r)
		r = fileio_sync_dir(state_dir, e);
	if (!r)
		r = fileio_write_durable(path, text, strlen(text), 0600, e);
	if (r)
		unlink(path); /* it may be there, but not durably */
	return r ? err_wrap(e, r, "write intent log") : 0;
}

static int role_of(const char *name)
{
	for (int d = 0; name && d < STEP_DEVICES; d++)
		if (!strcmp(name, roles[d]))
			return d;
	return -1;
}

static int write_from_json(struct step_list *l, const json_t *json, struct err *e)
{
	size_t n = 0, n_before = 0;
	_cleanup_free_ uint8_t *after = unhex(json_object_get(json, "after"), &n);
	_cleanup_free_ uint8_t *before = unhex(json_object_get(json, "before"), &n_before);
	json_int_t offset = json_integer_value(json_object_get(json, "offset"));

	if (!after || offset < 0 || (before && n_before != n) ||
		(!before && !json_is_null(json_object_get(json, "before"))))
		return -EBADMSG;
	if (step_list_write(l, (uint64_t)offset, after, before, n, e))
		return -ENOMEM;
	if (json_is_true(json_object_get(json, "loose")))
		step_list_mark_loose(l);
	return 0;
}

static int step_from_json(struct intent *i, const json_t *json, struct err *e)
{
	const char *what = json_string_value(json_object_get(json, "what"));
	int device = role_of(json_string_value(json_object_get(json, "device")));
	const json_t *writes = json_object_get(json, "writes"), *w;
	size_t k;
	int r;

	if (!what || device < 0 || !i->path[device] || !json_is_array(writes))
		return -EBADMSG;
	r = step_list_add(&i->steps, (enum step_device)device, what, e);
	if (!r && json_is_true(json_object_get(json, "switch")))
		step_list_mark_switch(&i->steps);
	json_array_foreach((json_t *)writes, k, w) {
		if (!r)
			r = write_from_json(&i->steps, w, e);
	}
	return r;
}

static char *string_of(const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	return text ? strdup(text) : NULL;
}

static int from_json(struct intent *i, const json_t *json, struct err *e)
{
	const char *schema = json_string_value(json_object_get(json, "schema"));
	const json_t *devices = json_object_get(json, "devices"), *s;
	size_t k;
	int r = 0;

	if (!schema || strcmp(schema, SCHEMA))
		return -EBADMSG;
	i->uuid = string_of(json, "uuid");
	i->origin = string_of(json, "origin");
	i->target = string_of(json, "target");
	i->undo = json_is_true(json_object_get(json, "undo"));
	if (!i->uuid || !i->origin || !i->target)
		return -EBADMSG;
	for (size_t d = 0; d < STEP_DEVICES; d++) {
		const json_t *device = json_object_get(devices, roles[d]);

		i->path[d] = string_of(device, "path");
		i->identity[d] = string_of(device, "identity");
		if (device && (!i->path[d] || !i->identity[d]))
			return -EBADMSG;
	}
	json_array_foreach(json_object_get(json, "steps"), k, s) {
		if (!r)
			r = step_from_json(i, s, e);
	}
	return r || i->steps.count ? r : -EBADMSG;
}

/* Is everything as it was written?  Takes the hash out. */
static bool is_whole(json_t *json)
{
	const char *stated = json_string_value(json_object_get(json, "sha256"));
	_cleanup_free_ char *copy = stated ? strdup(stated) : NULL;
	char hash[SHA256_TEXT];

	json_object_del(json, "sha256");
	return copy && !digest(json, hash) && !strcmp(copy, hash);
}

static int load(struct intent *i, FILE *file, const char *uuid, struct err *e)
{
	json_auto_t *json = json_loadf(file, JSON_REJECT_DUPLICATES, NULL);
	int r;

	if (!json && ferror(file))
		return -EIO;
	if (!json || !is_whole(json))
		return -EBADMSG;
	r = from_json(i, json, e);
	return !r && strcmp(i->uuid, uuid) ? -EBADMSG : r;
}

int intent_read(struct intent *i, const char *state_dir, const char *uuid, struct err *e)
{
	_cleanup_(intent_deinit) struct intent result = { 0 };
	_cleanup_free_ char *path = path_of(state_dir, uuid);
	_cleanup_(fclosep) FILE *file = NULL;
	struct stat st;
	int fd, r;

	if (!path)
		return err_set(e, ENOMEM, "read intent log");
	/* Nobody waits for the other end of a pipe. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? -ENOENT : err_set(e, errno, "read %s", path);
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return err_set(e, ENOMEM, "read %s", path);
	}
	r = fstat(fd, &st) || !S_ISREG(st.st_mode) ? -EBADMSG
						    : load(&result, file, uuid, e);
	if (r == -EBADMSG)
		return err_say(e, EBADMSG, "%s is damaged or not an intent log", path);
	if (r)
		return err_set(e, -r, "read %s", path);
	*i = result;
	result = (struct intent){ 0 };
	return 0;
}

/* What a kill in the middle of writing the log leaves: UUID.json.XXXXXX. */
static void remove_unfinished(const char *directory, const char *uuid)
{
	_cleanup_(closedirp) DIR *d = opendir(directory);
	size_t n = strlen(uuid);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (!strncmp(entry->d_name, uuid, n) &&
			!strncmp(entry->d_name + n, ".json.", 6))
			unlinkat(dirfd(d), entry->d_name, 0);
}

int intent_remove(const char *state_dir, const char *uuid, struct err *e)
{
	_cleanup_free_ char *path = path_of(state_dir, uuid), *directory = NULL;

	if (!path || asprintf(&directory, "%s/moves", state_dir) < 0)
		return err_set(e, ENOMEM, "remove intent log");
	remove_unfinished(directory, uuid);
	if (unlink(path) && errno != ENOENT)
		return err_set(e, errno, "remove %s", path);
	return access(directory, F_OK) ? 0 : fileio_sync_dir(directory, e);
}

int intent_keep(const char *state_dir, const char *uuid, char **kept, struct err *e)
{
	_cleanup_free_ char *path = path_of(state_dir, uuid), *directory = NULL;
	_cleanup_free_ char *to = NULL;
	int r;

	if (!path || asprintf(&directory, "%s/overwritten", state_dir) < 0)
		return err_set(e, ENOMEM, "keep intent log");
	r = fileio_make_dirs(directory, 0700, e);
	if (r)
		return r;
	/* A name of its own: an older log must never be lost to a newer one. */
	for (unsigned n = 1; !to; n++) {
		if (asprintf(&to, "%s/%s-%u.json", directory, uuid, n) < 0)
			return err_set(e, ENOMEM, "keep intent log");
		if (!renameat2(AT_FDCWD, path, AT_FDCWD, to, RENAME_NOREPLACE))
			break;
		if (errno != EEXIST)
			return err_set(e, errno, "rename %s to %s", path, to);
		free(take_ptr(to));
	}
	*kept = take_ptr(to);
	return fileio_sync_dir(directory, e);
}

void intent_deinit(struct intent *i)
{
	free(i->uuid);
	free(i->target);
	free(i->origin);
	for (size_t d = 0; d < STEP_DEVICES; d++) {
		free(i->path[d]);
		free(i->identity[d]);
	}
	step_list_deinit(&i->steps);
	*i = (struct intent){ 0 };
}
