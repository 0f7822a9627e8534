/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Leases; see lease.h.  One JSON file for each, named by a hash of the identity, so that
 * the same disk always has the same file; what it says is compared in full all the same,
 * and the host, because a cloned machine brings the file along.
 */

#include "scratch/lease.h"

#include <errno.h>
#include <jansson.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "core/clock.h"
#include "core/fileio.h"
#include "core/sha256.h"
#include "core/strbuf.h"
#include "scratch/loopdisk.h"
#include "scratch/system_disks.h"

#define LEASE_SCHEMA "jbdlab-lease/1"

static void add_fact(struct strbuf *b, const char *name, const char *value)
{
	if (value && *value)
		strbuf_addf(b, "%s%s=%s", b->length ? " " : "", name, value);
}

int lease_identity(const struct claim *device, char **text, struct err *e)
{
	const struct device_identity *id = claim_identity(device);
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	if (!id->is_block)
		return err_refuse(e, "%s is a file: leases are for disks", id->path);
	add_fact(&b, "wwn", id->wwn);
	add_fact(&b, "serial", id->serial);
	if (id->partition_start_bytes && !id->partuuid)
		return err_refuse(e, "the partition %s has no UUID by which it could be "
				     "recognised",
			id->path);
	add_fact(&b, "partuuid", id->partuuid);
	add_fact(&b, "file", id->backing_file);
	if (!b.length)
		return err_refuse(e,
			"%s has no serial number, WWN or partition UUID by which it could be "
			"recognised: give the disk a serial number, or a GPT partition and "
			"lease that",
			id->path);
	*text = strbuf_take(&b);
	return *text ? 0 : err_set(e, ENOMEM, "identify %s", id->path);
}

static int lease_path(const struct claim *device, char **path, struct err *e)
{
	_cleanup_free_ char *identity = NULL;
	char hash[SHA256_TEXT];
	int r = lease_identity(device, &identity, e);

	if (r)
		return r;
	sha256_hex(identity, strlen(identity), hash);
	if (asprintf(path, LEASE_DIR "/%.16s.json", hash) < 0) {
		*path = NULL;
		return err_set(e, ENOMEM, "find the lease of %s", claim_path(device));
	}
	return 0;
}

static bool word_fits(const struct device_identity *id, const char *identity,
	const char *word)
{
	size_t n = strlen(identity);

	if ((id->serial && !strcmp(word, id->serial)) || (id->wwn && !strcmp(word, id->wwn)))
		return true;
	return n >= LEASE_WORD_LENGTH && !strcmp(word, identity + n - LEASE_WORD_LENGTH);
}

static json_t *lease_json(const struct device_identity *id)
{
	const struct passwd *user = getpwuid(getuid());
	struct utsname host;
	char now[32];

	uname(&host);
	clock_format_utc(clock_wall_ns(), now);
	return json_pack("{ss,ss*,ss*,ss*,ss*,ss*,sI,sI,ss,ss,ss}", "schema", LEASE_SCHEMA,
		"wwn", id->wwn, "serial", id->serial, "model", id->model, "partuuid",
		id->partuuid, "backing_file", id->backing_file, "size_bytes",
		(json_int_t)id->size_bytes, "partition_start_bytes",
		(json_int_t)id->partition_start_bytes, "host", host.nodename, "user",
		user ? user->pw_name : "?", "time", now);
}

int lease_take(const struct claim *device, const char *word, struct err *e)
{
	const struct device_identity *id = claim_identity(device);
	_cleanup_free_ char *identity = NULL, *path = NULL, *text = NULL;
	json_t *o;
	int r = system_disks_refuse(id, e);

	if (!r)
		r = lease_identity(device, &identity, e);
	if (!r)
		r = lease_path(device, &path, e);
	if (r)
		return r;
	if (!word_fits(id, identity, word))
		return err_refuse(e, "\"%s\" is neither the serial number of %s nor the last "
				     "%d characters of its identity, %s",
			word, id->path, LEASE_WORD_LENGTH, identity);
	o = lease_json(id);
	text = o ? json_dumps(o, JSON_INDENT(2)) : NULL;
	json_decref(o);
	if (!text)
		return err_say(e, EINVAL, "the identity of %s is not valid UTF-8", id->path);
	r = fileio_make_dirs(LEASE_DIR, 0700, e);
	return r ? r : fileio_write_durable(path, text, strlen(text), 0600, e);
}

int lease_drop(const struct claim *device, struct err *e)
{
	_cleanup_free_ char *path = NULL;
	int r = lease_path(device, &path, e);

	if (r)
		return r;
	if (unlink(path)) {
		if (errno == ENOENT)
			return err_say(e, ENOENT, "%s is not leased", claim_path(device));
		return err_set(e, errno, "remove %s", path);
	}
	return fileio_sync_dir(LEASE_DIR, e);
}

static int compare_lease(json_t *o, const struct device_identity *id, const char *path,
	struct err *e)
{
	struct device_identity leased = { .is_block = true };
	json_int_t bytes = 0, start = 0;
	const char *schema, *host;
	struct utsname here;

	if (json_unpack(o, "{ss,ss,sI,sI,s?s,s?s,s?s,s?s,s?s}", "schema", &schema, "host",
		    &host, "size_bytes", &bytes, "partition_start_bytes", &start, "wwn",
		    &leased.wwn, "serial", &leased.serial, "model", &leased.model, "partuuid",
		    &leased.partuuid, "backing_file", &leased.backing_file) ||
		strcmp(schema, LEASE_SCHEMA))
		return err_refuse(e, "%s is no lease", path);
	leased.size_bytes = (uint64_t)bytes;
	leased.partition_start_bytes = (uint64_t)start;
	uname(&here);
	if (strcmp(host, here.nodename))
		return err_refuse(e, "the lease of %s was taken on another machine, %s",
			id->path, host);
	if (!device_identity_same(&leased, id))
		return err_refuse(e, "%s is not the disk that was leased: something but its "
				     "identity has changed (see %s)",
			id->path, path);
	return 0;
}

int lease_require(const struct claim *device, struct err *e)
{
	const struct device_identity *id = claim_identity(device);
	_cleanup_free_ char *path = NULL, *text = NULL;
	json_error_t where;
	json_t *o;
	int r;

	if (scratch_is_ours(claim_path(device)))
		return 0;
	r = system_disks_refuse(id, e);
	if (!r)
		r = lease_path(device, &path, e);
	if (r)
		return r;
	if (access(path, F_OK) && errno == ENOENT)
		return err_refuse(e, "%s is not leased: if everything on it may be "
				     "overwritten, \"jbdlab scratch lease %s\" says so",
			id->path, id->path);
	r = fileio_read(path, &text, NULL, e);
	if (r)
		return r;
	o = json_loads(text, 0, &where);
	if (!o)
		return err_refuse(e, "%s: line %d: %s", path, where.line, where.text);
	r = compare_lease(o, id, path, e);
	json_decref(o);
	return r;
}
