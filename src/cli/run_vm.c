/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * An experiment in a virtual machine; see run_vm.h.  For people without root, loop devices
 * or the right to mount: the plan goes into the machine as a file, the bundle comes out of
 * it, and what happens between is what "jbdlab run" does.  The machine and what starts it
 * are those of the power-cut tests.
 */

#include "cli/run_vm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "cli/signals.h"
#include "core/clock.h"
#include "core/fileio.h"
#include "core/place.h"
#include "run/run.h"

/* Relative to the directory of the program: in the source tree, and installed. */
static const char *const places[] = { "../scripts/vm/run-vm", "../share/jbdlab/vm/run-vm" };

static int check_device(const struct experiment *x, const char *device, struct err *e)
{
	if (!device || experiment_disk(x, device))
		return 0;
	return err_refuse(e,
		"%s is a device of this host; with --vm there are only the scratch disks that "
		"the plan makes ([disk NAME])", device);
}

static int check_plan(const struct experiment *x, struct err *e)
{
	int r = 0;

	for (size_t i = 0; !r && i < x->volume_count; i++)
		r = check_device(x, x->volumes[i].device, e);
	for (size_t i = 0; !r && i < x->arm_count; i++) {
		const struct plan_arm *arm = &x->arms[i];

		r = check_device(x, arm->placement.device, e);
		if (!r && (arm->setup || arm->teardown))
			r = err_refuse(e,
				"arm %s runs programs of this host, which the machine of --vm "
				"does not have", arm->name);
	}
	for (size_t i = 0; !r && i < x->workload_count; i++)
		if (!strcmp(workload_type_of(x->workloads[i].workload)->name, "command"))
			r = err_refuse(e,
				"workload %s is a program of this host, which the machine of "
				"--vm does not have", x->workloads[i].name);
	return r;
}

/* The resolved plan as a file, which the caller removes.  *path is the caller's. */
static int write_plan(struct experiment *x, char **path, struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	_cleanup_free_ char *plan = NULL, *name = NULL;
	_cleanup_close_ int fd = -1;

	for (size_t i = 0; i < x->disk_count; i++)
		free(take_ptr(x->disks[i].directory));
	plan = experiment_print(x);
	if (!plan || asprintf(&name, "%s/jbdlab-plan.XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0)
		return err_set(e, ENOMEM, "write the plan");
	fd = mkstemp(name);
	if (fd < 0)
		return err_set(e, errno, "make %s", name);
	*path = take_ptr(name);
	return fileio_pwrite_full(fd, plan, strlen(plan), 0, *path, e);
}

static int start(const char *const argv[], pid_t *child, struct err *e)
{
	*child = fork();
	if (*child < 0)
		return err_set(e, errno, "start %s", argv[0]);
	if (!*child) {
		/* Results are ours to print. */
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execv(argv[0], (char *const *)argv);
		fprintf(stderr, "jbdlab: %s: %s\n", argv[0], strerror(errno));
		_exit(STATUS_FAILED);
	}
	return 0;
}

/*
 * A signal that we get is for it as well: it ends the run in the machine in order.  Asked
 * for again and again, as a signal that comes just before a wait would not end that.
 */
static int wait_for(pid_t child, const volatile sig_atomic_t *stop, struct err *e)
{
	const struct timespec pause = { .tv_nsec = 100 * NS_PER_MS };
	bool told = false;
	int status;
	pid_t ended;

	while ((ended = waitpid(child, &status, WNOHANG)) <= 0) {
		if (ended < 0 && errno != EINTR)
			return err_set(e, errno, "wait for the machine");
		if (*stop && !told)
			told = !kill(child, SIGTERM);
		nanosleep(&pause, NULL);
	}
	if (*stop)
		return err_interrupted(e, *stop);
	return WIFEXITED(status) ? WEXITSTATUS(status)
				 : err_say(e, EIO, "the machine ended by itself");
}

static int run_program(struct cli *cli, const char *plan, const char *output, struct err *e)
{
	_cleanup_free_ char *program = place_find(getenv("JBDLAB_VM"), places,
		ARRAY_SIZE(places));
	const char *cache = getenv("JBDLAB_VM_CACHE"), *argv[12];
	_cleanup_free_ char *jbdlab = realpath("/proc/self/exe", NULL);
	const volatile sig_atomic_t *stop;
	pid_t child;
	size_t n = 0;
	int r;

	if (!program)
		return err_say(e, ENOENT, "run-vm, which starts the machine, was not installed");
	if (!jbdlab)
		return err_set(e, errno, "find this program");
	argv[n++] = program;
	argv[n++] = "--jbdlab";
	argv[n++] = jbdlab;
	argv[n++] = "--plan";
	argv[n++] = plan;
	argv[n++] = "--output";
	argv[n++] = output;
	if (cache && *cache) {
		argv[n++] = "--cache";
		argv[n++] = cache;
	}
	if (cli_quiet(cli))
		argv[n++] = "--quiet";
	argv[n] = NULL;
	stop = signals_catch();
	r = start(argv, &child, e);
	return r ? r : wait_for(child, stop, e);
}

int run_in_machine(struct cli *cli, struct experiment *x, const char *output, char **bundle,
	struct err *e)
{
	_cleanup_free_ char *plan = NULL, *path = NULL;
	int r = check_plan(x, e);

	if (r)
		return r;
	path = output ? strdup(output) : run_default_output(x, clock_wall_ns());
	if (!path)
		return err_set(e, ENOMEM, "run");
	if (!access(path, F_OK))
		return err_refuse(e, "%s exists, and a bundle is never overwritten", path);
	r = write_plan(x, &plan, e);
	if (!r)
		r = run_program(cli, plan, path, e);
	if (plan)
		unlink(plan);
	if (r >= 0)
		*bundle = take_ptr(path);
	return r;
}
