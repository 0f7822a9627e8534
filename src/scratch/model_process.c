/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The process of a disk model; see model_process.h.
 *
 * It must live as long as the loop device on it: it ignores what ^C and a closed terminal
 * send, is the last that the kernel kills for memory, and is nobody's child.  It must not
 * wait for memory that the kernel can only get by writing to it: it is marked as a writer
 * of dirty pages, and its memory is locked.  It must be on time: no timer slack, and
 * real-time priority, which costs little because it mostly sleeps.  What it does not need
 * for that it gives up, and once it is mounted its threads nearly all.  Each of these is
 * tried; a machine that forbids one gets a model that is a little less exact or safe.
 */

#include "scratch/model_process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/fileio.h"
#include "core/macros.h"
#include "core/privilege.h"
#include "core/strbuf.h"
#include "scratch/control.h"
#include "scratch/model_fuse.h"

#define READY "ready\n"
#define STEP_MS 10
#define PRIORITY 5

#ifndef PR_SET_IO_FLUSHER
#define PR_SET_IO_FLUSHER 57
#endif

/* The child's side: standard streams, session, program. */
static void child_exec(const char *const *arguments, int report)
{
	int null = open("/dev/null", O_RDONLY);

	setsid();
	/* Whoever reads what our caller writes must not wait for us as well. */
	close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	/* The grandchild is nobody's: it is not left as a zombie of a long experiment. */
	if (fork() != 0)
		_exit(0);
	if (null >= 0 && dup2(null, 0) >= 0 && dup2(report, 1) >= 0 && dup2(report, 2) >= 0)
		execv("/proc/self/exe", (char *const *)arguments);
	dprintf(report, "cannot start: %s\n", strerror(errno));
	_exit(127);
}

static int spawn(const char *const *arguments, int *report, struct err *e)
{
	int pair[2], status;
	pid_t pid;

	if (pipe2(pair, O_CLOEXEC))
		return err_set(e, errno, "start the disk model");
	pid = fork();
	if (pid == 0)
		child_exec(arguments, pair[1]);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return err_set(e, errno, "start the disk model");
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*report = pair[0];
	return 0;
}

/* Reads until the process closes its side; it ends with READY when it serves. */
static int read_report(int fd, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	const char *text;
	size_t n = strlen(READY);
	char chunk[512];
	ssize_t got;

	while ((got = read(fd, chunk, sizeof(chunk))) != 0) {
		if (got < 0 && errno != EINTR)
			return err_set(e, errno, "wait for the disk model");
		if (got > 0)
			strbuf_addn(&b, chunk, (size_t)got);
	}
	text = strbuf_text(&b);
	if (b.length >= n && !strcmp(text + b.length - n, READY))
		return 0;
	while (b.length && b.text[b.length - 1] == '\n')
		b.text[--b.length] = '\0';
	return err_say(e, EIO, "the disk model does not start: %s",
		b.length ? text : "it ended without a word");
}

int model_process_start(const struct model_process *p, struct err *e)
{
	_cleanup_close_ int report = -1;
	char bytes[24];
	const char *arguments[] = { "jbdlab", MODEL_SERVE_COMMAND, "--name", p->name, "--size",
		bytes, "--model", p->model, "--file", p->file, "--disk", p->disk,
		"--run-dir", p->run_dir, NULL };
	int r;

	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)p->size_bytes);
	r = spawn(arguments, &report, e);
	return r ? r : read_report(report, e);
}

static char *below(const char *run_dir, const char *leaf)
{
	char *path;

	return asprintf(&path, "%s/%s", run_dir, leaf) < 0 ? NULL : path;
}

static int open_lock(const char *run_dir, int flags)
{
	_cleanup_free_ char *path = below(run_dir, MODEL_LOCK);

	return path ? open(path, flags | O_CLOEXEC, 0600) : -1;
}

pid_t model_process_find(const char *run_dir)
{
	_cleanup_close_ int fd = open_lock(run_dir, O_RDWR);
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fd < 0 || fcntl(fd, F_GETLK, &whole) || whole.l_type == F_UNLCK)
		return 0;
	return whole.l_pid;
}

static bool wait_for_end(const char *run_dir, unsigned timeout_ms)
{
	const struct timespec pause = { .tv_nsec = STEP_MS * 1000000L };

	for (unsigned i = 0; i <= timeout_ms / STEP_MS; i++) {
		if (!model_process_find(run_dir))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

int model_process_kill(const char *run_dir, struct err *e)
{
	pid_t pid = model_process_find(run_dir); /* the lock says that it is the one */

	if (pid > 0 && kill(pid, SIGKILL) && errno != ESRCH)
		return err_set(e, errno, "kill the disk model, process %d", (int)pid);
	return 0;
}

int model_process_end(const char *run_dir, unsigned timeout_ms, struct err *e)
{
	int r;

	if (wait_for_end(run_dir, timeout_ms))
		return 0;
	r = model_process_kill(run_dir, e);
	if (r || wait_for_end(run_dir, timeout_ms))
		return r;
	return err_say(e, ETIMEDOUT, "the disk model, process %d, does not end",
		(int)model_process_find(run_dir));
}

static void become_robust(void)
{
	const struct sched_param priority = { .sched_priority = PRIORITY };
	const int ignored[] = { SIGINT, SIGQUIT, SIGHUP, SIGPIPE, SIGTSTP };
	FILE *oom = fopen("/proc/self/oom_score_adj", "we");

	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	if (oom) {
		fputs("-1000", oom);
		fclose(oom);
	}
	prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);
	prctl(PR_SET_TIMERSLACK, 1);
	sched_setscheduler(0, SCHED_FIFO, &priority);
	privilege_limit(PRIVILEGE_MODEL);
	mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
}

static int take_lock(const char *run_dir, struct err *e)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open_lock(run_dir, O_RDWR | O_CREAT);

	if (fd < 0)
		return err_set(e, errno, "open the lock in %s", run_dir);
	if (fcntl(fd, F_SETLK, &whole)) {
		err_set(e, errno, "lock %s", run_dir);
		close(fd);
		return -e->code;
	}
	return fd;
}

/* Closes the report, so that the starter goes on.  False: it was killed meanwhile. */
static bool report_ready(void *data _unused_)
{
	_cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (write(1, READY, strlen(READY)) < 0)
		return false;
	return null >= 0 && dup2(null, 1) >= 0 && dup2(null, 2) >= 0;
}

/* A file and not a question, so that who measures waits for nobody.  It stays mapped until
 * the process ends. */
static int share(const char *run_dir, struct model_shared **out, struct err *e)
{
	_cleanup_free_ char *path = below(run_dir, MODEL_BUSY);
	_cleanup_close_ int fd = -1;
	void *map;

	if (!path)
		return err_set(e, ENOMEM, "start disk model");
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(**out)))
		return err_set(e, errno, "make %s", path);
	map = mmap(NULL, sizeof(**out), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return err_set(e, errno, "map %s", path);
	*out = map;
	return 0;
}

static char *answer_question(void *device, const char *question)
{
	return model_device_control(device, question);
}

static int serve(const struct model_process *p, struct model_device *device, struct err *e)
{
	_cleanup_(control_server_freep) struct control_server *control = NULL;
	_cleanup_free_ char *mountpoint = below(p->run_dir, MODEL_MOUNT);
	_cleanup_free_ char *socket = below(p->run_dir, MODEL_SOCKET);
	const struct model_server_options o = { .mountpoint = mountpoint, .file = p->disk,
		.size_bytes = p->size_bytes, .device = device, .ready = report_ready };
	int r;

	if (!mountpoint || !socket)
		return err_set(e, ENOMEM, "start disk model");
	r = control_server_new(&control, socket, answer_question, device, e);
	return r ? r : model_server_run(&o, e);
}

int model_process_main(const struct model_process *p, struct err *e)
{
	struct model_device_options o = { .name = p->name, .size_bytes = p->size_bytes,
		.answer = model_fuse_answer };
	_cleanup_(model_device_freep) struct model_device *device = NULL;
	_cleanup_close_ int lock = -1, data = -1;
	int r = model_parameters_parse(p->model, &o.parameters, e);

	if (r)
		return r;
	become_robust();
	lock = take_lock(p->run_dir, e);
	if (lock < 0)
		return lock;
	data = open(p->file, O_RDWR | O_CLOEXEC);
	if (data < 0)
		return err_set(e, errno, "open %s", p->file);
	if (chdir("/"))
		return err_set(e, errno, "go to /");
	o.data_fd = data;
	r = share(p->run_dir, &o.shared, e);
	if (!r)
		r = model_device_new(&device, &o, e);
	return r ? r : serve(p, device, e);
}
