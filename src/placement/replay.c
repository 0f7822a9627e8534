/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Replaying a log; see replay.h.
 *
 * e2fsck -p replays and mends what a cut leaves.  With fast_commit e2fsck 1.47.0 refuses
 * some volumes that were cut, and drops what was fsynced on others (seen in the power-cut
 * tests, on volumes that had never moved); the kernel recovers them all, so there it goes
 * first.
 */

#include "placement/replay.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "mount/mount.h"
#include "volume/fsck.h"

static bool is_block_device(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISBLK(st.st_mode);
}

int replay_volume(const char *path, const struct volume_info *v, const char *journal,
	struct err *e)
{
	_cleanup_free_ char *options = NULL;
	int r = 0;

	if (v->needs_recovery && volume_has_feature(v, "fast_commit") &&
		is_block_device(path)) {
		if (journal && asprintf(&options, "journal_path=%s", journal) < 0)
			return err_set(e, ENOMEM, "replay %s", path);
		r = mount_replay(path, "ext4", options, e);
	}
	return r ? r : fsck_repair(path, journal, e);
}
