/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Replaying a log; see replay.h.
 *
 * e2fsck -p replays and mends what a cut leaves.  With fast_commit e2fsck 1.47.0 refuses
 * some volumes that were cut, and drops what was fsynced on others (seen in the power-cut
 * tests, on volumes that had never moved); the kernel recovers them all, so there it goes
 * first.  So it does when the log of a clean volume is not empty: the volume was unmounted,
 * which says that all in the log is in its place, and what is there may be older.
 */

#include "placement/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "mount/mount.h"
#include "volume/fsck.h"

static bool is_block_device(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISBLK(st.st_mode);
}

static bool journal_is_in_use(const char *path)
{
	_cleanup_(volume_info_deinit) struct volume_info info = { 0 };
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && !volume_info_read(&info, fd, path, NULL) && info.journal.readable &&
	       info.journal.start;
}

bool replay_log_is_stale(const struct volume_info *v, const char *journal)
{
	if (v->needs_recovery || !v->state_valid)
		return false;
	if (v->place == JOURNAL_INLINE)
		return v->journal.readable && v->journal.start;
	return v->place == JOURNAL_EXTERNAL && journal && journal_is_in_use(journal);
}

static bool is_for_kernel(const struct volume_info *v, const char *journal)
{
	return (v->needs_recovery && volume_has_feature(v, "fast_commit")) ||
	       replay_log_is_stale(v, journal);
}

int replay_volume(const char *path, const struct volume_info *v, const char *journal,
	struct err *e)
{
	_cleanup_free_ char *options = NULL;
	int r = 0;

	if (is_block_device(path) && is_for_kernel(v, journal)) {
		if (journal && asprintf(&options, "journal_path=%s", journal) < 0)
			return err_set(e, ENOMEM, "replay %s", path);
		r = mount_replay(path, "ext4", options, e);
	}
	return r ? r : fsck_repair(path, journal, e);
}
