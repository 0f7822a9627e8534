/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tools of a judge: a sandbox with the disks of a case, programs that run in it under
 * a time limit, mounts, and a log of everything that was said about the current state.
 *
 * The journal device is named to e2fsck and to the kernel: its device number differs from
 * the recorded one in every worker, which is not what is tested here.
 */
#include "judge.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

unsigned int bench_found(struct bench *b, unsigned int fault, const char *fmt, ...)
{
	va_list args;
	char text[sizeof(b->reason)];

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	dprintf(b->log_fd, "!! %s\n", text);
	if (!b->reason[0])
		memcpy(b->reason, text, sizeof(text));
	return fault;
}

/* Waits for a child; kills it after so many seconds. Return: as bench_run(). */
static int wait_for(pid_t pid, unsigned int seconds)
{
	struct pollfd p = {.fd = pidfd_open(pid, 0), .events = POLLIN};
	bool late;
	int status;

	if (p.fd < 0)
		die_errno("pidfd_open");
	late = poll(&p, 1, (int)seconds * 1000) == 0;
	if (late)
		kill(pid, SIGKILL);
	close(p.fd);
	if (waitpid(pid, &status, 0) != pid)
		die_errno("waitpid");
	if (late)
		return 124;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_argv(struct bench *b, char *const *argv, unsigned int seconds)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status;

	dprintf(b->log_fd, "+");
	for (int i = 0; argv[i]; i++)
		dprintf(b->log_fd, " %s", argv[i]);
	dprintf(b->log_fd, "\n");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, b->log_fd, 1);
	posix_spawn_file_actions_adddup2(&actions, b->log_fd, 2);
	errno = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	if (errno)
		die_errno("run %s", argv[0]);
	posix_spawn_file_actions_destroy(&actions);
	status = wait_for(pid, seconds);
	dprintf(b->log_fd, "= %d\n", status);
	return status;
}

int bench_run(struct bench *b, const char *command, unsigned int seconds)
{
	char *const argv[] = {"sh", "-c", (char *)command, NULL};

	return run_argv(b, argv, seconds);
}

void bench_open(struct bench *b, struct subject *s)
{
	*b = (struct bench){.subject = s};
	b->sandbox.n_disks = s->n_disks;
	for (unsigned int i = 0; i < s->n_disks; i++) {
		struct sandbox_disk *d = &b->sandbox.disk[i];

		snprintf(d->name, sizeof(d->name), "%s", s->disk[i]);
		d->bytes = s->img[i].bytes;
	}
	sandbox_enter(&b->sandbox);
	b->log_fd = open(BENCH_LOG, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
	if (b->log_fd < 0)
		die_errno("open %s", BENCH_LOG);
}

void bench_start(struct bench *b)
{
	b->reason[0] = 0;
	if (ftruncate(b->log_fd, 0))
		die_errno("truncate %s", BENCH_LOG);
}

void bench_keep_log(struct bench *b, const char *path, const char *title)
{
	FILE *f = fopen(path, "we");
	char buffer[4096];
	ssize_t n;

	if (!f)
		die_errno("write %s", path);
	fprintf(f, "%s\n", title);
	for (off_t at = 0; (n = pread(b->log_fd, buffer, sizeof(buffer), at)) > 0;
		at += n)
		fwrite(buffer, 1, (size_t)n, f);
	if (fclose(f))
		die_errno("write %s", path);
}

/*
 * Nobody may have cached anything of the old content, before and after the change.
 * (Kernel 6.18 keeps hold of the pages with fast commits after a mount with an external
 * journal; only a discard takes them away.)
 */
void bench_store(struct bench *b)
{
	for (unsigned int i = 0; i < b->subject->n_disks; i++) {
		struct sandbox_disk *d = &b->sandbox.disk[i];
		struct image *img = &b->subject->img[i];

		sandbox_sync(d);
		image_store(img, d->memory_fd);
		if (sandbox_invalidate(d))
			continue;
		sandbox_erase(d);
		image_store(img, d->memory_fd);
		if (!sandbox_invalidate(d))
			die("%s: the kernel does not forget what it held", d->path);
	}
}

void bench_capture(struct bench *b)
{
	for (unsigned int i = 0; i < b->subject->n_disks; i++) {
		struct sandbox_disk *d = &b->sandbox.disk[i];

		sandbox_sync(d);
		image_capture(&b->subject->img[i], d->memory_fd);
	}
}

void bench_placement(struct bench *b, struct placement *p)
{
	int fd[SANDBOX_DISKS_MAX];

	for (unsigned int i = 0; i < b->subject->n_disks; i++) {
		fd[i] = b->sandbox.disk[i].loop_fd;
	}
	placement_read(p, fd, b->subject->disk, b->subject->n_disks);
}

static const char *volume_path(const struct bench *b)
{
	return b->sandbox.disk[0].path;
}

/* The journal device that the volume names, or the first one if it names none. */
static const char *journal_path(struct bench *b, bool *external)
{
	struct placement p;

	bench_placement(b, &p);
	*external = p.device > 0;
	if (b->subject->n_disks < 2)
		return NULL;
	return b->sandbox.disk[p.device > 0 ? p.device : 1].path;
}

int bench_fsck(struct bench *b, const char *how)
{
	bool external;
	const char *journal = journal_path(b, &external);
	char *const with[] = {"e2fsck", (char *)how, "-j", (char *)journal,
		(char *)volume_path(b), NULL};
	char *const without[] = {"e2fsck", (char *)how, (char *)volume_path(b), NULL};

	return run_argv(b, external ? with : without, BENCH_SECONDS);
}

int bench_mount(struct bench *b, unsigned long flags)
{
	const char *type = b->subject->fstype;
	char options[64] = "";
	const char *journal;
	struct placement p;
	bool external;
	int r;

	journal = journal_path(b, &external);
	if (external)
		snprintf(options, sizeof(options), "journal_path=%s", journal);
	/* Without a journal it is no ext3; that is only right where it is wanted. */
	bench_placement(b, &p);
	if (!strcmp(p.text, "none") && (!strcmp(b->subject->from.text, "none") ||
					       !strcmp(b->subject->to.text, "none")))
		type = "ext4";
	r = mount(volume_path(b), SANDBOX_MOUNTPOINT, type, flags, options) ? errno : 0;
	dprintf(b->log_fd, "+ mount -t %s -o %s,%s\n= %s\n", type,
		flags & MS_RDONLY ? "ro" : "rw", options, r ? strerror(r) : "0");
	return r;
}

int bench_unmount(struct bench *b)
{
	int r = umount(SANDBOX_MOUNTPOINT) ? errno : 0;

	if (r)
		dprintf(b->log_fd, "! umount: %s\n", strerror(r));
	return r;
}

struct tree *bench_files(struct bench *b)
{
	struct tree *files;

	if (bench_mount(b, MS_RDONLY))
		die("%s: the start cannot be mounted", b->subject->name);
	files = tree_read(SANDBOX_MOUNTPOINT);
	if (bench_unmount(b))
		die("%s: the start cannot be unmounted", b->subject->name);
	return files;
}

void bench_remember(struct bench *b, const char *directory)
{
	char *command =
		xasprintf("rm -rf %1$s; mkdir %1$s; for f in /var/lib/*; do [ ! -e $f ] "
			  "|| cp -a $f %1$s || exit 1; done",
			directory);

	if (bench_run(b, command, BENCH_SECONDS))
		die("cannot copy /var/lib");
	free(command);
}

void bench_recall(struct bench *b, const char *directory)
{
	char *command =
		xasprintf("rm -rf /var/lib/*; for f in %s/*; do [ ! -e $f ] || cp -a $f "
			  "/var/lib || exit 1; done",
			directory ? directory : "/nonexistent");

	if (bench_run(b, command, BENCH_SECONDS))
		die("cannot fill /var/lib");
	free(command);
}

bool has_files(const char *directory)
{
	char *const paths[] = {(char *)directory, NULL};
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	bool found = false;
	FTSENT *f;

	if (!fts)
		die_errno("walk %s", directory);
	while (!found && (f = fts_read(fts)))
		found = f->fts_info == FTS_F;
	fts_close(fts);
	return found;
}
