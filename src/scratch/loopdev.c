/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Loop devices; see loopdev.h.
 *
 * A device is found by its backing file in sysfs, never remembered by its number: numbers
 * are given anew.  Detaching a device that is in use would only mark it to go away with
 * its last user, and report success; so it is first held exclusively.  Programs which have
 * it open without holding it (a scan for signatures) are waited for.
 */

#include "scratch/loopdev.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>

#include "core/fileio.h"
#include "core/strbuf.h"
#include "device/claim.h"
#include "device/sysfs.h"
#include "device/users.h"

#define ATTACH_TRIES 16
#define DETACH_TRIES 100
#define DETACH_WAIT_NS 50000000L
#define DELETED " (deleted)"

static int open_control(struct err *e)
{
	int fd = open("/dev/loop-control", O_RDWR | O_CLOEXEC);

	if (fd < 0 && (errno == ENOENT || errno == ENXIO || errno == ENODEV))
		return err_refuse(e, "this machine has no loop devices (no /dev/loop-control; "
				     "\"modprobe loop\" may help)");
	if (fd < 0)
		return err_set(e, errno, "open /dev/loop-control");
	return fd;
}

/* What LOOP_CONFIGURE does at once, for kernels before 5.8. */
static int configure_in_steps(int device_fd, const struct loop_config *c)
{
	if (ioctl(device_fd, LOOP_SET_FD, c->fd))
		return -errno;
	if (ioctl(device_fd, LOOP_SET_STATUS64, &c->info)) {
		int code = errno;

		ioctl(device_fd, LOOP_CLR_FD, 0);
		return -code;
	}
	ioctl(device_fd, LOOP_SET_DIRECT_IO, 1UL);
	return 0;
}

static int configure(int device_fd, int file_fd, const char *file)
{
	struct loop_config c = { .fd = (uint32_t)file_fd };

	c.info.lo_flags = LO_FLAGS_DIRECT_IO;
	snprintf((char *)c.info.lo_file_name, LO_NAME_SIZE, "%s", file);
	if (!ioctl(device_fd, LOOP_CONFIGURE, &c))
		return 0;
	if (errno != EINVAL && errno != ENOTTY)
		return -errno;
	c.info.lo_flags = 0;
	return configure_in_steps(device_fd, &c);
}

/* One attempt; -EBUSY when another program was quicker. */
static int attach_free(char **device, int control, int file_fd, const char *file,
	struct err *e)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	int number = ioctl(control, LOOP_CTL_GET_FREE), r;

	if (number < 0)
		return err_set(e, errno, "find a free loop device");
	if (asprintf(&path, "/dev/loop%d", number) < 0) {
		path = NULL;
		return err_set(e, ENOMEM, "find a free loop device");
	}
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return err_refuse(e, "%s is free but has no node in /dev: this container "
				     "cannot make loop devices",
			path);
	if (fd < 0)
		return err_set(e, errno, "open %s", path);
	r = configure(fd, file_fd, file);
	if (r && r != -EBUSY)
		return err_set(e, -r, "attach %s to %s", path, file);
	if (!r)
		*device = take_ptr(path);
	return r;
}

/* Writes a word to an attribute of the device's queue. */
static int set_queue(const char *device, const char *attribute, const char *word)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;

	if (asprintf(&path, "/sys/block/%s/queue/%s", device + 5, attribute) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 || write(fd, word, strlen(word)) < 0 ? -errno : 0;
}

/*
 * A loop device passes flushes on unless somebody told an earlier disk of this number that
 * it has no write cache: the kernel keeps that for the next one.
 */
static void let_flushes_pass(const char *device, const struct log *log)
{
	_cleanup_free_ char *cache =
		fileio_read_line("/sys/block/%s/queue/write_cache", device + 5);

	if (!cache || !strcmp(cache, "write back"))
		return;
	if (set_queue(device, "write_cache", "write back"))
		log_line(log, LOG_WARNING,
			"%s is set to \"%s\" and cannot be set to \"write back\": no flush "
			"reaches the disk on it",
			device, cache);
}

int loopdev_attach(char **device, const char *file, const struct log *log, struct err *e)
{
	_cleanup_close_ int control = open_control(e);
	_cleanup_close_ int fd = -1;
	uint64_t direct = 0;
	int r = -EBUSY;

	if (control < 0)
		return control;
	fd = open(file, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "open %s", file);
	for (int i = 0; r == -EBUSY && i < ATTACH_TRIES; i++)
		r = attach_free(device, control, fd, file, e);
	if (r == -EBUSY)
		return err_say(e, EBUSY, "other programs took every free loop device");
	if (!r && (fileio_read_u64(&direct, "/sys/block/%s/loop/dio", *device + 5) || !direct))
		log_line(log, LOG_WARNING,
			"%s has no direct I/O on %s: the page cache will hide the disk", *device,
			file);
	if (!r)
		let_flushes_pass(*device, log);
	return r;
}

static bool lies_on(const char *name, const char *file, const char *pattern)
{
	_cleanup_free_ char *backing = NULL, *dir = NULL;
	size_t n = strlen(file);

	if (asprintf(&dir, SYSFS_ROOT "/block/%s", name) < 0) {
		dir = NULL;
		return false;
	}
	backing = sysfs_backing_file(dir);
	if (!backing)
		return false;
	if (!strncmp(backing, file, n) && (!backing[n] || !strcmp(backing + n, DELETED)))
		return true;
	return !fnmatch(pattern, backing, 0);
}

int loopdev_find(char ***devices, size_t *count, const char *file, const char *pattern,
	struct err *e)
{
	size_t n, found = 0;
	char **names = sysfs_names(&n, "/sys/block");
	char **list = calloc(n + 1, sizeof(*list));
	bool failed = !list;

	for (size_t i = 0; !failed && i < n; i++) {
		if (strncmp(names[i], "loop", 4) || !lies_on(names[i], file, pattern))
			continue;
		failed = asprintf(&list[found], "/dev/%s", names[i]) < 0;
		if (failed)
			list[found] = NULL;
		else
			found++;
	}
	sysfs_names_free(names, n);
	if (failed) {
		loopdev_list_free(list, found);
		return err_set(e, ENOMEM, "find the loop device on %s", file);
	}
	*devices = list;
	*count = found;
	return 0;
}

void loopdev_list_free(char **devices, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(devices[i]);
	free(devices);
}

static bool is_attached(const char *device)
{
	_cleanup_free_ char *line =
		fileio_read_line("/sys/block/%s/loop/backing_file", device + 5);

	return line != NULL;
}

static int still_open(const char *device, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	struct stat st;

	if (!stat(device, &st))
		users_add_programs(&b, st.st_rdev, 0);
	return err_refuse(e, "%s goes away when the last program closes it: it %s", device,
		b.length ? strbuf_text(&b) : "is still open somewhere");
}

int loopdev_refuse_used(const char *device, struct err *e)
{
	_cleanup_(claim_releasep) struct claim *held = NULL;

	return claim_take(&held, device, true, e);
}

int loopdev_detach(const char *device, struct err *e)
{
	const struct timespec pause = { .tv_nsec = DETACH_WAIT_NS };
	struct claim *held = NULL;
	int r = claim_take(&held, device, true, e), code = 0;

	if (r)
		return r;
	if (ioctl(claim_fd(held), LOOP_CLR_FD, 0) && errno != ENXIO)
		code = errno;
	held = claim_release(held);
	if (code)
		return err_set(e, code, "detach %s", device);
	for (int i = 0; i < DETACH_TRIES; i++) {
		if (!is_attached(device))
			return 0;
		nanosleep(&pause, NULL);
	}
	return still_open(device, e);
}

void loopdev_set_rotational(const char *device)
{
	set_queue(device, "rotational", "1"); /* some kernels keep this for themselves */
}
