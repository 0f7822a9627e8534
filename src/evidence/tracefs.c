/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * An own tracer; see tracefs.h.
 *
 * An instance is a directory that is made with mkdir and removed with rmdir, which the
 * kernel refuses while a file in it is open.  We keep tracing_on open all the time, so a
 * name of ours that can be removed belongs to nobody: that is how what a killed run left
 * is found, without asking for process numbers, which other PID namespaces use too.
 *
 * The buffers are bounded and nothing is read while a phase runs: reading would compete
 * with the workload.  When they are full, the oldest events are overwritten.
 */

#include "evidence/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"

#define INSTANCE_PREFIX "jbdlab-"

/* Of all processors together, and of one at most. */
enum { BUFFER_ALL_KB = 65536, BUFFER_ONE_KB = 8192 };

struct tracefs {
	int root;      /* of tracefs */
	int directory; /* of the instance */
	int switch_fd; /* tracing_on */
	char name[32];
	bool made;
};

static int put(int directory, const char *name, const char *text, struct err *e)
{
	_cleanup_close_ int fd = openat(directory, name, O_WRONLY | O_TRUNC | O_CLOEXEC);
	size_t n = strlen(text);

	if (fd < 0)
		return err_set(e, errno, "open %s of the tracer", name);
	if (write(fd, text, n) != (ssize_t)n)
		return err_set(e, errno, "write \"%s\" to %s of the tracer", text, name);
	return 0;
}

static bool has_instances(int root)
{
	struct stat st;

	return !fstatat(root, "instances", &st, 0) && S_ISDIR(st.st_mode);
}

/* A mount that is attached nowhere; it goes with its descriptor. */
static int mount_detached(void)
{
	_cleanup_close_ int fs = fsopen("tracefs", FSOPEN_CLOEXEC);
	int mount_fd;

	if (fs < 0)
		return errno == ENODEV ? -ENOENT : -errno;
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return -errno;
	mount_fd = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	return mount_fd < 0 ? -errno : mount_fd;
}

static int open_root(struct err *e)
{
	static const char *const places[] = { "/sys/kernel/tracing",
		"/sys/kernel/debug/tracing" };
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && has_instances(fd))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	fd = mount_detached();
	if (fd >= 0 && !has_instances(fd)) {
		close(fd);
		fd = -ENOENT;
	}
	if (fd == -ENOENT)
		return err_say(e, ENOENT, "this kernel has no tracefs with instances");
	return fd < 0 ? err_set(e, -fd, "open tracefs") : fd;
}

static void remove_orphans(int instances)
{
	int copy = openat(instances, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *d;

	if (!dir && copy >= 0)
		close(copy);
	while (dir && (d = readdir(dir)))
		if (!strncmp(d->d_name, INSTANCE_PREFIX, strlen(INSTANCE_PREFIX)))
			unlinkat(instances, d->d_name, AT_REMOVEDIR);
	if (dir)
		closedir(dir);
}

static int make_instance(struct tracefs *t, pid_t process, struct err *e)
{
	_cleanup_close_ int instances = openat(t->root, "instances",
		O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (instances < 0)
		return err_set(e, errno, "open instances of tracefs");
	remove_orphans(instances);
	snprintf(t->name, sizeof(t->name), INSTANCE_PREFIX "%d", (int)process);
	if (mkdirat(instances, t->name, 0700))
		return err_set(e, errno, "make the tracer %s", t->name);
	t->made = true;
	t->directory = openat(instances, t->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->directory < 0)
		return err_set(e, errno, "open the tracer %s", t->name);
	t->switch_fd = openat(t->directory, "tracing_on", O_RDWR | O_CLOEXEC);
	return t->switch_fd < 0 ? err_set(e, errno, "open the tracer %s", t->name) : 0;
}

static int set_up(struct tracefs *t, struct err *e)
{
	long processors = sysconf(_SC_NPROCESSORS_CONF);
	char kb[16];
	int r = tracefs_stop(t, e);

	snprintf(kb, sizeof(kb), "%ld",
		MIN((long)BUFFER_ONE_KB, BUFFER_ALL_KB / MAX(processors, 1L)));
	if (!r)
		r = put(t->directory, "trace_clock", "mono", e);
	if (!r)
		r = put(t->directory, "buffer_size_kb", kb, e);
	return r;
}

int tracefs_open(struct tracefs **out, pid_t process, struct err *e)
{
	_cleanup_(tracefs_closep) struct tracefs *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return err_set(e, ENOMEM, "trace");
	t->directory = t->switch_fd = -1;
	t->root = open_root(e);
	if (t->root < 0)
		return t->root;
	r = make_instance(t, process, e);
	if (!r)
		r = set_up(t, e);
	if (!r)
		*out = take_ptr(t);
	return r;
}

struct tracefs *tracefs_close(struct tracefs *t)
{
	char path[64];

	if (!t)
		return NULL;
	closep(&t->switch_fd);
	closep(&t->directory);
	snprintf(path, sizeof(path), "instances/%s", t->name);
	if (t->made)
		unlinkat(t->root, path, AT_REMOVEDIR);
	closep(&t->root);
	free(t);
	return NULL;
}

int tracefs_enable(struct tracefs *t, const char *event, const char *filter, struct err *e)
{
	char path[128];
	int r = 0;

	if (filter) {
		snprintf(path, sizeof(path), "events/%s/filter", event);
		r = put(t->directory, path, filter, e);
	}
	snprintf(path, sizeof(path), "events/%s/enable", event);
	return r ? r : put(t->directory, path, "1", e);
}

static int turn(struct tracefs *t, const char *to, struct err *e)
{
	return pwrite(t->switch_fd, to, 1, 0) == 1 ? 0
						   : err_set(e, errno, "switch the tracer");
}

int tracefs_start(struct tracefs *t, struct err *e)
{
	int r = put(t->directory, "trace", "", e); /* empties it */

	return r ? r : turn(t, "1", e);
}

int tracefs_stop(struct tracefs *t, struct err *e)
{
	return turn(t, "0", e);
}

/* "overrun: 12" and "oldest event ts:   639.187655" of one processor. */
static void add_loss(struct tracefs_loss *loss, FILE *stats)
{
	uint64_t lost = 0, value, seconds, us, oldest_ns = 0;
	char line[128];

	while (fgets(line, sizeof(line), stats)) {
		if (sscanf(line, "overrun: %" SCNu64, &value) == 1 ||
			sscanf(line, "dropped events: %" SCNu64, &value) == 1)
			lost += value;
		else if (sscanf(line, "oldest event ts: %" SCNu64 ".%" SCNu64, &seconds,
				 &us) == 2)
			oldest_ns = seconds * NS_PER_S + us * NS_PER_US;
	}
	if (lost)
		loss->complete_from_ns = MAX(loss->complete_from_ns, oldest_ns);
	loss->events += lost;
}

static FILE *open_file(int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (!file && fd >= 0)
		close(fd);
	return file;
}

int tracefs_loss(struct tracefs *t, struct tracefs_loss *loss, struct err *e)
{
	long processors = sysconf(_SC_NPROCESSORS_CONF);

	*loss = (struct tracefs_loss){ 0 };
	for (long i = 0; i < processors; i++) {
		char path[64];
		FILE *stats;

		snprintf(path, sizeof(path), "per_cpu/cpu%ld/stats", i);
		stats = open_file(t->directory, path);
		if (!stats && errno == ENOENT) /* a processor that is not there */
			continue;
		if (!stats)
			return err_set(e, errno, "open %s of the tracer", path);
		add_loss(loss, stats);
		fclose(stats);
	}
	return 0;
}

int tracefs_each_line(struct tracefs *t,
	int (*visit)(void *data, const char *line, struct err *e), void *data, struct err *e)
{
	FILE *trace = open_file(t->directory, "trace");
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int r = 0;

	if (!trace)
		return err_set(e, errno, "open trace of the tracer");
	while (!r && (n = getline(&line, &room, trace)) > 0) {
		line[n - 1] = '\0';
		if (line[0] != '#')
			r = visit(data, line, e);
	}
	if (!r && ferror(trace))
		r = err_set(e, errno, "read the trace");
	fclose(trace);
	return r;
}
