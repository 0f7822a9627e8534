/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Scratch disks; see loopdisk.h.
 *
 * Parts, in the order in which they are made: the record (state.h), the data file, for a
 * model the directory in /run, the process and its mount, then the loop device.
 * dismantle.c takes them away.  The data file has a random part in its name, so that a
 * record can never name somebody else's file.
 *
 * One lock for all disks; it is held while they are made and taken away, not while they
 * are used.
 */

#include "scratch/loopdisk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include "core/fileio.h"
#include "core/macros.h"
#include "core/units.h"
#include "device/sysfs.h"
#include "scratch/calibrate.h"
#include "scratch/dismantle.h"
#include "scratch/loopdev.h"
#include "scratch/model_parameters.h"
#include "scratch/model_process.h"
#include "scratch/owner.h"
#include "scratch/state.h"

#define DEFAULT_DIRECTORY "/var/tmp"
#define LOCK_FILE "/run/jbdlab/scratch.lock"
#define MIN_BYTES (UINT64_C(64) << 10)

enum { MISC_MAJOR = 10, FUSE_MINOR = 229 }; /* Documentation/admin-guide/devices.txt */

static int take_lock(struct err *e)
{
	_cleanup_close_ int fd = -1;
	int r = fileio_make_dirs(SCRATCH_RUN_DIR, 0700, e);

	if (r)
		return r;
	fd = open(LOCK_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(e, errno, "open %s", LOCK_FILE);
	if (flock(fd, LOCK_EX))
		return err_set(e, errno, "lock %s", LOCK_FILE);
	scratch_state_remove_incomplete();
	return take_fd(fd);
}

static bool has_fuse(void)
{
	struct stat st;

	return !stat("/dev/fuse", &st) && S_ISCHR(st.st_mode) &&
	       st.st_rdev == makedev(MISC_MAJOR, FUSE_MINOR) &&
	       !access("/dev/fuse", R_OK | W_OK);
}

static int check_machine(bool with_model, struct err *e)
{
	if (geteuid() != 0)
		return err_refuse(e, "scratch disks need root: loop devices and mounts");
	if (with_model && !has_fuse())
		return err_refuse(e, "this machine has no /dev/fuse, which disk models need "
				     "(\"modprobe fuse\" may help; --model none does without)");
	return 0;
}

static int check_options(const struct scratch_options *o, struct err *e)
{
	struct model_parameters p;
	int r = scratch_name_check(o->name, e);

	if (!r && !model_is_none(o->model))
		r = model_parameters_parse(o->model, &p, e);
	if (r)
		return r;
	if (o->size_bytes < MIN_BYTES || o->size_bytes % 4096)
		return err_usage(e, "the size of a scratch disk is a multiple of 4k, at least 64k");
	return check_machine(!model_is_none(o->model), e);
}

static int choose_file(struct scratch_state *s, const char *directory, struct err *e)
{
	_cleanup_free_ char *real = realpath(directory, NULL);
	char digits[9];
	unsigned random = 0;

	if (!real)
		return err_set(e, errno, "use directory %s", directory);
	if (strchr(real, '\n'))
		return err_usage(e, "directories with a newline in their name cannot be used");
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return err_set(e, errno, "get random bytes");
	snprintf(digits, sizeof(digits), "%08x", random);
	if (asprintf(&s->file, "%s/" SCRATCH_DATA_FILE, real, s->name, digits) < 0) {
		s->file = NULL;
		return err_set(e, ENOMEM, "create scratch disk");
	}
	if (!access(s->file, F_OK))
		return err_say(e, EEXIST, "%s exists already", s->file);
	return 0;
}

static int plan(struct scratch_state *s, const struct scratch_options *o, struct err *e)
{
	s->name = strdup(o->name);
	s->model = strdup(o->model);
	s->owner = owner_self();
	s->size_bytes = o->size_bytes;
	if (!s->name || !s->model)
		return err_set(e, ENOMEM, "create scratch disk");
	return choose_file(s, o->directory ? o->directory : DEFAULT_DIRECTORY, e);
}

static int make_file(const struct scratch_state *s, const struct log *log, struct err *e)
{
	_cleanup_close_ int fd =
		open(s->file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct statvfs v;
	char wanted[16], have[16];
	uint64_t free_bytes;

	if (fd < 0)
		return err_set(e, errno, "create %s", s->file);
	if (ftruncate(fd, (off_t)s->size_bytes))
		return err_set(e, errno, "set the size of %s", s->file);
	if (fstatvfs(fd, &v))
		return err_set(e, errno, "look at the file system of %s", s->file);
	free_bytes = (uint64_t)v.f_bavail * v.f_frsize;
	units_format_bytes(s->size_bytes, wanted);
	units_format_bytes(free_bytes, have);
	if (free_bytes < s->size_bytes)
		log_line(log, LOG_WARNING,
			"%s may grow to %s, but its file system has %s free: writes will fail "
			"when it is full",
			s->file, wanted, have);
	return 0;
}

static int make_run_dir(const struct scratch_state *s, struct err *e)
{
	_cleanup_free_ char *mountpoint = scratch_run_path(s->name, MODEL_MOUNT);

	if (!mountpoint)
		return err_set(e, ENOMEM, "create scratch disk");
	return fileio_make_dirs(mountpoint, 0700, e);
}

static int start_model(const struct scratch_state *s, struct err *e)
{
	_cleanup_free_ char *run_dir = scratch_run_path(s->name, NULL);
	_cleanup_free_ char *disk = scratch_state_model_file(s);
	const struct model_process p = { .name = s->name, .model = s->model, .file = s->file,
		.size_bytes = s->size_bytes, .disk = disk, .run_dir = run_dir };
	int r;


	if (!run_dir || !disk)
		return err_set(e, ENOMEM, "create scratch disk");
	r = make_run_dir(s, e);
	return r ? r : model_process_start(&p, e);
}

/* From here on the loop device alone holds the mount: no program that looks at all mounts
 * can be held up by the model, and nothing is left to unmount when the device goes. */
static int hide_mount(const struct scratch_state *s, struct err *e)
{
	_cleanup_free_ char *mountpoint = scratch_run_path(s->name, MODEL_MOUNT);

	if (!mountpoint)
		return err_set(e, ENOMEM, "create scratch disk");
	if (umount2(mountpoint, MNT_DETACH | UMOUNT_NOFOLLOW))
		return err_set(e, errno, "hide the mount at %s", mountpoint);
	return 0;
}

/* Everything upon the data file, up to the loop device. */
static int assemble(const struct scratch_state *s, char **device, const struct log *log,
	struct err *e)
{
	_cleanup_free_ char *backing = scratch_state_backing(s);
	struct model_parameters p = { 0 };
	int r;

	if (!backing)
		return err_set(e, ENOMEM, "create scratch disk");
	r = model_is_none(s->model) ? 0 : model_parameters_parse(s->model, &p, e);
	if (!r && p.base)
		r = start_model(s, e);
	if (!r)
		r = loopdev_attach(device, backing, log, e);
	if (!r && p.base)
		r = hide_mount(s, e);
	if (!r && p.rpm)
		loopdev_set_rotational(*device);
	if (!r && p.base)
		r = calibrate_lead(s->name, *device, &p, e);
	return r;
}

/* Everything that there is of a disk but the record, which is already written. */
static int build(const struct scratch_state *s, char **device, const struct log *log,
	struct err *e)
{
	int r = make_file(s, log, e);

	return r ? r : assemble(s, device, log, e);
}

static int describe(struct scratch_disk *d, const struct scratch_state *s, struct err *e)
{
	_cleanup_free_ char *run_dir = scratch_run_path(s->name, NULL);
	char **devices = NULL;
	size_t count = 0;
	int r;

	*d = (struct scratch_disk){ .size_bytes = s->size_bytes };
	d->name = strdup(s->name);
	d->model = strdup(s->model);
	d->file = strdup(s->file);
	if (!run_dir || !d->name || !d->model || !d->file)
		return err_set(e, ENOMEM, "list scratch disks");
	r = dismantle_find(&devices, &count, s, e);
	if (r)
		return r;
	if (count)
		d->device = take_ptr(devices[0]);
	d->running = d->device && (model_is_none(s->model) || model_process_find(run_dir));
	loopdev_list_free(devices, count);
	return 0;
}

/* The record cannot be read. */
static int describe_damaged(struct scratch_disk *d, const char *name, struct err *e)
{
	*d = (struct scratch_disk){ .name = strdup(name) };
	return d->name ? 0 : err_set(e, ENOMEM, "list scratch disks");
}

int scratch_create(const struct scratch_options *o, struct scratch_disk *out,
	struct err *e)
{
	_cleanup_(scratch_state_deinit) struct scratch_state s = { 0 };
	_cleanup_(scratch_disk_deinit) struct scratch_disk d = { 0 };
	_cleanup_(err_clear) struct err ignored = { 0 };
	_cleanup_free_ char *device = NULL;
	_cleanup_close_ int lock = -1;
	int r = check_options(o, e);

	if (r)
		return r;
	/* A loop device is known by its file, and that from sysfs alone. */
	if (access(SYSFS_ROOT "/block", F_OK))
		return err_set(e, errno, "no scratch disk without sysfs: it could not be found "
					 "again; mount sysfs on /sys: " SYSFS_ROOT "/block");
	lock = take_lock(e);
	if (lock < 0)
		return lock;
	if (!scratch_state_read(&s, o->name, &ignored))
		return err_refuse(e, "there is a scratch disk \"%s\" already (\"jbdlab scratch "
				     "destroy %s\" removes it)",
			o->name, o->name);
	if (ignored.code != ENOENT)
		return err_refuse(e, "%s", err_message(&ignored));
	r = plan(&s, o, e);
	if (!r)
		r = scratch_state_write(&s, e);
	if (r)
		return r;
	r = build(&s, &device, o->log, e);
	if (!r)
		r = describe(&d, &s, e);
	if (r) {
		err_clear(&ignored);
		if (dismantle(&s, &ignored))
			log_line(o->log, LOG_WARNING, "%s", err_message(&ignored));
		return err_wrap(e, r, "create scratch disk %s", o->name);
	}
	*out = d;
	d = (struct scratch_disk){ 0 };
	return 0;
}

static int refuse_owned(const struct scratch_state *s, struct err *e)
{
	pid_t owner = s->owner ? owner_alive(s->owner) : 0;

	if (owner)
		return err_refuse(e, "it belongs to a running jbdlab, process %d, which removes "
				     "it when it ends",
			(int)owner);
	return 0;
}

/* As it was, after its process or the whole system went down. */
static int reassemble(const struct scratch_state *s, const struct log *log, struct err *e)
{
	_cleanup_free_ char *device = NULL;
	struct stat st;
	int r;

	if (stat(s->file, &st))
		return err_set(e, errno, "look at %s", s->file);
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != s->size_bytes)
		return err_say(e, EBADMSG, "%s is not the file that it was", s->file);
	r = dismantle_keep(s, e);
	if (!r)
		r = assemble(s, &device, log, e);
	if (!r)
		log_line(log, LOG_NOTE, "attached the scratch disk %s again, as %s", s->name,
			device);
	return r;
}

int scratch_adopt(const char *name, const struct log *log, struct scratch_disk *out,
	struct err *e)
{
	_cleanup_(scratch_state_deinit) struct scratch_state s = { 0 };
	_cleanup_(scratch_disk_deinit) struct scratch_disk d = { 0 };
	_cleanup_close_ int lock = -1;
	int r = scratch_name_check(name, e);

	if (r)
		return r;
	lock = take_lock(e);
	if (lock < 0)
		return lock;
	r = scratch_state_read(&s, name, e);
	if (!r)
		r = refuse_owned(&s, e);
	if (!r)
		r = describe(&d, &s, e);
	if (!r && !d.running) {
		r = reassemble(&s, log, e);
		scratch_disk_deinit(&d);
		if (!r)
			r = describe(&d, &s, e);
	}
	if (!r) {
		free(s.owner);
		s.owner = owner_self();
		r = scratch_state_write(&s, e);
	}
	if (r)
		return r == -ENOENT ? r : err_wrap(e, r, "take up scratch disk %s", name);
	*out = d;
	d = (struct scratch_disk){ 0 };
	return 0;
}

int scratch_destroy(const char *name, const struct log *log, struct err *e)
{
	_cleanup_(scratch_state_deinit) struct scratch_state s = { 0 };
	_cleanup_close_ int lock = -1;
	int r = scratch_name_check(name, e);

	if (!r)
		r = check_machine(false, e);
	if (r)
		return r;
	lock = take_lock(e);
	if (lock < 0)
		return lock;
	r = scratch_state_read(&s, name, e);
	if (r == -EBADMSG) {
		log_line(log, LOG_WARNING, "%s: its data file, jbdlab-%s-*.disk, is not removed",
			err_message(e), name);
		err_clear(e);
		r = dismantle_damaged(name, e);
	} else if (r) {
		return r;
	} else {
		r = refuse_owned(&s, e);
		if (!r)
			r = dismantle(&s, e);
		if (!r)
			log_line(log, LOG_DETAIL, "removed %s", s.file);
	}
	return r ? err_wrap(e, r, "destroy scratch disk %s", name) : 0;
}

int scratch_list(struct scratch_disk **disks, size_t *count, struct err *e)
{
	struct scratch_disk *list = NULL;
	char **names = NULL;
	size_t n = 0, done = 0;
	int r = scratch_state_names(&names, &n, e);

	if (!r) {
		list = calloc(n + 1, sizeof(*list));
		r = list ? 0 : err_set(e, ENOMEM, "list scratch disks");
	}
	for (size_t i = 0; !r && i < n; i++) {
		_cleanup_(scratch_state_deinit) struct scratch_state s = { 0 };
		_cleanup_(err_clear) struct err gone = { 0 };

		r = scratch_state_read(&s, names[i], &gone);
		if (r == -ENOENT) { /* destroyed meanwhile */
			r = 0;
			continue;
		}
		r = r ? describe_damaged(&list[done++], names[i], e)
		      : describe(&list[done++], &s, e);
	}
	scratch_state_names_free(names, n);
	if (r) {
		scratch_list_free(list, done);
		return r;
	}
	*disks = list;
	*count = done;
	return 0;
}

void scratch_disk_deinit(struct scratch_disk *d)
{
	free(d->name);
	free(d->model);
	free(d->device);
	free(d->file);
	*d = (struct scratch_disk){ 0 };
}

void scratch_list_free(struct scratch_disk *disks, size_t count)
{
	for (size_t i = 0; disks && i < count; i++)
		scratch_disk_deinit(&disks[i]);
	free(disks);
}

char *scratch_busy_file(const struct scratch_disk *d)
{
	return d->name && d->model && !model_is_none(d->model)
		? scratch_run_path(d->name, MODEL_BUSY)
		: NULL;
}

bool scratch_is_ours(const char *device)
{
	_cleanup_(err_clear) struct err ignored = { 0 };
	struct scratch_disk *disks = NULL;
	size_t count = 0;
	bool ours = false;

	if (scratch_list(&disks, &count, &ignored))
		return false;
	for (size_t i = 0; i < count; i++)
		ours |= disks[i].device && !strcmp(disks[i].device, device);
	scratch_list_free(disks, count);
	return ours;
}
