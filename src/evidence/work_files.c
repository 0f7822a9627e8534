/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Positions of files; see work_files.h.  Nothing is synced for it, so that looking does not
 * change what is looked at. */

#include "evidence/work_files.h"

#include <fcntl.h>
#include <fts.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/macros.h"

enum { FILES_MAX = 2000, EXTENTS_AT_ONCE = 128 };

static void add_extent(struct work_files *w, const struct fiemap_extent *x)
{
	if (x->fe_flags & (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC) || !x->fe_length)
		return;
	if (!w->bytes || x->fe_physical < w->first_byte)
		w->first_byte = x->fe_physical;
	if (x->fe_physical + x->fe_length > w->last_byte)
		w->last_byte = x->fe_physical + x->fe_length;
	w->moment += (double)x->fe_length *
		((double)x->fe_physical + (double)x->fe_length / 2);
	w->bytes += x->fe_length;
	w->extents++;
}

static void add_file(struct work_files *w, const char *path)
{
	union {
		struct fiemap map;
		char room[sizeof(struct fiemap) +
			EXTENTS_AT_ONCE * sizeof(struct fiemap_extent)];
	} u;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	uint64_t from = 0;
	bool last = false;

	while (fd >= 0 && !last) {
		memset(&u.map, 0, sizeof(u.map));
		u.map.fm_start = from;
		u.map.fm_length = FIEMAP_MAX_OFFSET - from;
		u.map.fm_extent_count = EXTENTS_AT_ONCE;
		if (ioctl(fd, FS_IOC_FIEMAP, &u.map) || !u.map.fm_mapped_extents)
			break;
		for (uint32_t i = 0; i < u.map.fm_mapped_extents; i++) {
			const struct fiemap_extent *x = &u.map.fm_extents[i];

			add_extent(w, x);
			from = x->fe_logical + x->fe_length;
			last = x->fe_flags & FIEMAP_EXTENT_LAST;
		}
	}
}

void work_files_add(struct work_files *w, const char *directory)
{
	char *const roots[] = { (char *)directory, NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	FTSENT *entry;

	w->complete = walk != NULL;
	while (walk && (entry = fts_read(walk))) {
		if (entry->fts_info != FTS_F)
			continue;
		if (w->files == FILES_MAX) {
			w->complete = false;
			break;
		}
		w->files++;
		add_file(w, entry->fts_path);
	}
	if (walk)
		fts_close(walk);
}

double work_files_mean(const struct work_files *w)
{
	return w->bytes ? w->moment / (double)w->bytes : NAN;
}

json_t *work_files_to_json(const struct work_files *w)
{
	if (!w->bytes)
		return json_null();
	return json_pack("{sI,sI,sI,sI,sI,sf,sb}", "files", (json_int_t)w->files, "extents",
		(json_int_t)w->extents, "bytes", (json_int_t)w->bytes, "first_byte",
		(json_int_t)w->first_byte, "last_byte", (json_int_t)w->last_byte, "mean_byte",
		work_files_mean(w), "complete", w->complete);
}
