/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Running another program; see process.h.  posix_spawn would do but for two things: the
 * child is made to die with us, so that nothing of ours goes on working on a disk when we
 * are killed, and it gets a process group of its own, so that ^C on the terminal reaches
 * us alone and we decide when the child stops.
 */

#include "core/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "core/strbuf.h"

#define SYSTEM_DIRS "/usr/local/sbin:/usr/sbin:/sbin"

static int start_failed(int report)
{
	int code = errno;

	/* If even this fails, the parent sees an exit status of 127. */
	if (write(report, &code, sizeof(code)) < 0)
		_exit(127);
	_exit(127);
}

/* Locks, devices and pipes of ours are held by whoever has the descriptor.  They would be
 * closed when the program begins, but on a busy disk it takes long to find it, and we may
 * be gone by then. */
static void keep_only(int a, int b)
{
	unsigned low = (unsigned)MIN(a, b), high = (unsigned)MAX(a, b);

	if (low > 3)
		close_range(3, low - 1, 0);
	if (high > low + 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0U, 0);
}

static void child_exec(const char *const argv[], const char *const environment[],
	int output, int report, pid_t parent)
{
	_cleanup_(strbuf_deinit) struct strbuf path = { 0 };
	sigset_t none;
	int null;

	keep_only(output, report);
	null = open("/dev/null", O_RDONLY);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setenv("LC_ALL", "C", 1);
	for (size_t i = 0; environment && environment[i]; i++)
		putenv((char *)environment[i]);
	strbuf_addf(&path, "%s:" SYSTEM_DIRS, getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
	setenv("PATH", strbuf_text(&path), 1);
	if (null < 0 || dup2(null, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
		start_failed(report);
	execvp(argv[0], (char *const *)argv);
	start_failed(report);
}

static int collect(int fd, struct strbuf *b)
{
	char chunk[4096];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		strbuf_addn(b, chunk, (size_t)n);
	}
	return 0;
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int process_run(const char *const argv[], const char *const environment[],
	struct process_outcome *out, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	_cleanup_close_ int output_read = -1, report_read = -1;
	_cleanup_close_ int output_write = -1, report_write = -1;
	int pair[2], status, failure = 0;
	pid_t parent = getpid(), pid;
	ssize_t n;

	if (pipe2(pair, O_CLOEXEC))
		return err_set(e, errno, "run %s", argv[0]);
	output_read = pair[0];
	output_write = pair[1];
	if (pipe2(pair, O_CLOEXEC))
		return err_set(e, errno, "run %s", argv[0]);
	report_read = pair[0];
	report_write = pair[1];
	pid = fork();
	if (pid < 0)
		return err_set(e, errno, "run %s", argv[0]);
	if (pid == 0)
		child_exec(argv, environment, output_write, report_write, parent);
	close(take_fd(output_write));
	close(take_fd(report_write));
	collect(output_read, &b);
	do {
		n = read(report_read, &failure, sizeof(failure));
	} while (n < 0 && errno == EINTR);
	status = wait_for(pid);
	if (n == sizeof(failure) && failure == ENOENT)
		return err_say(e, ENOENT, "%s is not installed: neither PATH nor /usr/sbin has it",
			argv[0]);
	if (n == sizeof(failure))
		return err_set(e, failure, "run %s", argv[0]);
	if (status < 0)
		return err_set(e, -status, "wait for %s", argv[0]);
	out->output = strbuf_take(&b);
	if (!out->output)
		return err_set(e, ENOMEM, "run %s", argv[0]);
	out->status = status;
	return 0;
}

int process_run_ok(const char *const argv[], struct err *e)
{
	_cleanup_(process_outcome_deinit) struct process_outcome o = { 0 };
	int r = process_run(argv, NULL, &o, e);

	if (r)
		return r;
	if (o.status)
		return err_say(e, EIO, "%s ended with status %d:\n%s", argv[0], o.status,
			process_tail(o.output, 6));
	return 0;
}

const char *process_tail(const char *text, int count)
{
	const char *p = text + strlen(text);

	if (p > text && p[-1] == '\n')
		p--;
	while (p > text) {
		if (p[-1] == '\n' && --count == 0)
			break;
		p--;
	}
	return p;
}

void process_outcome_deinit(struct process_outcome *o)
{
	free(o->output);
	*o = (struct process_outcome){ 0 };
}
