/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Mounting and unmounting through libmount; see mount.h.
 *
 * libmount is told to look neither at fstab nor for helper programs, and not to fall back
 * to read-only when a device cannot be written: what is asked for is what is done.  For a
 * file system that refuses, mount(2) has a dozen errnos; the reason stands in the
 * kernel's log, so that what appears there meanwhile goes into the message.
 */

#include "mount/mount.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <libmount/libmount.h>

#include "mount/kernel_log.h"
#include "mount/namespace.h"

#define BUSY_TRIES 60
#define BUSY_WAIT_NS 50000000L

DEFINE_CLEANUP(struct libmnt_context *, mnt_free_context)
DEFINE_CLEANUP(struct libmnt_iter *, mnt_free_iter)
DEFINE_CLEANUP(struct libmnt_table *, mnt_unref_table)

static struct libmnt_context *new_context(void)
{
	struct libmnt_context *c = mnt_new_context();

	if (!c)
		return NULL;
	if (mnt_context_disable_helpers(c, 1) || mnt_context_disable_mtab(c, 1) ||
		mnt_context_set_optsmode(c, MNT_OMODE_NOTAB) ||
		mnt_context_enable_rwonly_mount(c, 1)) {
		mnt_free_context(c);
		return NULL;
	}
	return c;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int failed(struct libmnt_context *c, int rc, int mark, const char *device,
	const char *target, struct err *e)
{
	_cleanup_free_ char *real = realpath(device, NULL);
	_cleanup_free_ char *reason =
		kernel_log_since(mark, last_part(real ? real : device));
	char text[1024] = "";
	int code = mnt_context_get_syscall_errno(c);

	mnt_context_get_excode(c, rc, text, sizeof(text));
	if (code <= 0)
		code = rc < 0 ? -rc : EIO;
	/* For a file system that refuses, libmount only guesses: the kernel knows. */
	if (reason)
		return err_say(e, kernel_log_tells_lack(reason) ? EOPNOTSUPP : code,
			"mount %s on %s: %s; the kernel says: %s", device, target,
			strerror(code), reason);
	return err_say(e, code, "mount %s on %s: %s", device, target,
		*text ? text : strerror(code));
}

int mount_volume(const char *device, const char *target, const char *type,
	const char *options, struct err *e)
{
	_cleanup_(mnt_free_contextp) struct libmnt_context *c = new_context();
	_cleanup_close_ int mark = kernel_log_mark();
	int rc;

	if (!c || mnt_context_set_source(c, device) ||
		mnt_context_set_target(c, target) || mnt_context_set_fstype(c, type) ||
		(options && mnt_context_set_options(c, options)))
		return err_set(e, ENOMEM, "mount %s on %s", device, target);
	rc = mnt_context_mount(c);
	if (rc)
		return failed(c, rc, mark, device, target, e);
	return 0;
}

static int unmount_once(const char *target)
{
	_cleanup_(mnt_free_contextp) struct libmnt_context *c = new_context();
	int rc, code;

	if (!c || mnt_context_set_target(c, target))
		return -ENOMEM;
	rc = mnt_context_umount(c);
	if (!rc)
		return 0;
	code = mnt_context_get_syscall_errno(c);
	if (code > 0)
		return -code;
	return rc < 0 ? rc : -EIO;
}

int mount_memory(const char *target, struct err *e)
{
	if (mount("none", target, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		    "mode=0700,size=64k"))
		return err_set(e, errno, "mount a directory in memory on %s", target);
	return 0;
}

int mount_unmount(const char *target, struct err *e)
{
	const struct timespec pause = { .tv_nsec = BUSY_WAIT_NS };
	int r = -EBUSY;

	for (int i = 0; i < BUSY_TRIES && r == -EBUSY; i++) {
		if (i)
			nanosleep(&pause, NULL);
		r = unmount_once(target);
	}
	if (r == -EBUSY)
		return err_say(e, EBUSY,
			"unmount %s: it is in use; end the programs that have files open or "
			"their working directory there",
			target);
	if (r)
		return err_set(e, -r, "unmount %s", target);
	return 0;
}

char *mount_find_target(dev_t devno)
{
	_cleanup_(mnt_unref_tablep) struct libmnt_table *table = mnt_new_table();
	struct libmnt_fs *fs;

	if (!table || mnt_table_parse_file(table, "/proc/self/mountinfo"))
		return NULL;
	fs = mnt_table_find_devno(table, devno, MNT_ITER_FORWARD);
	return fs && mnt_fs_get_target(fs) ? strdup(mnt_fs_get_target(fs)) : NULL;
}

/* Two mounts of it: unmounting one would not free the device. */
static int check_only(struct libmnt_table *table, struct libmnt_fs *found, dev_t devno,
	struct err *e)
{
	_cleanup_(mnt_free_iterp) struct libmnt_iter *all = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;

	if (!all)
		return err_set(e, ENOMEM, "read mount table");
	while (!mnt_table_next_fs(table, all, &fs))
		if (fs != found && mnt_fs_get_devno(fs) == devno)
			return err_refuse(e, "%s is mounted on %s and on %s; unmount all but one",
				mnt_fs_get_source(found), mnt_fs_get_target(found),
				mnt_fs_get_target(fs));
	return 0;
}

int mount_check_alone(dev_t devno, struct err *e)
{
	_cleanup_(mnt_unref_tablep) struct libmnt_table *table = mnt_new_table();
	const char *source, *target, *root, *flags;
	struct libmnt_fs *fs;
	struct stat st;
	int r;

	if (!table || mnt_table_parse_file(table, "/proc/self/mountinfo"))
		return err_say(e, EIO, "/proc/self/mountinfo cannot be read");
	fs = mnt_table_find_devno(table, devno, MNT_ITER_FORWARD);
	if (!fs)
		return 0;
	r = check_only(table, fs, devno, e);
	if (r)
		return r;
	source = mnt_fs_get_source(fs);
	target = mnt_fs_get_target(fs);
	root = mnt_fs_get_root(fs);
	flags = mnt_fs_get_vfs_options(fs);
	if (root && strcmp(root, "/"))
		return err_refuse(e,
			"only %s of %s is mounted, on %s; unmount it, because mounting it again "
			"would show all of it there",
			root, source, target);
	if (flags && !mnt_optstr_get_option(flags, "idmapped", NULL, NULL))
		return err_refuse(e,
			"%s is mounted on %s with mapped users; unmount it, because how they are "
			"mapped cannot be read",
			source, target);
	if (stat(target, &st) || st.st_dev != devno)
		return err_refuse(e,
			"something else is mounted over %s, where %s is mounted; unmount that",
			target, source);
	return 0;
}

static char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

int mount_state_read(struct mount_state *m, dev_t devno, struct err *e)
{
	_cleanup_(mnt_unref_tablep) struct libmnt_table *table = mnt_new_table();
	struct libmnt_fs *fs;

	if (!table || mnt_table_parse_file(table, "/proc/self/mountinfo"))
		return err_say(e, EIO, "/proc/self/mountinfo cannot be read");
	fs = mnt_table_find_devno(table, devno, MNT_ITER_FORWARD);
	if (!fs)
		return -ENOENT;
	*m = (struct mount_state){ .target = copy_of(mnt_fs_get_target(fs)),
		.type = copy_of(mnt_fs_get_fstype(fs)),
		.options = mnt_fs_strdup_options(fs) };
	if (m->target && m->type && m->options)
		return 0;
	mount_state_deinit(m);
	return err_set(e, ENOMEM, "read mount table");
}

void mount_state_deinit(struct mount_state *m)
{
	free(m->target);
	free(m->type);
	free(m->options);
	*m = (struct mount_state){ 0 };
}

char *mount_options_strip_journal(const char *options, bool all)
{
	static const char *const names[] = { "journal_dev", "journal_path", "data",
		"commit", "journal_checksum", "journal_async_commit", "journal_ioprio" };
	char *left = strdup(options);

	for (size_t i = 0; left && i < (all ? ARRAY_SIZE(names) : 2); i++)
		mnt_optstr_remove_option(&left, names[i]);
	if (left && *left)
		return left;
	free(left);
	return strdup("defaults");
}

static int make_directory(char **out, struct err *e)
{
	const char *temporary = getenv("TMPDIR");
	const char *const parents[] = { "/run", temporary ? temporary : "/tmp" };
	int code = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parents); i++) {
		_cleanup_free_ char *path = NULL;

		if (asprintf(&path, "%s/jbdlab-mount.XXXXXX", parents[i]) < 0) {
			path = NULL;
			return err_set(e, ENOMEM, "make a directory to mount on");
		}
		if (mkdtemp(path)) {
			*out = take_ptr(path);
			return 0;
		}
		code = errno;
	}
	return err_set(e, code, "make a directory to mount on below %s", parents[1]);
}

static int try_once(const char *device, const char *directory, const char *type,
	const char *mode, const char *options, struct err *e)
{
	_cleanup_free_ char *all = NULL;
	int r;

	if (asprintf(&all, "%s,nosuid,nodev,noexec%s%s", mode, options ? "," : "",
		    options ? options : "") < 0) {
		all = NULL;
		return err_set(e, ENOMEM, "mount %s", device);
	}
	r = mount_volume(device, directory, type, all, e);
	return r ? r : mount_unmount(directory, e);
}

/* The modes in turn, each with an unmount. */
static int try_modes(const char *device, const char *directory, const char *type,
	const char *options, const char *const *modes, struct err *e)
{
	_cleanup_(err_clear) struct err leaving = { 0 };
	struct mount_namespace ns = MOUNT_NAMESPACE_NONE;
	int r = mount_namespace_enter(&ns, NULL, e);

	if (r)
		return r;
	for (; !r && *modes; modes++)
		r = try_once(device, directory, type, *modes, options, e);
	if (mount_namespace_leave(&ns, &leaving) && !r)
		r = err_say(e, leaving.code, "%s", err_message(&leaving));
	return r;
}

static int mount_in_turn(const char *device, const char *type, const char *options,
	const char *const *modes, struct err *e)
{
	_cleanup_free_ char *directory = NULL;
	int r = make_directory(&directory, e);

	if (!r)
		r = try_modes(device, directory, type, options, modes, e);
	if (directory && rmdir(directory) && !r)
		return err_set(e, errno, "remove %s", directory);
	return r;
}

int mount_trial(const char *device, const char *type, const char *options, struct err *e)
{
	static const char *const modes[] = { "ro", "rw", NULL };
	int r = mount_in_turn(device, type, options, modes, e);

	return r ? err_wrap(e, r, "trial mount of %s", device) : 0;
}

int mount_replay(const char *device, const char *type, const char *options, struct err *e)
{
	static const char *const modes[] = { "rw", NULL };
	int r = mount_in_turn(device, type, options, modes, e);

	return r ? err_wrap(e, r, "mount of %s to replay its log", device) : 0;
}
