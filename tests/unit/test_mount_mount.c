/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Mounting an image of our own through a loop device.  Needs root and loop devices, else
 * everything is skipped.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "core/fileio.h"
#include "core/process.h"
#include "mount/mount.h"

static char directory[64], image[96], target[96];
static char *loop; /* NULL: cannot be tested here */

static int program(const char *const argv[], char **output)
{
	_cleanup_(process_outcome_deinit) struct process_outcome o = { 0 };
	struct err e = { 0 };
	int r = process_run(argv, NULL, &o, &e);

	err_clear(&e);
	if (r || o.status)
		return -1;
	if (output)
		*output = take_ptr(o.output);
	return 0;
}

static int make_volume(void **state _unused_)
{
	const char *const mke2fs[] = { "mke2fs", "-q", "-F", "-t", "ext4", "-O",
		"metadata_csum", image, NULL };
	const char *const losetup[] = { "losetup", "-f", "--show", image, NULL };
	int fd;

	strcpy(directory, "/tmp/jbdlab-unit.XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(image, sizeof(image), "%s/image", directory);
	snprintf(target, sizeof(target), "%s/mnt", directory);
	fd = open(image, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, 16 << 20) || mkdir(target, 0755))
		return -1;
	close(fd);
	/* Whoever copies the mounts of this machine meanwhile must not get ours. */
	if (geteuid() || unshare(CLONE_NEWNS) ||
		mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
		program(mke2fs, NULL) || program(losetup, &loop))
		return 0;
	loop[strcspn(loop, "\n")] = '\0';
	return 0;
}

static int remove_volume(void **state _unused_)
{
	const char *const detach[] = { "losetup", "-d", loop, NULL };

	if (loop && program(detach, NULL))
		return -1;
	free(loop);
	unlink(image);
	rmdir(target);
	return rmdir(directory);
}

static dev_t devno_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_rdev;
}

/* Directories of trial mounts that are left in /run. */
static unsigned count_left(void)
{
	DIR *run = opendir("/run");
	unsigned n = 0;

	for (struct dirent *d = run ? readdir(run) : NULL; d; d = readdir(run))
		n += !strncmp(d->d_name, "jbdlab-mount.", 13);
	if (run)
		closedir(run);
	return n;
}

/* Others may be trying mounts at the same time: theirs go away. */
static void assert_none_left(unsigned before)
{
	for (int i = 0; i < 50 && count_left() > before; i++)
		usleep(100000);
	assert_true(count_left() <= before);
}

static void what_is_mounted_is_found_and_unmounted(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };
	_cleanup_free_ char *found = NULL;
	struct statvfs fs;

	if (!loop)
		skip();
	assert_null(mount_find_target(devno_of(loop)));
	assert_int_equal(mount_volume(loop, target, "ext4", NULL, &e), 0);
	found = mount_find_target(devno_of(loop));
	assert_non_null(found);
	assert_string_equal(found, target);
	assert_int_equal(statvfs(target, &fs), 0);
	assert_false(fs.f_flag & ST_RDONLY);
	assert_int_equal(mount_unmount(target, &e), 0);
	assert_null(mount_find_target(devno_of(loop)));
}

static void options_reach_the_kernel(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };
	struct statvfs fs;

	if (!loop)
		skip();
	assert_int_equal(mount_volume(loop, target, "ext4", "ro,noexec,data=journal", &e),
		0);
	assert_int_equal(statvfs(target, &fs), 0);
	assert_true(fs.f_flag & ST_RDONLY);
	assert_true(fs.f_flag & ST_NOEXEC);
	assert_int_equal(mount_unmount(target, &e), 0);
}

static void a_bad_option_is_an_error_with_its_reason(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };

	if (!loop)
		skip();
	assert_int_equal(mount_volume(loop, target, "ext4", "data=nonsense", &e),
		-EINVAL);
	assert_non_null(strstr(err_message(&e), loop));
	/* The reason itself needs the kernel's log. */
	if (!access("/dev/kmsg", R_OK))
		assert_non_null(strstr(err_message(&e), "data"));
}

static void a_read_only_device_is_not_silently_mounted_read_only(void **state _unused_)
{
	const char *const set_ro[] = { "blockdev", "--setro", loop, NULL };
	const char *const set_rw[] = { "blockdev", "--setrw", loop, NULL };
	_cleanup_(err_clear) struct err e = { 0 };
	int r;

	if (!loop)
		skip();
	assert_int_equal(program(set_ro, NULL), 0);
	r = mount_volume(loop, target, "ext4", NULL, &e);
	assert_int_equal(program(set_rw, NULL), 0);
	assert_true(r < 0);
	assert_null(mount_find_target(devno_of(loop)));
}

static void a_busy_volume_is_not_torn_away(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };
	char path[128];
	int fd;

	if (!loop)
		skip();
	assert_int_equal(mount_volume(loop, target, "ext4", NULL, &e), 0);
	snprintf(path, sizeof(path), "%s/f", target);
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(mount_unmount(target, &e), -EBUSY);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	err_clear(&e);
	assert_int_equal(mount_unmount(target, &e), 0);
}

static void what_is_not_mounted_cannot_be_unmounted(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };

	if (!loop)
		skip();
	assert_true(mount_unmount(target, &e) < 0);
	assert_int_not_equal(e.code, EBUSY);
}

static void a_missing_device_is_an_error(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };

	if (!loop)
		skip();
	assert_true(mount_volume("/dev/no-such-device", target, "ext4", NULL, &e) < 0);
	assert_non_null(strstr(err_message(&e), "/dev/no-such-device"));
}

static void a_trial_mounts_twice_and_leaves_nothing(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };
	unsigned before = count_left();

	if (!loop)
		skip();
	assert_int_equal(mount_trial(loop, "ext4", NULL, &e), 0);
	assert_null(mount_find_target(devno_of(loop)));
	assert_int_equal(mount_trial(loop, "ext4", "data=journal", &e), 0);
	assert_none_left(before);
}

static void a_trial_that_fails_leaves_nothing_either(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };
	_cleanup_close_ int fd = -1;
	unsigned before = count_left();
	unsigned char good, bad;

	if (!loop)
		skip();
	fd = open(loop, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	/* A byte of the UUID: the checksum of the superblock no longer fits. */
	assert_int_equal(pread(fd, &good, 1, 1024 + 0x68), 1);
	bad = (unsigned char)~good;
	assert_int_equal(pwrite(fd, &bad, 1, 1024 + 0x68), 1);
	assert_int_equal(fsync(fd), 0);
	assert_true(mount_trial(loop, "ext4", NULL, &e) < 0);
	assert_non_null(strstr(err_message(&e), "trial mount"));
	assert_int_equal(pwrite(fd, &good, 1, 1024 + 0x68), 1);
	assert_int_equal(fsync(fd), 0);
	assert_null(mount_find_target(devno_of(loop)));
	assert_none_left(before);
	err_clear(&e);
	assert_int_equal(mount_trial(loop, "ext4", NULL, &e), 0);
}

/* A service that starts at any time copies all mounts; this starts many of them. */
static pid_t start_copies(void)
{
	pid_t starter = fork();

	if (starter)
		return starter;
	for (int i = 0; i < 300; i++) {
		if (fork() == 0) {
			if (!unshare(CLONE_NEWNS))
				mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL);
			sleep(3);
			_exit(0);
		}
		usleep(3000);
	}
	while (wait(NULL) > 0)
		;
	_exit(0);
}

static void a_trial_is_not_kept_busy_by_those_who_copy_mounts(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };
	pid_t starter;
	int r = 0;

	if (!loop)
		skip();
	starter = start_copies();
	assert_true(starter > 0);
	for (int i = 0; i < 20 && !r; i++)
		r = mount_trial(loop, "ext4", NULL, &e);
	assert_int_equal(waitpid(starter, NULL, 0), starter);
	assert_string_equal(err_message(&e), "");
	assert_int_equal(r, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_mounted_is_found_and_unmounted),
		cmocka_unit_test(options_reach_the_kernel),
		cmocka_unit_test(a_bad_option_is_an_error_with_its_reason),
		cmocka_unit_test(a_read_only_device_is_not_silently_mounted_read_only),
		cmocka_unit_test(a_busy_volume_is_not_torn_away),
		cmocka_unit_test(what_is_not_mounted_cannot_be_unmounted),
		cmocka_unit_test(a_missing_device_is_an_error),
		cmocka_unit_test(a_trial_mounts_twice_and_leaves_nothing),
		cmocka_unit_test(a_trial_that_fails_leaves_nothing_either),
		cmocka_unit_test(a_trial_is_not_kept_busy_by_those_who_copy_mounts),
	};

	return cmocka_run_group_tests(tests, make_volume, remove_volume);
}
