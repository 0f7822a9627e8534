/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Files of a workload; see files.h.
 *
 * Dropping caches is asked for in one of two ways, and neither promises anything: a page
 * that is mapped, locked or dirty stays.  So the result is measured: mincore(2) over all
 * of the files, a gigabyte at a time, tells what is still there.
 */

#include "workload/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* A page or two may be there for other reasons. */
#define BUFFERED_FRACTION .1
#define WINDOW_BYTES (UINT64_C(1) << 30)

int files_new(struct files **out, const struct workload_env *env, const char *type,
	size_t count, struct err *e)
{
	_cleanup_(files_freep) struct files *f = calloc(1, sizeof(*f));

	if (f)
		f->paths = calloc(count, sizeof(*f->paths));
	if (!f || !f->paths)
		return err_set(e, ENOMEM, "names of %zu files", count);
	f->log = env->log;
	for (; f->count < count; f->count++)
		if (asprintf(&f->paths[f->count], "%s/_jbdlab_%s_%ld.%zu",
			    env->directories[f->count % env->directory_count], type,
			    (long)getpid(), f->count) < 0)
			return err_set(e, ENOMEM, "names of %zu files", count);
	*out = take_ptr(f);
	return 0;
}

static int check_device(const char *path, uint64_t bytes, struct err *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	off_t size;

	if (fd < 0 || fstat(fd, &st))
		return err_set(e, errno, "open %s", path);
	if (!S_ISBLK(st.st_mode))
		return err_usage(e, "raw: %s is no block device", path);
	size = lseek(fd, 0, SEEK_END);
	if (size < 0)
		return err_set(e, errno, "size of %s", path);
	if ((uint64_t)size < bytes)
		return err_usage(e, "raw: %s has %lld bytes, and %llu are needed", path,
			(long long)size, (unsigned long long)bytes);
	return 0;
}

int files_of_devices(struct files **out, const struct workload_env *env, size_t count,
	uint64_t slice_bytes, struct err *e)
{
	_cleanup_(files_freep) struct files *f = calloc(1, sizeof(*f));
	size_t devices = env->directory_count;

	if (f)
		f->paths = calloc(count, sizeof(*f->paths));
	if (!f || !f->paths)
		return err_set(e, ENOMEM, "names of %zu devices", count);
	if (!devices)
		return err_usage(e, "raw: no device is named");
	f->log = env->log;
	f->keep = true;
	for (size_t i = 0; i < MIN(devices, count); i++) {
		size_t slices = (count - i + devices - 1) / devices;
		int r = check_device(env->directories[i], slices * slice_bytes, e);

		if (r)
			return r;
	}
	for (; f->count < count; f->count++) {
		f->paths[f->count] = strdup(env->directories[f->count % devices]);
		if (!f->paths[f->count])
			return err_set(e, ENOMEM, "names of %zu devices", count);
	}
	*out = take_ptr(f);
	return 0;
}

struct files *files_free(struct files *f)
{
	if (!f)
		return NULL;
	for (size_t i = 0; i < f->count; i++) {
		if (!f->keep && unlink(f->paths[i]) && errno != ENOENT)
			log_line(f->log, LOG_WARNING, "cannot remove %s: %s", f->paths[i],
				strerror(errno));
		free(f->paths[i]);
	}
	free(f->paths);
	free(f);
	return NULL;
}

/* A descriptor, or -1 with 0 returned when the file does not exist. */
static int open_if_exists(const char *path, int *fd, struct err *e)
{
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0 && errno != ENOENT)
		return err_set(e, errno, "open %s", path);
	return 0;
}

static int sync_file(const char *path, bool forget, struct err *e)
{
	_cleanup_close_ int fd = -1;
	int r = open_if_exists(path, &fd, e);

	if (r || fd < 0)
		return r;
	if (fsync(fd))
		return err_set(e, errno, "sync %s", path);
	if (forget)
		r = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return r ? err_set(e, r, "drop the cache of %s", path) : 0;
}

static int drop_everything(struct err *e)
{
	_cleanup_close_ int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	sync();
	if (fd < 0 || write(fd, "3\n", 2) != 2)
		return err_set(e, errno, "write /proc/sys/vm/drop_caches");
	return 0;
}

int files_settle(const struct files *f, const struct workload_env *env,
	enum result_cache *how, struct err *e)
{
	bool everything = env->drop_caches && geteuid() == 0;
	int r = 0;

	/* Each file by itself, because sync(2) reports no error. */
	for (size_t i = 0; !r && i < f->count; i++)
		r = sync_file(f->paths[i], !everything, e);
	if (!r && everything)
		r = drop_everything(e);
	if (!r)
		*how = everything ? RESULT_CACHE_DROPPED : RESULT_CACHE_ADVISED;
	return r;
}

int files_drop_caches(
	const struct workload_env *env, enum result_cache *how, struct err *e)
{
	int r;

	*how = RESULT_CACHE_KEPT;
	if (!env->drop_caches || geteuid() != 0)
		return 0;
	r = drop_everything(e);
	if (!r)
		*how = RESULT_CACHE_DROPPED;
	return r;
}

static int count_resident(
	int fd, uint64_t size, uint64_t *resident, const char *path, struct err *e)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGE_SIZE);
	_cleanup_free_ unsigned char *map = malloc(WINDOW_BYTES / page);

	if (!map)
		return err_set(e, ENOMEM, "cache map of %s", path);
	for (uint64_t at = 0; at < size; at += WINDOW_BYTES) {
		uint64_t length = MIN(size - at, WINDOW_BYTES), pages;
		void *view = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, (off_t)at);
		int r;

		if (view == MAP_FAILED)
			return err_set(e, errno, "map %s", path);
		r = mincore(view, length, map) ? errno : 0;
		munmap(view, length);
		if (r)
			return err_set(e, r, "cache map of %s", path);
		pages = (length + page - 1) / page;
		for (uint64_t i = 0; i < pages; i++)
			*resident += map[i] & 1;
	}
	return 0;
}

int files_cached_fraction(const struct files *f, double *fraction, struct err *e)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGE_SIZE), pages = 0, resident = 0;

	for (size_t i = 0; i < f->count; i++) {
		_cleanup_close_ int fd = -1;
		struct stat st;
		int r = open_if_exists(f->paths[i], &fd, e);

		if (r)
			return r;
		if (fd < 0)
			continue;
		if (fstat(fd, &st))
			return err_set(e, errno, "stat %s", f->paths[i]);
		r = count_resident(fd, (uint64_t)st.st_size, &resident, f->paths[i], e);
		if (r)
			return r;
		pages += ((uint64_t)st.st_size + page - 1) / page;
	}
	*fraction = pages ? (double)resident / (double)pages : 0;
	return 0;
}

int files_warn_if_buffered(const struct files *f, const char *what, struct err *e)
{
	double cached = 0;
	int r = files_cached_fraction(f, &cached, e);

	if (!r && cached > BUFFERED_FRACTION)
		log_line(f->log, LOG_WARNING,
			"%s: O_DIRECT was asked for, but %.0f %% of what was written is in "
			"the page cache: the file system buffered it, as ext4 does with "
			"data=journal; the rate is that of memory",
			what, 100 * cached);
	return r;
}
