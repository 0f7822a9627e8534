/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A library for LD_PRELOAD that records what a program really does to chosen block
 * devices, and that can make any of these operations fail, or end the program before it.
 *
 * It sits at the system calls and not above libext2fs, because the library keeps a
 * write-back cache and writes the superblock past it in pieces of two bytes: only here
 * the order and the pieces are those that a kill or a power cut would cut.
 *
 * Whether a descriptor is one of the devices is asked by fstat() at every call: dup(),
 * fork(), /proc/self/fd and inherited descriptors then need no bookkeeping.
 *
 * What would escape (a shared mapping, io_uring, a system call without libc) is found by
 * replay.c, which compares the end of the recording with the devices' real content.
 *
 * Environment:
 *   JBDLAB_TRACE_DEVICES   7:3,7:4     devices; their order numbers them
 *   JBDLAB_TRACE_LOG       FILE        see trace.h; must exist, at least one header page
 *   JBDLAB_TRACE_PROGRAMS  a,b         only programs of these names (default: all)
 *   JBDLAB_TRACE_HOOK      COMMAND     run with the operation's number before each of
 * them JBDLAB_TRACE_FAULT     KIND:N:ACTION[:EXTENT] KIND    write | sync | any     which
 * operations are counted, from 1 ACTION  eio | enospc | short | kill EXTENT  once
 * (default) | ever: from N on, this kind on this device | dead: from N on, everything on
 * this device
 */
/* The plain and the 64 bit names are both defined below, so they must stay distinct. */
#undef _FILE_OFFSET_BITS

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "trace.h"

enum fault_action { FAULT_NONE, FAULT_EIO, FAULT_ENOSPC, FAULT_SHORT, FAULT_KILL };
enum fault_extent { FAULT_ONCE, FAULT_EVER, FAULT_DEAD };
enum op_kind { KIND_ANY, KIND_WRITE, KIND_SYNC };

/* A preloaded library has nowhere else to keep its state. */
static struct recorder {
	bool ready;
	int log_fd;
	struct trace_header *header;
	unsigned int n_devices;
	dev_t device[TRACE_DEVICES_MAX];
	enum fault_action action;
	enum fault_extent extent;
	enum op_kind kind;
	uint32_t fault_at;
	const char *hook;
	pthread_mutex_t lock;
} rec = {.log_fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

typedef ssize_t (*pwrite_fn)(int, const void *, size_t, off64_t);
typedef int (*sync_fn)(int);
typedef int (*fallocate_fn)(int, int, off64_t, off64_t);
typedef int (*ioctl_fn)(int, unsigned long, void *);

static void *real(const char *name)
{
	void *fn = dlsym(RTLD_NEXT, name);

	if (!fn)
		abort();
	return fn;
}

static int word(const char *s, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(s, words[i]))
			return i;
	fprintf(stderr, "recorder: unknown word '%s' in JBDLAB_TRACE_FAULT\n", s);
	abort();
}

static void parse_fault(const char *text)
{
	static const char *const kinds[] = {"any", "write", "sync", NULL};
	static const char *const actions[] = {
		"none", "eio", "enospc", "short", "kill", NULL};
	static const char *const extents[] = {"once", "ever", "dead", NULL};
	char kind[16] = "", action[16] = "", extent[16] = "once";
	unsigned int at = 0;

	if (sscanf(text, "%15[a-z]:%u:%15[a-z]:%15[a-z]", kind, &at, action, extent) < 3)
		abort();
	rec.kind = word(kind, kinds);
	rec.action = word(action, actions);
	rec.extent = word(extent, extents);
	rec.fault_at = at;
}

static bool program_wanted(const char *list)
{
	size_t n = strlen(program_invocation_short_name);

	while (list && *list) {
		size_t len = strcspn(list, ",");

		if (len == n && !strncmp(list, program_invocation_short_name, n))
			return true;
		list += len + (list[len] == ',');
	}
	return false;
}

__attribute__((constructor)) static void recorder_start(void)
{
	const char *devices = getenv("JBDLAB_TRACE_DEVICES");
	const char *log = getenv("JBDLAB_TRACE_LOG");
	const char *programs = getenv("JBDLAB_TRACE_PROGRAMS");
	const char *fault = getenv("JBDLAB_TRACE_FAULT");
	unsigned int major_number, minor_number;
	int used;

	if (!devices || !log || (programs && *programs && !program_wanted(programs)))
		return;
	while (rec.n_devices < TRACE_DEVICES_MAX &&
		sscanf(devices, "%u:%u%n", &major_number, &minor_number, &used) == 2) {
		rec.device[rec.n_devices++] = makedev(major_number, minor_number);
		devices += used + (devices[used] == ',');
	}
	rec.log_fd = open(log, O_RDWR | O_APPEND | O_CLOEXEC);
	if (rec.log_fd < 0)
		abort();
	/* Out of the way of programs that expect low numbers, or close them all. */
	used = fcntl(rec.log_fd, F_DUPFD_CLOEXEC, 500);
	if (used >= 0) {
		close(rec.log_fd);
		rec.log_fd = used;
	}
	rec.header = mmap(NULL, TRACE_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		rec.log_fd, 0);
	if (rec.header == MAP_FAILED)
		abort();
	if (fault && *fault)
		parse_fault(fault);
	rec.hook = getenv("JBDLAB_TRACE_HOOK");
	rec.ready = true;
}

/* The number of the device behind fd, or -1 for every other file. */
static int device_of(int fd)
{
	int saved = errno, found = -1;
	struct stat st;

	if (rec.ready && fd != rec.log_fd && !fstat(fd, &st) && S_ISBLK(st.st_mode))
		for (unsigned int i = 0; i < rec.n_devices; i++)
			if (rec.device[i] == st.st_rdev)
				found = (int)i;
	errno = saved;
	return found;
}

static void append(
	enum trace_op op, int device, uint64_t offset, uint64_t bytes, const void *data)
{
	struct trace_record r = {
		.magic = TRACE_MAGIC,
		.op = op,
		.device = (uint32_t)device,
		.pid = (uint32_t)getpid(),
		.number = rec.header->ops,
		.offset = offset,
		.bytes = bytes,
		.data_bytes = data ? bytes : 0,
	};
	struct iovec iov[2] = {{&r, sizeof(r)}, {(void *)data, r.data_bytes}};
	ssize_t (*real_writev)(int, const struct iovec *, int) = real("writev");
	int saved = errno;

	if (real_writev(rec.log_fd, iov, data ? 2 : 1) !=
		(ssize_t)(sizeof(r) + r.data_bytes))
		abort();
	errno = saved;
}

/* What the hook looks at is as it would be if the program ended before this operation. */
static void run_hook(uint32_t number)
{
	char *command = NULL;

	if (asprintf(&command, "%s %u", rec.hook, number) < 0 || system(command))
		abort();
	free(command);
}

/*
 * Counts one operation, and says what shall be done to it. The process does not survive
 * FAULT_KILL.
 */
static enum fault_action next_op(
	int device, enum op_kind kind, uint64_t offset, uint64_t bytes)
{
	struct trace_header *h = rec.header;
	uint32_t any = __atomic_add_fetch(&h->ops, 1, __ATOMIC_SEQ_CST);
	uint32_t same = __atomic_add_fetch(
		kind == KIND_SYNC ? &h->syncs : &h->writes, 1, __ATOMIC_SEQ_CST);
	bool counted = rec.kind == KIND_ANY || rec.kind == kind;
	uint32_t number = rec.kind == KIND_ANY ? any : same;
	bool again = h->fault_device == (uint32_t)device + 1 &&
		     ((rec.extent == FAULT_EVER && counted) || rec.extent == FAULT_DEAD);

	if (rec.hook && *rec.hook)
		run_hook(any);
	if (rec.action == FAULT_NONE)
		return FAULT_NONE;
	if (!again && !(counted && number == rec.fault_at))
		return FAULT_NONE;
	h->fault_device = (uint32_t)device + 1;
	h->fired++;
	append(TRACE_FAULT, device, offset, bytes, NULL);
	if (rec.action == FAULT_KILL) {
		kill(getpid(), SIGKILL);
		pause();
	}
	return rec.action;
}

static int fault_errno(enum fault_action action)
{
	return action == FAULT_ENOSPC ? ENOSPC : EIO;
}

static ssize_t traced_pwrite(
	int device, int fd, const void *data, size_t bytes, off64_t offset)
{
	pwrite_fn real_pwrite = (pwrite_fn)real("pwrite64");
	enum fault_action action;
	int flags = fcntl(fd, F_GETFL);
	ssize_t done = -1;

	pthread_mutex_lock(&rec.lock);
	action = next_op(device, KIND_WRITE, (uint64_t)offset, bytes);
	if (action == FAULT_EIO || action == FAULT_ENOSPC) {
		errno = fault_errno(action);
	} else {
		if (action == FAULT_SHORT)
			bytes = (bytes + 1) / 2;
		done = real_pwrite(fd, data, bytes, offset);
	}
	if (done > 0)
		append(TRACE_WRITE, device, (uint64_t)offset, (uint64_t)done, data);
	if (done > 0 && flags >= 0 && (flags & O_DSYNC))
		append(TRACE_SYNC, device, 0, 0, NULL);
	pthread_mutex_unlock(&rec.lock);
	return done;
}

/* A write at the file position: the position must move as the caller expects. */
static ssize_t traced_write(int device, int fd, const void *data, size_t bytes)
{
	off64_t at = lseek64(fd, 0, SEEK_CUR);
	ssize_t done = traced_pwrite(device, fd, data, bytes, at);

	if (done > 0)
		lseek64(fd, at + done, SEEK_SET);
	return done;
}

static ssize_t traced_pwritev(
	int device, int fd, const struct iovec *iov, int n, off64_t offset)
{
	size_t bytes = 0, at = 0;
	ssize_t done;
	char *flat;

	for (int i = 0; i < n; i++)
		bytes += iov[i].iov_len;
	flat = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096 + 4096);
	if (!flat)
		abort();
	for (int i = 0; i < n; i++) {
		memcpy(flat + at, iov[i].iov_base, iov[i].iov_len);
		at += iov[i].iov_len;
	}
	done = traced_pwrite(device, fd, flat, bytes, offset);
	free(flat);
	return done;
}

static int traced_sync(int device, int fd, const char *name)
{
	sync_fn real_sync = (sync_fn)real(name);
	enum fault_action action;
	int r = -1;

	pthread_mutex_lock(&rec.lock);
	action = next_op(device, KIND_SYNC, 0, 0);
	if (action == FAULT_NONE)
		r = real_sync(fd);
	else
		errno = fault_errno(action);
	if (!r)
		append(TRACE_SYNC, device, 0, 0, NULL);
	pthread_mutex_unlock(&rec.lock);
	return r;
}

static int traced_fallocate(int device, int fd, int mode, off64_t offset, off64_t bytes)
{
	fallocate_fn real_fallocate = (fallocate_fn)real("fallocate64");
	bool zeroes = mode & (FALLOC_FL_ZERO_RANGE | FALLOC_FL_PUNCH_HOLE);
	enum fault_action action;
	int r = -1;

	pthread_mutex_lock(&rec.lock);
	action = next_op(device, KIND_WRITE, (uint64_t)offset, (uint64_t)bytes);
	if (action == FAULT_NONE)
		r = real_fallocate(fd, mode, offset, bytes);
	else
		errno = fault_errno(action);
	if (!r && zeroes)
		append(TRACE_ZERO, device, (uint64_t)offset, (uint64_t)bytes, NULL);
	pthread_mutex_unlock(&rec.lock);
	return r;
}

static int traced_zeroing_ioctl(int device, int fd, unsigned long request, void *arg)
{
	ioctl_fn real_ioctl = (ioctl_fn)real("ioctl");
	const uint64_t *range = arg;
	enum fault_action action;
	int r = -1;

	pthread_mutex_lock(&rec.lock);
	action = next_op(device, KIND_WRITE, range[0], range[1]);
	if (action == FAULT_NONE)
		r = real_ioctl(fd, request, arg);
	else
		errno = fault_errno(action);
	if (!r)
		append(TRACE_ZERO, device, range[0], range[1], NULL);
	pthread_mutex_unlock(&rec.lock);
	return r;
}

#define EXPORT __attribute__((visibility("default")))

EXPORT ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t offset)
{
	int device = device_of(fd);

	if (device < 0)
		return ((pwrite_fn)real("pwrite64"))(fd, data, bytes, offset);
	return traced_pwrite(device, fd, data, bytes, offset);
}

EXPORT ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
	return pwrite64(fd, data, bytes, offset);
}

EXPORT ssize_t write(int fd, const void *data, size_t bytes)
{
	ssize_t (*real_write)(int, const void *, size_t);
	int device = device_of(fd);

	if (device >= 0)
		return traced_write(device, fd, data, bytes);
	real_write = real("write");
	return real_write(fd, data, bytes);
}

EXPORT ssize_t pwritev64v2(
	int fd, const struct iovec *iov, int n, off64_t offset, int flags)
{
	ssize_t (*real_fn)(int, const struct iovec *, int, off64_t, int);
	int device = device_of(fd);

	if (device >= 0 && offset >= 0)
		return traced_pwritev(device, fd, iov, n, offset);
	if (device >= 0)
		append(TRACE_OTHER, device, 0, 0, NULL);
	real_fn = real("pwritev64v2");
	return real_fn(fd, iov, n, offset, flags);
}

EXPORT ssize_t pwritev2(int fd, const struct iovec *iov, int n, off_t offset, int flags)
{
	return pwritev64v2(fd, iov, n, offset, flags);
}

EXPORT ssize_t pwritev64(int fd, const struct iovec *iov, int n, off64_t offset)
{
	return pwritev64v2(fd, iov, n, offset, 0);
}

EXPORT ssize_t pwritev(int fd, const struct iovec *iov, int n, off_t offset)
{
	return pwritev64v2(fd, iov, n, offset, 0);
}

EXPORT ssize_t writev(int fd, const struct iovec *iov, int n)
{
	ssize_t (*real_writev)(int, const struct iovec *, int);
	int device = device_of(fd);
	off64_t at;
	ssize_t done;

	if (device < 0) {
		real_writev = real("writev");
		return real_writev(fd, iov, n);
	}
	at = lseek64(fd, 0, SEEK_CUR);
	done = traced_pwritev(device, fd, iov, n, at);
	if (done > 0)
		lseek64(fd, at + done, SEEK_SET);
	return done;
}

EXPORT int fsync(int fd)
{
	int device = device_of(fd);

	if (device < 0)
		return ((sync_fn)real("fsync"))(fd);
	return traced_sync(device, fd, "fsync");
}

EXPORT int fdatasync(int fd)
{
	int device = device_of(fd);

	if (device < 0)
		return ((sync_fn)real("fdatasync"))(fd);
	return traced_sync(device, fd, "fdatasync");
}

EXPORT int fallocate64(int fd, int mode, off64_t offset, off64_t bytes)
{
	int device = device_of(fd);

	if (device < 0)
		return ((fallocate_fn)real("fallocate64"))(fd, mode, offset, bytes);
	return traced_fallocate(device, fd, mode, offset, bytes);
}

EXPORT int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
	return fallocate64(fd, mode, offset, bytes);
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;
	int device;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == BLKZEROOUT || request == BLKDISCARD || request == BLKSECDISCARD) {
		device = device_of(fd);
		if (device >= 0)
			return traced_zeroing_ioctl(device, fd, request, arg);
	}
	return ((ioctl_fn)real("ioctl"))(fd, request, arg);
}
