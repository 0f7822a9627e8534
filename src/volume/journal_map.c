/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The blocks of an inline journal; see journal_map.h.  Checksum errors do not stop the
 * reading: a volume that is mounted changes under it.
 */

#include "volume/journal_map.h"

#include <string.h>

#include "volume/ext2err.h"
#include "volume/fd_io.h"
#include "volume/inode_runs.h"

static int read_runs(struct inode_runs *runs, const struct volume_info *v, int fd,
	struct err *e)
{
	char name[FD_IO_NAME_BYTES];
	ext2_filsys fs = NULL;
	errcode_t code;
	int r;

	fd_io_name(fd, name);
	code = ext2fs_open2(name, NULL,
		EXT2_FLAG_64BITS | EXT2_FLAG_SKIP_MMP | EXT2_FLAG_SOFTSUPP_FEATURES |
			EXT2_FLAG_IGNORE_CSUM_ERRORS,
		0, 0, fd_io_manager(), &fs);
	if (code)
		return ext2err_set(e, code, "the volume cannot be opened");
	r = inode_runs_read(runs, fs, v->journal_inode, e);
	ext2fs_free(fs);
	return r;
}

char *journal_map_read(struct volume_info *v, int fd)
{
	_cleanup_(inode_runs_deinit) struct inode_runs runs = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };

	if (read_runs(&runs, v, fd, &e))
		return strdup(err_message(&e));
	if (!runs.data.count)
		return strdup("its inode is empty");
	v->runs = take_ptr(runs.data.runs);
	v->run_count = (uint32_t)runs.data.count;
	return NULL;
}
