/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Leftovers of a killed run; see leftovers.h.  The volumes of a run are mounted in a
 * namespace of its own, which nobody enters but what the run itself has started.
 */

#include "run/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "core/fileio.h"

enum { TRIES = 100, PAUSE_MS = 50 };

DEFINE_CLEANUP(DIR *, closedir)
DEFINE_CLEANUP(FILE *, fclose)

static bool has_mounted(pid_t pid, dev_t devno)
{
	_cleanup_(fclosep) FILE *file = NULL;
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		unsigned major_number, minor_number;
		int at = 0;

		if (sscanf(line, "%*u %*u %u:%u %*s %n", &major_number, &minor_number,
			    &at) == 2 &&
			at && makedev(major_number, minor_number) == devno &&
			!strncmp(line + at, RUN_TARGET_DIRECTORY "/",
				strlen(RUN_TARGET_DIRECTORY "/")))
			return true;
	}
	return false;
}

/* How many there are; all but ourselves are ended. */
static unsigned end_all(dev_t devno, const struct log *log)
{
	_cleanup_(closedirp) DIR *proc = opendir("/proc");
	struct dirent *entry;
	unsigned count = 0;

	while (proc && (entry = readdir(proc))) {
		pid_t pid = atoi(entry->d_name);
		_cleanup_free_ char *name = NULL;

		if (pid <= 0 || pid == getpid() || !has_mounted(pid, devno))
			continue;
		count++;
		name = fileio_read_line("/proc/%d/comm", (int)pid);
		if (!kill(pid, SIGKILL) && name)
			log_line(log, LOG_DETAIL,
				"ended process %d (%s), which the run has left behind",
				(int)pid, name);
	}
	return count;
}

int leftovers_end(const struct session_device *d, const struct log *log, struct err *e)
{
	const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};

	for (int i = 0; i < TRIES; i++) {
		if (!end_all(d->identity.devno, log))
			return 0;
		nanosleep(&pause, NULL);
	}
	return err_say(e, EBUSY,
		"%s is still mounted by processes that the run has left behind and that do "
		"not end: its disk may hang; a reboot ends them",
		d->path);
}
