/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Room for the files of a workload; see space.h.  A full file system costs others more
 * than a benchmark is worth, and one that is nearly full is measured at its worst: hence
 * the tenth.  Blocks reserved for root do not count as free.
 */

#include "workload/space.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "core/units.h"

static int stat_directory(const char *path, struct stat *st, struct err *e)
{
	if (stat(path, st))
		return err_usage(e, "directory %s: %s", path, strerror(errno));
	if (!S_ISDIR(st->st_mode))
		return err_usage(e, "%s is not a directory", path);
	if (access(path, W_OK | X_OK))
		return err_set(e, errno, "directory %s", path);
	return 0;
}

static int check_one(
	const struct workload *w, const char *path, uint64_t needed, struct err *e)
{
	char free_text[16], needed_text[16];
	struct statvfs fs;
	uint64_t free_bytes;

	if (statvfs(path, &fs))
		return err_set(e, errno, "free space of %s", path);
	free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (free_bytes >= needed)
		return 0;
	units_format_bytes(free_bytes, free_text);
	units_format_bytes(needed, needed_text);
	return err_refuse(e,
		"%s has %s free (%llu bytes), but workload %s needs %s there (%llu "
		"bytes, a "
		"tenth to spare included); give it a smaller size or another directory",
		path, free_text, (unsigned long long)free_bytes, workload_name(w),
		needed_text, (unsigned long long)needed);
}

int workload_check_space(const struct workload *w, const char *const *directories,
	size_t count, struct err *e)
{
	uint64_t share = workload_space(w) / count;

	share += share / 10;
	for (size_t i = 0; i < count; i++) {
		struct stat st, other;
		size_t same = 0;
		int r = stat_directory(directories[i], &st, e);

		for (size_t k = 0; !r && k < count; k++) {
			r = stat_directory(directories[k], &other, e);
			same += !r && other.st_dev == st.st_dev;
		}
		if (!r)
			r = check_one(w, directories[i], share * same, e);
		if (r)
			return r;
	}
	return 0;
}
