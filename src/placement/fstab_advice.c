/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * fstab after a move; see fstab_advice.h.
 *
 * The kernel finds an external journal by the device number in the superblock alone.
 * When numbers change at a reboot, a mount fails until e2fsck -p (if the sixth field of
 * fstab lets it run) or journal_path= puts it right.
 */

#include "placement/fstab_advice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/strbuf.h"
#include "mount/fstab.h"

static void warn_about_boot(const struct fstab_line *l, const struct move_options *o)
{
	if (l->is_root)
		log_line(o->log, LOG_WARNING,
			"this is the root file system: the initramfs must know the journal "
			"device; rebuild it (update-initramfs -u, dracut) and add "
			"rootflags=journal_path=... to the kernel command line");
	if (l->unchecked)
		log_line(o->log, LOG_WARNING,
			"the sixth field of fstab is 0: e2fsck -p, which finds a journal device "
			"by its UUID, never runs at boot; set it to 2");
}

int fstab_advice(const struct move_options *o, struct move_outcome *out, struct err *e)
{
	_cleanup_(fstab_line_deinit) struct fstab_line l = { 0 };
	const char *path = o->fstab ? o->fstab : fstab_path();
	const char *journal = out->mount_option ? strchr(out->mount_option, '=') + 1 : NULL;
	int r = fstab_look(&l, out->device, journal, o->to->place != JOURNAL_NONE, path, e);

	if (r || !l.target)
		return r;
	if (journal)
		warn_about_boot(&l, o);
	if (!l.differs)
		return 0;
	if (o->fstab && !o->dry_run)
		r = fstab_write(&l, out->device, path, e);
	if (r)
		return err_wrap(e, r, "the journal has moved, but fstab was not changed");
	if (asprintf(&out->fstab, "%s, %s: type %s options %s (was: type %s options %s)", path,
		    l.target, l.wanted_type, l.wanted_options, l.type, l.options) < 0) {
		out->fstab = NULL;
		return err_set(e, ENOMEM, "describe fstab");
	}
	return 0;
}
