/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Giving up a lost journal; see lost_journal.h.
 *
 * One write of the superblock takes away the pointers, needs_recovery and the clean flag.
 * tune2fs -f promises this and then fails on a volume that needs recovery, because it
 * tries to read the log first.
 */

#include "placement/lost_journal.h"

#include <errno.h>
#include <unistd.h>

#include "core/fileio.h"
#include "volume/fsck.h"
#include "volume/superblock.h"

static int forget(const struct subject *s, struct err *e)
{
	int fd = claim_fd(s->volume.claim);
	const char *name = s->volume.path;
	struct superblock before, after;
	int r = superblock_read(&before, fd, SUPERBLOCK_OFFSET_BYTES, name, e);

	if (r)
		return r;
	after = before;
	superblock_set_journal(&after, &(struct superblock_journal){ 0 });
	superblock_set_needs_recovery(&after, false);
	superblock_set_valid(&after, false);
	r = superblock_seal_first(&after, &before, e);
	if (!r)
		r = fileio_pwrite_full(fd, after.bytes, sizeof(after.bytes),
			SUPERBLOCK_OFFSET_BYTES, name, e);
	if (!r && fsync(fd))
		r = err_set(e, errno, "flush %s", name);
	return r;
}

int lost_journal_give_up(struct subject *s, const struct log *log, struct err *e)
{
	int r;

	log_line(log, LOG_WARNING,
		"giving up the lost journal of %s (UUID %s): what was only in it is lost",
		s->volume.path, s->volume.info.journal_uuid);
	r = forget(s, e);
	subject_release(s);
	if (r)
		return r;
	log_line(log, LOG_NOTE, "checking and mending %s with e2fsck -fy", s->volume.path);
	return fsck_repair_all(s->volume.path, e);
}
