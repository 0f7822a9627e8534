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
#include "device/twin.h"
#include "scratch/lease_file.h"
#include "scratch/loopdisk.h"
#include "scratch/system_disks.h"

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

static json_t *lease_json(const struct device_identity *id, json_t *content)
{
	const struct passwd *user = getpwuid(getuid());
	struct utsname host;
	char now[32];

	uname(&host);
	clock_format_utc(clock_wall_ns(), now);
	return json_pack("{ss,ss*,ss*,ss*,ss*,ss*,sI,sI,so,ss,ss,ss}", "schema",
		LEASE_SCHEMA, "wwn", id->wwn, "serial", id->serial, "model", id->model,
		"partuuid", id->partuuid, "backing_file", id->backing_file, "size_bytes",
		(json_int_t)id->size_bytes, "partition_start_bytes",
		(json_int_t)id->partition_start_bytes, "content", content, "host",
		host.nodename, "user", user ? user->pw_name : "?", "time", now);
}

int lease_take(const struct claim *device, const char *word, struct err *e)
{
	const struct device_identity *id = claim_identity(device);
	_cleanup_free_ char *identity = NULL, *path = NULL;
	json_t *content = NULL, *o;
	int r = system_disks_refuse(id, e);

	if (!r)
		r = device_refuse_twin(id, e);
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
	r = lease_content_read(device, &content, e);
	if (r)
		return r;
	o = lease_json(id, content);
	if (!o)
		return err_say(e, EINVAL, "the identity of %s is not valid UTF-8", id->path);
	r = lease_file_write(path, o, e);
	json_decref(o);
	return r;
}

int lease_drop(const struct claim *device, struct err *e)
{
	_cleanup_free_ char *path = NULL;
	int r = lease_path(device, &path, e);

	if (r)
		return r;
	r = lease_remove(path, e);
	return r == -ENOENT ? err_say(e, ENOENT, "%s is not leased", claim_path(device)) : r;
}

int lease_remove(const char *file, struct err *e)
{
	return unlink(file) ? err_set(e, errno, "remove %s", file)
			    : fileio_sync_dir(LEASE_DIR, e);
}

static int compare_lease(json_t *o, const struct device_identity *id, const char *path,
	struct err *e)
{
	struct device_identity leased = { .is_block = true };
	json_int_t bytes = 0, start = 0;
	const char *host;
	struct utsname here;

	if (json_unpack(o, "{ss,sI,sI,s?s,s?s,s?s,s?s,s?s}", "host", &host, "size_bytes",
		    &bytes, "partition_start_bytes", &start, "wwn", &leased.wwn, "serial",
		    &leased.serial, "model", &leased.model, "partuuid", &leased.partuuid,
		    "backing_file", &leased.backing_file))
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

/* The lease of a device that is no scratch disk of ours.  *lease is the caller's. */
static int read_lease(const struct claim *device, json_t **lease, char **path, struct err *e)
{
	const struct device_identity *id = claim_identity(device);
	json_t *o = NULL;
	int r = system_disks_refuse(id, e);

	if (!r)
		r = lease_path(device, path, e);
	if (r)
		return r;
	if (access(*path, F_OK) && errno == ENOENT)
		return err_refuse(e, "%s is not leased: if everything on it may be "
				     "overwritten, \"jbdlab scratch lease %s\" says so",
			id->path, id->path);
	r = device_refuse_twin(id, e);
	if (!r)
		r = lease_file_read(*path, &o, e);
	if (!r)
		r = compare_lease(o, id, *path, e);
	if (r)
		json_decref(o);
	else
		*lease = o;
	return r;
}

static int require(const struct claim *device, bool overwrite, struct err *e)
{
	_cleanup_free_ char *path = NULL;
	json_t *lease = NULL;
	int r;

	if (scratch_is_ours(claim_path(device)))
		return 0;
	r = read_lease(device, &lease, &path, e);
	if (!r && overwrite)
		r = lease_content_check(device, lease, e);
	json_decref(lease);
	return r;
}

int lease_require(const struct claim *device, struct err *e)
{
	return require(device, false, e);
}

int lease_require_overwrite(const struct claim *device, struct err *e)
{
	return require(device, true, e);
}

int lease_note_overwrite(const struct claim *device, bool begun, struct err *e)
{
	_cleanup_free_ char *path = NULL;
	json_t *lease = NULL, *content = NULL;
	int r;

	if (scratch_is_ours(claim_path(device)))
		return 0;
	r = read_lease(device, &lease, &path, e);
	if (!r)
		r = lease_content_read(device, &content, e);
	if (!r && (json_object_set_new(lease, "content", content) ||
			  json_object_set_new(lease, "overwriting", json_boolean(begun))))
		r = err_set(e, ENOMEM, "write %s", path);
	if (!r)
		r = lease_file_write(path, lease, e);
	json_decref(lease);
	return r;
}
