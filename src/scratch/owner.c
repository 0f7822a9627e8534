/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The process that made a scratch disk; see owner.h.  Process numbers are used again, so
 * the time of the start and the boot are part of the word.
 */

#include "scratch/owner.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/fileio.h"
#include "core/macros.h"

#define START_FIELD 22 /* of /proc/PID/stat, in ticks since boot */

static char *word_of(pid_t pid)
{
	_cleanup_free_ char *stat = fileio_read_line("/proc/%d/stat", (int)pid);
	_cleanup_free_ char *boot = fileio_read_line("/proc/sys/kernel/random/boot_id");
	/* The name, field 2, may contain blanks; the last ")" ends it. */
	char *at = stat ? strrchr(stat, ')') : NULL;
	char *word;

	for (int field = 2; at && field < START_FIELD; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	if (!at || !boot)
		return NULL;
	at[strcspn(at, " ")] = '\0';
	return asprintf(&word, "%d:%s:%s", (int)pid, at, boot) < 0 ? NULL : word;
}

char *owner_self(void)
{
	return word_of(getpid());
}

pid_t owner_alive(const char *word)
{
	_cleanup_free_ char *now = NULL;
	int pid;

	if (sscanf(word, "%d:", &pid) != 1 || pid <= 0 || pid == getpid())
		return 0;
	now = word_of(pid);
	return now && !strcmp(now, word) ? pid : 0;
}
