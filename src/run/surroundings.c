/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Surroundings of a cell; see surroundings.h.
 *
 * The run's environment.json holds a whole snapshot from its start.  A cell keeps what is
 * different from that when it begins, and what has changed when it ends: usually nothing.
 * Readings (load, pressure, temperature) always differ and are kept as they are.
 */

#include "run/surroundings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/kmsg.h"
#include "evidence/balance.h"
#include "evidence/environment.h"
#include "evidence/kernel_messages.h"
#include "evidence/work_files.h"
#include "run/devices.h"
#include "run/volumes.h"
#include "run/watched.h"
#include "volume/volume.h"

struct surroundings {
	int kernel_mark;
	json_t *before; /* snapshot */
	struct balance *balance;
	struct work_files files; /* of the workload that runs */
	json_t *positions;
};

json_t *surroundings_snapshot(const struct session *s)
{
	json_t *host = environment_host(s->o->version);
	json_t *devices = devices_to_json(s);

	return json_pack("{so?,so?}", "host", host, "devices", devices);
}

static int add(struct session *s, const char *key, json_t *value, struct err *e)
{
	return json_object_set_new(s->cell, key, value)
		? err_set(e, ENOMEM, "record the surroundings")
		: 0;
}

int surroundings_mark(void *session, struct err *e)
{
	struct session *s = session;

	s->surroundings = calloc(1, sizeof(*s->surroundings));
	if (!s->surroundings)
		return err_set(e, ENOMEM, "record the surroundings");
	s->surroundings->kernel_mark = kmsg_open_end();
	s->surroundings->positions = json_array();
	return 0;
}

int surroundings_forget(void *session, struct err *e _unused_)
{
	struct session *s = session;
	struct surroundings *r = take_ptr(s->surroundings);

	if (!r)
		return 0;
	if (r->kernel_mark >= 0)
		close(r->kernel_mark);
	json_decref(r->before);
	json_decref(r->positions);
	balance_free(r->balance);
	free(r);
	return 0;
}

/* Host and devices, readings only. */
static json_t *readings_of(const json_t *snapshot)
{
	const json_t *host = json_object_get(json_object_get(snapshot, "host"), "readings");
	json_t *disks = json_object();
	const json_t *devices = json_object_get(snapshot, "devices"), *device, *disk;
	size_t i, k;

	json_array_foreach (devices, i, device)
		json_array_foreach (json_object_get(device, "disk_health"), k, disk)
			json_object_set(disks,
				json_string_value(json_object_get(disk, "name")),
				json_object_get(disk, "readings"));
	return json_pack("{sO?,so}", "host", host, "disks", disks);
}

static int start_balance(struct session *s, struct err *e)
{
	const struct session_device *journal = &s->journals[s->arm];
	bool has_journal = session_arm(s)->placement.place != JOURNAL_NONE;
	struct watched w = { .count = 0 };
	char *names[16] = { NULL };
	struct balance_setup setup = { .disks = w.disks, .journals = names,
		.external = journal->path != NULL };
	int r;

	for (size_t i = 0; i < s->x->volume_count; i++) {
		struct statvfs st;

		watched_add(&w, &s->volumes[i].device.identity, EVIDENCE_DATA);
		if (!statvfs(s->volumes[i].directory, &st))
			setup.block_bytes = MAX(setup.block_bytes, (uint32_t)st.f_frsize);
		if (has_journal && setup.journal_count < ARRAY_SIZE(names))
			names[setup.journal_count++] = volumes_jbd2_name(s, i);
	}
	if (journal->path)
		watched_add(&w, &journal->identity, EVIDENCE_JOURNAL);
	setup.disk_count = w.count;
	r = balance_new(&s->surroundings->balance, &setup, e);
	for (size_t i = 0; i < setup.journal_count; i++)
		free(names[i]);
	return r;
}

int surroundings_before(void *session, struct err *e)
{
	struct session *s = session;
	const json_t *at_start = json_object_get(s->environment, "before");
	int r;

	s->surroundings->before = surroundings_snapshot(s);
	r = add(s, "different_from_start",
		environment_differences(at_start, s->surroundings->before), e);
	if (!r)
		r = add(s, "readings_before", readings_of(s->surroundings->before), e);
	return r ? r : start_balance(s, e);
}

/* Both are in use, so this looks without holding. */
static int read_superblock(struct volume_info *v, const char *path, struct err *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? err_set(e, errno, "open %s", path) : volume_info_read(v, fd, path, e);
}

static json_t *superblock_to_json(const struct session_volume *volume,
	const struct volume_info *v, const struct volume_info *log)
{
	_cleanup_free_ char *features = volume_features(v);
	_cleanup_free_ char *journal_features = volume_journal_features(log);
	struct statvfs st = { 0 };

	statvfs(volume->directory, &st);
	return json_pack("{ss,ss?,sI,sI,sI,sI,ss?,sI}", "uuid", v->uuid, "features", features,
		"block_bytes", (json_int_t)v->block_bytes, "size_bytes",
		(json_int_t)v->size_bytes, "free_bytes",
		(json_int_t)((uint64_t)st.f_bfree * st.f_frsize), "journal_bytes",
		(json_int_t)volume_journal_bytes(log), "journal_features",
		v->place == JOURNAL_NONE ? NULL : journal_features, "journal_block_bytes",
		(json_int_t)log->journal.block_bytes);
}

/* The superblocks while mounted: the kernel has set the features of the journal. */
static int record_superblock(struct session *s, size_t volume, struct err *e)
{
	const char *journal_path = s->journals[s->arm].path;
	_cleanup_(volume_info_deinit) struct volume_info v = { 0 }, j = { 0 };
	json_t *record = json_array_get(json_object_get(s->cell, "volumes"), volume);
	int r = read_superblock(&v, s->volumes[volume].device.path, e);

	if (!r && journal_path)
		r = read_superblock(&j, journal_path, e);
	if (r)
		return r;
	if (json_object_set_new(record, "superblock",
		    superblock_to_json(&s->volumes[volume], &v, journal_path ? &j : &v)))
		return err_set(e, ENOMEM, "record the surroundings");
	if (v.place == JOURNAL_INLINE && v.run_count &&
		json_object_set_new(record, "journal_first_byte",
			json_integer((json_int_t)(v.runs[0].first * v.block_bytes))))
		return err_set(e, ENOMEM, "record the surroundings");
	return 0;
}

int surroundings_after(void *session, struct err *e)
{
	struct session *s = session;
	struct surroundings *a = s->surroundings;
	json_auto_t *now = NULL;
	int r = 0;

	sync(); /* what we dirtied must not be missing in the balance */
	r = add(s, "devices", balance_end(a->balance), e);
	now = surroundings_snapshot(s);
	if (!r)
		r = add(s, "changed", environment_differences(a->before, now), e);
	if (!r)
		r = add(s, "readings_after", readings_of(now), e);
	if (!r)
		r = add(s, "files", json_incref(a->positions), e);
	for (size_t i = 0; !r && i < s->x->volume_count; i++)
		r = record_superblock(s, i, e);
	return r ? r : add(s, "kernel", kernel_messages_since(a->kernel_mark), e);
}

void surroundings_look_at_files(struct session *s)
{
	struct work_files now = { 0 };

	for (size_t i = 0; i < s->x->volume_count; i++)
		work_files_add(&now, s->volumes[i].directory);
	/* Later phases may have fewer files: the fullest picture is kept. */
	if (now.bytes >= s->surroundings->files.bytes)
		s->surroundings->files = now;
}

int surroundings_end_workload(struct session *s, const char *workload, struct err *e)
{
	struct work_files *files = &s->surroundings->files;
	json_t *position = work_files_to_json(files);

	*files = (struct work_files){ 0 };
	return json_array_append_new(s->surroundings->positions,
		       json_pack("{ss,so?}", "workload", workload, "place", position))
		? err_set(e, ENOMEM, "record the surroundings")
		: 0;
}
