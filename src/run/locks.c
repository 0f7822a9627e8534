/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Locks by identity; see locks.h.  Files in memory, named by the hash of what they mean.
 * The holder removes his; who opened it before and locks it after that holds a file
 * without a name, sees it, and starts again. */

#include "run/locks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/fileio.h"
#include "core/sha256.h"
#include "device/topology.h"
#include "placement/intent.h"

#define LOCK_DIRECTORY "/run/jbdlab/locks"
#define LOCK_PATH_BYTES (sizeof(LOCK_DIRECTORY) + SHA256_TEXT + 1)

enum { TRIES = 100, PAUSE_MS = 50 };

static bool has(const struct locks *l, const char *name)
{
	for (size_t i = 0; i < l->count; i++)
		if (!strcmp(l->items[i].name, name))
			return true;
	return false;
}

static int lock_file(int fd, bool patient)
{
	const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};

	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB); i++) {
		if (errno != EWOULDBLOCK || !patient || i == TRIES)
			return -errno;
		nanosleep(&pause, NULL);
	}
	return 0;
}

static void path_of(const char *name, char path[static LOCK_PATH_BYTES])
{
	char hash[SHA256_TEXT];

	sha256_hex(name, strlen(name), hash);
	snprintf(path, LOCK_PATH_BYTES, LOCK_DIRECTORY "/%s", hash);
}

static bool has_name(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_nlink;
}

/* A locked file that has a name, -EWOULDBLOCK without a message when another holds it. */
static int open_lock(const char *name, bool patient, struct err *e)
{
	char path[LOCK_PATH_BYTES];
	int r = fileio_make_dirs(LOCK_DIRECTORY, 0700, e);

	if (r)
		return r;
	path_of(name, path);
	for (;;) {
		_cleanup_close_ int fd =
			open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

		if (fd < 0)
			return err_set(e, errno, "open %s", path);
		r = lock_file(fd, patient);
		if (r)
			return r == -EWOULDBLOCK ? r : err_set(e, -r, "lock %s", path);
		if (has_name(fd))
			return take_fd(fd);
	}
}

static int take(struct locks *l, const char *name, const char *shown, bool patient,
	struct err *e)
{
	struct lock *items = reallocarray(l->items, l->count + 1, sizeof(*items));
	_cleanup_free_ char *copy = strdup(name);
	_cleanup_close_ int fd = -1;

	if (items)
		l->items = items;
	if (!items || !copy)
		return err_set(e, ENOMEM, "lock %s", shown);
	if (has(l, name))
		return 0;
	fd = open_lock(name, patient, e);
	if (fd == -EWOULDBLOCK)
		return err_refuse(e, "%s is in use by another experiment", shown);
	if (fd < 0)
		return fd;
	items[l->count++] = (struct lock){take_ptr(copy), take_fd(fd)};
	return 0;
}

static int take_disks(struct locks *l, const struct device_identity *id, bool patient,
	struct err *e)
{
	_cleanup_(topology_deinit) struct topology t = {0};
	int r = 0;

	if (topology_read(&t, id->devno, NULL))
		return 0;
	for (size_t i = 0; !r && i < t.count; i++) {
		_cleanup_free_ char *name = NULL, *shown = NULL;

		if (asprintf(&name, "disk %s", t.disks[i]) < 0 ||
			asprintf(&shown, "the disk %s below %s", t.disks[i], id->path) < 0)
			return err_set(e, ENOMEM, "lock %s", id->path);
		r = take(l, name, shown, patient, e);
	}
	return r;
}

int locks_take(struct locks *l, const struct device_identity *id, bool patient,
	struct err *e)
{
	_cleanup_free_ char *identity = intent_identity(id), *name = NULL;
	int r;

	/* A size alone fits many devices: then the name has to do. */
	if (!identity || asprintf(&name, "%s %s", identity,
				 strchr(identity, ' ') ? "" : id->path) < 0)
		return err_set(e, ENOMEM, "lock %s", id->path);
	r = take(l, name, id->path, patient, e);
	if (!r && !id->backing_file)
		r = take_disks(l, id, patient, e);
	return r;
}

void locks_release(struct locks *l)
{
	for (size_t i = 0; i < l->count; i++) {
		char path[LOCK_PATH_BYTES];

		path_of(l->items[i].name, path);
		unlink(path);
		close(l->items[i].fd);
		free(l->items[i].name);
	}
	free(l->items);
	*l = (struct locks){0};
}
