/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Devices of a run; see devices.h.  A name only finds a device.  What it is (size,
 * serial, partition UUID, backing file) is recorded when it is found, and compared before
 * each step that destroys something: names of disks change under a running system, too.
 * A process that takes up the run of an earlier one finds devices by that record alone.
 */

#include "run/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "device/find.h"
#include "device/topology.h"
#include "evidence/disk_health.h"
#include "evidence/environment.h"
#include "placement/journal_users.h"
#include "placement/reidentify.h"
#include "run/estimate.h"
#include "run/history.h"
#include "run/leftovers.h"
#include "scratch/lease.h"

void session_device_deinit(struct session_device *d)
{
	free(d->path);
	device_identity_deinit(&d->identity);
	*d = (struct session_device){0};
}

static int identify(struct session_device *d, struct err *e)
{
	_cleanup_close_ int fd = open(d->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_set(e, errno, "open %s", d->path);
	return device_identity_read(&d->identity, fd, d->path, e);
}

/* By what an earlier process recorded.  -ENODEV: it is not there. */
static int find_again(struct session_device *d, const json_t *record, struct err *e)
{
	const char *path = json_string_value(json_object_get(record, "path"));
	const char *identity = json_string_value(json_object_get(record, "identity"));
	int r;

	if (!path || !identity)
		return err_say(e, EBADMSG, "the state log does not say what %s is", d->spec);
	r = reidentify_find(&d->path, path, identity, e);
	return r != -ENODEV ? r
			    : err_refuse(e,
				      "the device that was %s (%s) is not there; connect "
				      "it, whatever name it gets",
				      path, identity);
}

int devices_find_one(struct session *s, struct session_device *d, const char *role,
	const char *name, struct err *e)
{
	_cleanup_free_ char *full = NULL;
	const json_t *record;
	int r = 0;

	if (asprintf(&full, "%s %s", role, name) < 0) {
		full = NULL;
		return err_set(e, ENOMEM, "find %s", d->spec);
	}
	record = history_last(s, "device", full);
	d->disk = experiment_disk(s->x, d->spec);
	if (d->disk && !s->disks[d->disk - s->x->disks].device)
		return 0; /* not made yet, or gone for ever */
	if (d->disk)
		d->path = strdup(s->disks[d->disk - s->x->disks].device);
	else if (record)
		r = find_again(d, record, e);
	else
		r = device_find(d->spec, &d->path, e);
	if (r)
		return r;
	if (!d->path)
		return err_set(e, ENOMEM, "find %s", d->spec);
	r = identify(d, e);
	if (!r && !d->identity.is_block)
		r = err_refuse(e,
			"%s is a file: an experiment needs block devices; a [disk] "
			"makes some",
			d->path);
	return r;
}

int devices_find(void *session, struct err *e)
{
	struct session *s = session;

	for (size_t i = 0; i < s->x->volume_count; i++) {
		int r;

		s->volumes[i].plan = &s->x->volumes[i];
		s->volumes[i].device.spec = s->x->volumes[i].device;
		if (s->volumes[i].device.path)
			continue;
		r = devices_find_one(
			s, &s->volumes[i].device, "volume", s->x->volumes[i].name, e);
		if (r)
			return err_wrap(e, r, "volume %s", s->x->volumes[i].name);
	}
	for (size_t i = 0; i < s->x->arm_count; i++) {
		int r;

		s->journals[i].spec = s->x->arms[i].placement.device;
		if (!s->journals[i].spec || s->journals[i].path)
			continue;
		r = devices_find_one(
			s, &s->journals[i], "journal", s->x->arms[i].name, e);
		/* The way back need not lead past every device. */
		if (r && s->o->mode == RUN_RESTORE) {
			log_line(s->o->log, LOG_WARNING, "journal of arm %s: %s",
				s->x->arms[i].name, err_message(e));
			err_clear(e);
			r = 0;
		}
		if (r)
			return err_wrap(e, r, "journal of arm %s", s->x->arms[i].name);
	}
	return 0;
}

/* Some disks have nothing that is unique.  As long as the system runs, the number of the
 * device and its size are better than nothing. */
static bool same_device(const struct device_identity *a, const struct device_identity *b)
{
	bool unique = a->serial || a->wwn || a->partuuid || a->backing_file;

	if (unique)
		return device_identity_same(a, b);
	return a->devno == b->devno && a->size_bytes == b->size_bytes && !b->serial &&
	       !b->wwn && !b->partuuid && !b->backing_file;
}

static int refuse_other(const struct session_device *d, struct err *e)
{
	return err_refuse(e, "%s is no longer the device that it was at the start", d->path);
}

int devices_hold(struct claim **out, const struct session_device *d, struct err *e)
{
	_cleanup_(claim_releasep) struct claim *claim = NULL;
	int r = claim_take(&claim, d->path, true, e);

	if (r)
		return r;
	if (!same_device(&d->identity, claim_identity(claim)))
		return refuse_other(d, e);
	/* The lease of what a stacked device is made of was asked for. */
	r = d->stacked ? 0 : lease_require(claim, e);
	if (!r)
		*out = take_ptr(claim);
	return r;
}

int devices_hold_to_overwrite(
	struct claim **out, const struct session_device *d, struct err *e)
{
	_cleanup_(claim_releasep) struct claim *claim = NULL;
	int r = devices_hold(&claim, d, e);

	if (!r && !d->stacked)
		r = lease_require_overwrite(claim, e);
	if (!r)
		*out = take_ptr(claim);
	return r;
}

int devices_read_volume(
	struct volume_info *info, const struct session_device *d, struct err *e)
{
	_cleanup_(claim_releasep) struct claim *claim = NULL;
	int r = devices_hold(&claim, d, e);

	return r ? r : volume_info_read(info, claim_fd(claim), d->path, e);
}

int devices_pin(int *out, const struct session_device *d, struct err *e)
{
	_cleanup_(device_identity_deinit) struct device_identity id = {0};
	_cleanup_close_ int fd = -1;
	int r;

	if (!d->path) {
		*out = -1;
		return 0;
	}
	fd = open(d->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_set(e, errno, "open %s", d->path);
	r = device_identity_read(&id, fd, d->path, e);
	if (!r && !same_device(&d->identity, &id))
		r = refuse_other(d, e);
	if (!r)
		*out = take_fd(fd);
	return r;
}

/* Two names for one device would be a volume that is its own journal. */
static int check_distinct(const struct session *s, struct err *e)
{
	for (size_t i = 0; i < s->x->volume_count; i++) {
		const struct session_device *v = &s->volumes[i].device;

		for (size_t k = 0; k < i; k++)
			if (v->path && s->volumes[k].device.identity.devno ==
						v->identity.devno)
				return err_refuse(e,
					"volumes %s and %s are the same device",
					s->x->volumes[k].name, s->x->volumes[i].name);
		for (size_t k = 0; k < s->x->arm_count; k++)
			if (v->path && s->journals[k].path &&
				s->journals[k].identity.devno == v->identity.devno)
				return err_refuse(e,
					"the journal device of arm %s is the device of "
					"volume %s",
					s->x->arms[k].name, s->x->volumes[i].name);
	}
	return 0;
}

/* A lease may be older than the use of the device as the journal of some volume.  The one
 * volume of the plan may have its journal there: it is moved away. */
static int refuse_live_journal(
	const struct session *s, const struct claim *claim, struct err *e)
{
	_cleanup_free_ char *users = journal_users_of(claim_fd(claim), claim_path(claim),
		s->x->volume_count == 1 ? s->volumes[0].device.path : NULL);

	return users ? err_refuse(e,
			       "%s is the journal of %s, which does not mount without it; "
			       "move that journal away first",
			       claim_path(claim), users)
		     : 0;
}

static int check_one(
	struct session *s, struct session_device *d, bool overwritten, struct err *e)
{
	_cleanup_(claim_releasep) struct claim *claim = NULL;
	int r;

	if (!d->path)
		return 0;
	/* Between the steps of a cell nobody holds the devices; the lock keeps out another
	 * experiment that means the same disk. */
	r = locks_take(&s->locks, &d->identity, s->o->mode != RUN_NEW, e);
	if (!r && s->past)
		r = leftovers_end(d, s->o->log, e);
	if (!r && overwritten && s->o->mode != RUN_RESTORE)
		r = devices_hold_to_overwrite(&claim, d, e);
	else if (!r)
		r = devices_hold(&claim, d, e);
	/* The volume of an earlier process may have its journal there. */
	return r || s->past ? r : refuse_live_journal(s, claim, e);
}

/* Several arms may use one journal device. */
static bool is_repeated(const struct session *s, size_t arm)
{
	for (size_t i = 0; i < arm; i++)
		if (s->journals[i].path && s->journals[arm].path &&
			s->journals[i].identity.devno == s->journals[arm].identity.devno)
			return true;
	return false;
}

/* Devices that the files of a workload cannot fit on are refused before anything on them
 * is destroyed; what the file systems themselves take, and how the files are spread over
 * several volumes, shows when they are made. */
static int check_room(const struct session *s, struct err *e)
{
	const struct session_volume *v = &s->volumes[0];
	struct estimate estimate;
	uint64_t total = 0;
	char needed[16], size[16];

	for (size_t i = 0; i < s->x->volume_count; i++) {
		if (!s->volumes[i].device.path)
			return 0;
		total += s->volumes[i].device.identity.size_bytes;
	}
	estimate_run(s->x, &estimate);
	if (estimate.space_bytes <= total)
		return 0;
	units_format_bytes(estimate.space_bytes, needed);
	units_format_bytes(total, size);
	return err_refuse(e,
		"the workloads need %s, and %s%s %s; make them smaller (size=, count=) or "
		"take a larger device",
		needed, v->device.path,
		s->x->volume_count > 1 ? " and the other volumes have" : " has", size);
}

int devices_check(void *session, struct err *e)
{
	struct session *s = session;
	int r = check_distinct(s, e);

	if (!r)
		r = check_room(s, e);
	for (size_t i = 0; !r && i < s->x->volume_count; i++)
		r = check_one(s, &s->volumes[i].device, s->x->volumes[i].type, e);
	for (size_t i = 0; !r && i < s->x->arm_count; i++)
		if (!is_repeated(s, i))
			r = check_one(s, &s->journals[i], true, e);
	return r;
}

int devices_unlock(void *session, struct err *e _unused_)
{
	locks_release(&((struct session *)session)->locks);
	return 0;
}

static int check_apart(const struct topology *bundle, const struct session_device *d,
	const char *path, struct err *e)
{
	_cleanup_(topology_deinit) struct topology t = {0};

	/* Files of scratch disks lie where the user wants them. */
	if (!d->path || scratch_is_ours(d->path) ||
		topology_read(&t, d->identity.devno, NULL))
		return 0;
	if (topology_compare(bundle, &t) != DEVICE_YES)
		return 0;
	return err_refuse(e,
		"the bundle %s would lie on the same disk as %s, and its writes would be "
		"measured: name another place with --output",
		path, d->path);
}

int devices_check_bundle(const struct session *s, const char *path, struct err *e)
{
	_cleanup_(topology_deinit) struct topology t = {0};
	_cleanup_free_ char *copy = strdup(path);
	_cleanup_close_ int fd = -1;
	char *slash = copy ? strrchr(copy, '/') : NULL;
	int r = 0;

	if (!copy)
		return err_set(e, ENOMEM, "bundle %s", path);
	if (slash)
		slash[slash == copy] = '\0';
	fd = open(slash ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "open the directory of the bundle %s", path);
	if (topology_read_file(&t, fd, path, NULL))
		return 0;
	for (size_t i = 0; !r && i < s->x->volume_count; i++)
		r = check_apart(&t, &s->volumes[i].device, path, e);
	for (size_t i = 0; !r && i < s->x->arm_count; i++)
		r = check_apart(&t, &s->journals[i], path, e);
	return r;
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) ?: json_null() : json_null();
}

static json_t *answer_to_json(enum device_answer answer)
{
	return answer == DEVICE_UNKNOWN ? json_null()
					: json_boolean(answer == DEVICE_YES);
}

static json_t *disks_below(const struct device_identity *id)
{
	_cleanup_(topology_deinit) struct topology t = {0};
	json_t *disks;

	if (topology_read(&t, id->devno, NULL))
		return json_null();
	disks = json_array();
	for (size_t i = 0; i < t.count; i++)
		json_array_append_new(disks, text_or_null(t.disks[i]));
	return disks;
}

/* Health of the disks below; {"name", ..., "readings"} of each. */
static json_t *health_below(const struct device_identity *id)
{
	_cleanup_(topology_deinit) struct topology t = {0};
	json_t *disks = json_array();

	if (!topology_read(&t, id->devno, NULL))
		for (size_t i = 0; i < t.count; i++)
			json_array_append_new(disks, disk_health(t.disks[i]));
	return disks;
}

json_t *device_to_json(
	const char *role, const char *name, const struct session_device *d)
{
	const struct device_identity *id = &d->identity;

	return json_pack("{ss,ss,ss,ss,so,so,so,so,so,so,so,sI,sI,so,so,so,so,so}", "role",
		role, "name", name, "spec", d->spec, "path", d->path, "scratch_model",
		text_or_null(d->disk ? d->disk->model : NULL), "stable_name",
		text_or_null(id->stable_name), "model", text_or_null(id->model), "serial",
		text_or_null(id->serial), "wwn", text_or_null(id->wwn), "partition_uuid",
		text_or_null(id->partuuid), "backing_file",
		text_or_null(id->backing_file), "size_bytes", (json_int_t)id->size_bytes,
		"partition_start_bytes", (json_int_t)id->partition_start_bytes,
		"rotational", answer_to_json(id->rotational), "write_cache",
		answer_to_json(id->write_cache), "disks", disks_below(id), "queue",
		environment_queue(id->kernel_name ? id->kernel_name : ""), "disk_health",
		health_below(id));
}

json_t *devices_to_json(const struct session *s)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; list && i < s->x->volume_count; i++)
		if (json_array_append_new(
			    list, device_to_json("volume", s->x->volumes[i].name,
					  &s->volumes[i].device)))
			return NULL;
	for (size_t i = 0; list && i < s->x->arm_count; i++)
		if (s->journals[i].path &&
			json_array_append_new(
				list, device_to_json("journal", s->x->arms[i].name,
					      &s->journals[i])))
			return NULL;
	return take_ptr(list);
}
