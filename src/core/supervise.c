/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Running a program under a keeper; see supervise.h.  Between us and the program stands a
 * process of ours, the keeper.  It adopts whatever the program leaves behind (as "child
 * subreaper"), also daemons that have gone into a session of their own, and kills it when
 * the program has ended.  It is told to end the program by SIGTERM, which the kernel also
 * sends when we die.
 *
 *	we --- keeper --- program --- its children
 *
 * Signals to the program go to its process group: SIGTERM first, and SIGKILL to all that
 * is left after a time of grace.  The keeper takes times, next to the program, and sends
 * them through a pipe.  The streams come to us through two more, which have their end
 * when the last process that could write to them is gone.
 */

#include "core/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core/clock.h"
#include "core/strbuf.h"

#define SYSTEM_DIRS "/usr/local/sbin:/usr/sbin:/sbin"

enum { GRACE_S = 3, WAIT_MS = 200, GIVE_UP_S = 30 };
enum { STREAM_OUTPUT, STREAM_ERRORS, STREAM_REPORT, STREAMS };

/* What the keeper tells. */
struct report {
	int start_errno; /* not 0: the program could not be started */
	int wait_status;
	unsigned left_over;
	uint64_t wall_ns, user_ns, system_ns;
};

static int start_errno_to(int fd)
{
	int code = errno;

	return write(fd, &code, sizeof(code)) == sizeof(code) ? 127 : 126;
}

static void add_environment(const char *const environment[])
{
	_cleanup_(strbuf_deinit) struct strbuf path = {0};
	const char *old = getenv("PATH");

	strbuf_addf(&path, "%s:" SYSTEM_DIRS, old ? old : "/usr/bin:/bin");
	setenv("PATH", strbuf_text(&path), 1);
	setenv("LC_ALL", "C", 1);
	for (size_t i = 0; environment && environment[i]; i++)
		putenv((char *)environment[i]);
}

/* Groups first, while we may; and what is set-user-ID gives nothing back.  The change of
 * rights makes the kernel forget that the program is to die with its parent. */
static int become_user(const struct supervise_user *u, pid_t keeper)
{
	if (!u->name || (u->uid == getuid() && u->uid == geteuid()))
		return 0;
	if (initgroups(u->name, u->gid) || setresgid(u->gid, u->gid, u->gid) ||
		setresuid(u->uid, u->uid, u->uid) ||
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return getppid() == keeper ? 0 : -ESRCH;
}

/* In the program's process, until it is the program. */
static int become_program(
	const struct supervise_job *job, const int streams[], int failure, pid_t keeper)
{
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper)
		return 127;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	add_environment(job->environment);
	if (null < 0 || dup2(null, 0) < 0 || dup2(streams[STREAM_OUTPUT], 1) < 0 ||
		dup2(streams[STREAM_ERRORS], 2) < 0 || chdir(job->directory) ||
		privilege_limit(job->rights) || become_user(&job->user, keeper))
		return start_errno_to(failure);
	execvp(job->argv[0], (char *const *)job->argv);
	return start_errno_to(failure);
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * NS_PER_S + (uint64_t)t->tv_usec * 1000;
}

/* Kills children as long as there are any; each that dies may leave us its own. */
static unsigned kill_left_over(void)
{
	unsigned count = 0;

	for (;;) {
		FILE *f = fopen("/proc/thread-self/children", "re");
		int pid;

		while (f && fscanf(f, "%d", &pid) == 1)
			kill(pid, SIGKILL);
		if (f)
			fclose(f);
		if (waitpid(-1, NULL, 0) < 0 && errno != EINTR)
			return count;
		count++;
	}
}

/* Waits for the program's end, and ends it when told to. */
static void keep(pid_t program, uint64_t started_ns, struct report *report)
{
	const struct timespec grace = {.tv_sec = GRACE_S};
	bool ending = false;
	sigset_t wanted;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	sigaddset(&wanted, SIGTERM);
	for (;;) {
		struct rusage usage;
		int status, signal_number;
		pid_t pid;

		while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
			if (pid != program)
				continue;
			report->wall_ns = clock_now_ns() - started_ns;
			report->wait_status = status;
			report->user_ns = timeval_ns(&usage.ru_utime);
			report->system_ns = timeval_ns(&usage.ru_stime);
			return;
		}
		signal_number = sigtimedwait(&wanted, NULL, ending ? &grace : NULL);
		if (signal_number == SIGTERM && !ending) {
			kill(-program, SIGTERM);
			ending = true;
		} else if (signal_number < 0 && errno == EAGAIN) {
			kill(-program, SIGKILL);
		}
	}
}

static int keeper_main(const struct supervise_job *job, const int streams[], pid_t parent)
{
	struct report report = {0};
	int failure[2];
	uint64_t started_ns;
	pid_t program;
	sigset_t held;

	sigfillset(&held);
	sigprocmask(SIG_SETMASK, &held, NULL);
	signal(SIGCHLD, SIG_DFL);
	setpgid(0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* What it ends may have become another user. */
	if (getppid() != parent || pipe2(failure, O_CLOEXEC) ||
		privilege_limit(job->rights | PRIVILEGE(CAP_KILL)))
		return 127;
	started_ns = clock_now_ns();
	program = fork();
	if (program == 0)
		_exit(become_program(job, streams, failure[1], getppid()));
	if (program < 0)
		report.start_errno = errno;
	close(failure[1]);
	close(streams[STREAM_OUTPUT]);
	close(streams[STREAM_ERRORS]);
	if (program > 0) {
		int code;

		if (read(failure[0], &code, sizeof(code)) == sizeof(code))
			report.start_errno = code;
		keep(program, started_ns, &report);
		/* Whatever is left of its group first: one call, nothing escapes. */
		kill(-program, SIGKILL);
		report.left_over = kill_left_over();
	}
	return write(streams[STREAM_REPORT], &report, sizeof(report)) < 0;
}

struct watch {
	const struct supervise_job *job;
	struct supervise_outcome *out;
	pid_t keeper;
	struct pollfd fds[STREAMS];
	struct strbuf text[STREAMS];
	uint64_t deadline_ns; /* of the program; then of the keeper */
	bool ending;
};

static void end_program(struct watch *w, enum supervise_end why)
{
	if (w->ending)
		return;
	w->ending = true;
	w->out->end = why;
	w->deadline_ns = clock_now_ns() + GIVE_UP_S * NS_PER_S;
	kill(w->keeper, SIGTERM);
}

static void read_stream(struct watch *w, int stream)
{
	struct strbuf *text = &w->text[stream];
	char chunk[65536];
	ssize_t n = read(w->fds[stream].fd, chunk, sizeof(chunk));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		close(take_fd(w->fds[stream].fd));
		return;
	}
	if (text->length + (size_t)n > w->job->output_limit)
		end_program(w, SUPERVISE_FLOODED);
	else
		strbuf_addn(text, chunk, (size_t)n);
}

/* Until all pipes have ended; false: the keeper does not come back. */
static bool watch(struct watch *w)
{
	for (;;) {
		bool open = false;

		for (int i = 0; i < STREAMS; i++)
			open |= w->fds[i].fd >= 0;
		if (!open)
			return true;
		if (poll(w->fds, STREAMS, WAIT_MS) > 0)
			for (int i = 0; i < STREAMS; i++)
				if (w->fds[i].fd >= 0 && w->fds[i].revents)
					read_stream(w, i);
		if (w->job->stop && *w->job->stop)
			end_program(w, SUPERVISE_STOPPED);
		if (clock_now_ns() < w->deadline_ns)
			continue;
		if (w->ending)
			return false;
		end_program(w, SUPERVISE_TIMEOUT);
	}
}

static int take_report(struct watch *w, struct err *e)
{
	const struct strbuf *text = &w->text[STREAM_REPORT];
	struct supervise_outcome *out = w->out;
	struct report report;

	if (text->length != sizeof(report))
		return err_say(e, EIO, "run %s: its keeper was killed", w->job->argv[0]);
	memcpy(&report, text->text, sizeof(report));
	if (report.start_errno)
		return err_set(e, report.start_errno, "run %s", w->job->argv[0]);
	if (WIFSIGNALED(report.wait_status))
		out->signal = WTERMSIG(report.wait_status);
	else
		out->status = WEXITSTATUS(report.wait_status);
	out->left_over = report.left_over;
	out->wall_ns = report.wall_ns;
	out->user_ns = report.user_ns;
	out->system_ns = report.system_ns;
	out->output_bytes = w->text[STREAM_OUTPUT].length;
	out->errors_bytes = w->text[STREAM_ERRORS].length;
	out->output = strbuf_take(&w->text[STREAM_OUTPUT]);
	out->errors = strbuf_take(&w->text[STREAM_ERRORS]);
	return out->output && out->errors
		       ? 0
		       : err_set(e, ENOMEM, "output of %s", w->job->argv[0]);
}

static int watch_keeper(struct watch *w, struct err *e)
{
	if (!watch(w))
		return err_say(e, ETIMEDOUT,
			"%s was killed %d s ago and does not end: some process of it hangs "
			"in the kernel (ps axl shows it in state D)",
			w->job->argv[0], GIVE_UP_S);
	while (waitpid(w->keeper, NULL, 0) < 0)
		if (errno != EINTR)
			break;
	return take_report(w, e);
}

int supervise_run(
	const struct supervise_job *job, struct supervise_outcome *out, struct err *e)
{
	struct watch w = {.job = job, .out = out};
	int pair[2], ends[STREAMS];
	pid_t parent = getpid();
	int r = 0;

	*out = (struct supervise_outcome){0};
	for (int i = 0; i < STREAMS; i++) {
		ends[i] = -1;
		w.fds[i] = (struct pollfd){.fd = -1, .events = POLLIN};
	}
	for (int i = 0; !r && i < STREAMS; i++) {
		if (pipe2(pair, O_CLOEXEC)) {
			r = err_set(e, errno, "run %s", job->argv[0]);
			break;
		}
		w.fds[i].fd = pair[0];
		ends[i] = pair[1];
	}
	if (!r) {
		w.deadline_ns = clock_now_ns() + job->timeout_ns;
		w.keeper = fork();
		if (w.keeper == 0)
			_exit(keeper_main(job, ends, parent));
		if (w.keeper < 0)
			r = err_set(e, errno, "run %s", job->argv[0]);
	}
	for (int i = 0; i < STREAMS; i++)
		closep(&ends[i]);
	if (!r)
		r = watch_keeper(&w, e);
	for (int i = 0; i < STREAMS; i++) {
		closep(&w.fds[i].fd);
		strbuf_deinit(&w.text[i]);
	}
	if (r)
		supervise_outcome_deinit(out);
	return r;
}

void supervise_outcome_deinit(struct supervise_outcome *o)
{
	free(o->output);
	free(o->errors);
	*o = (struct supervise_outcome){0};
}
