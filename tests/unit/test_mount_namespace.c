/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A mount namespace of our own, entered and left by a process in a chroot whose root is a
 * directory and no mount: there propagation cannot be set at "/", and setns(2) would leave
 * the process outside of its root.  Root only.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mount/namespace.h"

static char root[] = "/tmp/jbdlab-test-namespace.XXXXXX";
static bool able;

static int make_root(void **state _unused_)
{
	char path[64];

	if (!mkdtemp(root))
		return -1;
	snprintf(path, sizeof(path), "%s/proc", root);
	if (mkdir(path, 0755))
		return -1;
	snprintf(path, sizeof(path), "%s/below", root);
	able = geteuid() == 0;
	return mkdir(path, 0755);
}

static int remove_root(void **state _unused_)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/proc", root);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/below", root);
	rmdir(path);
	return rmdir(root);
}

static bool same(const char *path, const struct stat *as)
{
	struct stat st;

	return !stat(path, &st) && st.st_dev == as->st_dev && st.st_ino == as->st_ino;
}

static int mount_in_new_namespace(struct mount_namespace *ns, struct err *e)
{
	int r = mount_namespace_enter(ns, NULL, e);

	return r ? r : mount("none", "/below", "tmpfs", 0, NULL);
}

/* Each step that fails has its own exit status. */
static int in_chroot(void)
{
	struct mount_namespace ns = MOUNT_NAMESPACE_NONE;
	_cleanup_(err_clear) struct err e = { 0 };
	struct stat top, below;

	if (chdir(root) || unshare(CLONE_NEWNS) ||
		mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
		mount("proc", "proc", "proc", 0, NULL) || chroot(".") ||
		chdir("/below") || stat("/", &top) || stat(".", &below))
		return 77;
	if (mount_in_new_namespace(&ns, &e)) {
		fprintf(stderr, "%s\n", err_message(&e));
		return 1;
	}
	if (!same("/", &top) || same("/below", &below))
		return 2;
	if (mount_namespace_leave(&ns, &e))
		return 3;
	return same("/", &top) && same(".", &below) && same("/below", &below) ? 0 : 4;
}

static void a_chroot_is_kept_and_mounts_stay_inside(void **state _unused_)
{
	int status = 0;
	pid_t child;

	if (!able)
		skip();
	child = fork();
	if (!child)
		_exit(in_chroot());
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chroot_is_kept_and_mounts_stay_inside),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
