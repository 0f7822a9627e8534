/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Inhibitor lock; see inhibit.h.  systemd-inhibit holds it while a program runs.  The
 * program is cat at the end of a pipe: it ends when we close our end or die.
 */

#include "core/inhibit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/macros.h"

/* failed: is closed when systemd-inhibit runs, and written to when it cannot. */
static void become_inhibitor(const char *why, int pipe_end, int failed)
{
	_cleanup_free_ char *argument = NULL;
	int null = open("/dev/null", O_WRONLY);
	sigset_t none;

	setsid(); /* ^C is for us */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (asprintf(&argument, "--why=%s", why) < 0 || null < 0 || dup2(pipe_end, 0) < 0 ||
		dup2(null, 1) < 0 || dup2(null, 2) < 0 ||
		execlp("systemd-inhibit", "systemd-inhibit", "--what=sleep:shutdown:idle",
			"--mode=block", "--who=jbdlab", argument, "cat", NULL) < 0)
		dprintf(failed, "%s", "!");
	_exit(127);
}

struct inhibit inhibit_begin(const char *why)
{
	struct inhibit i = INHIBIT_NONE;
	_cleanup_close_ int failed = -1;
	int pair[2], report[2];
	char byte;

	if (pipe2(pair, O_CLOEXEC))
		return i;
	i.hold = pair[1];
	if (pipe2(report, O_CLOEXEC)) {
		close(pair[0]);
		inhibit_end(&i);
		return i;
	}
	failed = report[0];
	i.process = fork();
	if (i.process == 0)
		become_inhibitor(why, pair[0], report[1]);
	close(pair[0]);
	close(report[1]);
	/* Where there is no such program, no child of ours stays either. */
	if (i.process < 0 || read(failed, &byte, 1) > 0)
		inhibit_end(&i);
	return i;
}

void inhibit_end(struct inhibit *i)
{
	closep(&i->hold);
	if (i->process > 0) {
		/* It may still be waiting for an answer of systemd. */
		kill(i->process, SIGTERM);
		while (waitpid(i->process, NULL, 0) < 0 && errno == EINTR)
			;
	}
	*i = INHIBIT_NONE;
}
