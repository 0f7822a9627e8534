/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Running e2fsck; see fsck.h.  A status of 4 ("errors left uncorrected") is what -n gives
 * for every finding, also for one that e2fsck would mend without asking; for us each of
 * them means that the volume is not as it should be.  libblkid's cache is kept out
 * because it names the old place of a journal for minutes after it has moved.
 */

#include "volume/fsck.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "core/process.h"

#define LINES_SHOWN 8

/* It could not look: "operational error", in the language that we asked for. */
static bool has_failed(const struct process_outcome *o)
{
	return o->status & 8 && o->output && strstr(o->output, "Input/output error");
}

/* Status up to `good` is success. */
static int run(const char *const argv[], const char *device, int good, struct err *e)
{
	static const char *const environment[] = { "BLKID_FILE=/dev/null", "LC_ALL=C",
		NULL };
	_cleanup_(process_outcome_deinit) struct process_outcome o = { 0 };
	int r = process_run(argv, environment, &o, e);

	if (r)
		return r;
	if (o.status > 128)
		return err_say(e, EIO, "e2fsck %s %s was killed by signal %d", argv[1],
			device, o.status - 128);
	if (o.status > good)
		return err_say(e, has_failed(&o) ? EIO : EUCLEAN,
			"e2fsck %s %s ended with status %d:\n%s", argv[1], device, o.status,
			process_tail(o.output, LINES_SHOWN));
	return 0;
}

int fsck_check(const char *device, const char *journal_device, struct err *e)
{
	const char *const argv[] = { "e2fsck", "-fn", device,
		journal_device ? "-j" : NULL, journal_device, NULL };

	return run(argv, device, 0, e);
}

int fsck_repair(const char *device, const char *journal_device, struct err *e)
{
	const char *const argv[] = { "e2fsck", "-p", device, journal_device ? "-j" : NULL,
		journal_device, NULL };
	int r = run(argv, device, 1, e);

	return r ? err_wrap(e, r, "run \"e2fsck -f %s\" by hand", device) : 0;
}

int fsck_repair_all(const char *device, struct err *e)
{
	const char *const argv[] = { "e2fsck", "-fy", device, NULL };

	return run(argv, device, 1, e);
}
