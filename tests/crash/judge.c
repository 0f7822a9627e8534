/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A state is judged on fresh copies:
 *
 * boot	  what happens at the next boot: e2fsck -p must end with 0 or 1, e2fsck -fn must
 *then find nothing, the kernel must mount it, the journal must be at the old or at the
 *	  new place, every file must be as before.
 * raw	  what happens without e2fsck: the kernel must mount it (replaying what is there),
 *	  files as before, the volume must be usable: new files, in the strict form until
 *it is full; then e2fsck must be content and the old files still be as before. again what
 *happens when the administrator goes on, in each of the ways of the case: the goal must
 *be reached, with nothing left to mend.
 */
#include "judge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define BRIM SANDBOX_MOUNTPOINT "/new/brim"

void fault_letters(unsigned int faults, char *text)
{
	for (int i = 0; i < N_FAULTS; i++)
		text[i] = faults & (1u << i) ? FAULT_LETTERS[i] : '.';
	text[N_FAULTS] = 0;
}

unsigned int fault_tolerated(const char *letters)
{
	unsigned int faults = 0;

	for (; *letters; letters++) {
		const char *found = strchr(FAULT_LETTERS, *letters);

		if (!found)
			die("--tolerate: '%c' is not one of " FAULT_LETTERS, *letters);
		faults |= 1u << (found - FAULT_LETTERS);
	}
	return faults;
}

static unsigned int compare_files(struct bench *b, bool may_have_more, const char *when)
{
	char *text = tree_differs(b->files, SANDBOX_MOUNTPOINT, may_have_more);
	unsigned int faults = 0;

	if (text)
		faults = bench_found(b, FAULT_FILES, "%s: %s", when, text);
	free(text);
	return faults;
}

/* After a refused mount: is there any way back without losing the volume? */
static unsigned int force_check(struct bench *b)
{
	unsigned int faults;

	bench_fsck(b, "-fy");
	if (bench_mount(b, 0))
		return bench_found(
			b, FAULT_HOPELESS, "boot: not mounted after e2fsck -fy");
	faults = compare_files(b, false, "boot, after e2fsck -fy");
	bench_unmount(b);
	return faults;
}

static unsigned int boot_mount(struct bench *b, bool content)
{
	unsigned int faults = FAULT_REFUSED | (content ? FAULT_OK_REFUSED : 0);
	int r = bench_mount(b, 0);

	if (r) {
		bench_found(b, 0, "boot: mount: %s", strerror(r));
		return faults | force_check(b);
	}
	faults = compare_files(b, false, "boot");
	if (bench_unmount(b))
		faults |= bench_found(b, FAULT_REFUSED, "boot: umount failed");
	return faults;
}

static unsigned int judge_boot(struct bench *b, bool mounts)
{
	unsigned int faults = 0;
	struct placement p;
	int status;

	status = bench_fsck(b, "-p");
	if (status > 1)
		faults |= bench_found(
			b, FAULT_PREEN, "boot: e2fsck -p ends with %d", status);
	status = bench_fsck(b, "-fn");
	if (status && !faults)
		faults |= bench_found(b, FAULT_INCONSISTENT,
			"boot: e2fsck -fn after -p ends with %d", status);
	bench_placement(b, &p);
	if (mounts)
		faults |= boot_mount(b, !(faults & FAULT_PREEN));
	if (!(faults & (FAULT_PREEN | FAULT_REFUSED)) &&
		strcmp(p.text, b->subject->from.text) &&
		strcmp(p.text, b->subject->to.text))
		faults |= bench_found(b, FAULT_LOST,
			"boot: the journal is '%s', not '%s' or '%s'", p.text,
			b->subject->from.text, b->subject->to.text);
	return faults;
}

/* Writes one new file. Return: 0 or errno. */
static int write_file(const char *name, size_t bytes)
{
	static const char block[65536] = {'j', 'b', 'd'};
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), r = 0;

	if (fd < 0)
		return errno;
	while (bytes && !r) {
		size_t n = bytes < sizeof(block) ? bytes : sizeof(block);
		ssize_t done = write(fd, block, n);

		if (done < 0)
			r = errno;
		else
			bytes -= (size_t)done;
	}
	if (!r && fsync(fd))
		r = errno;
	close(fd);
	return r;
}

/* Takes every block that is left. Where fallocate is unknown (ext3), by writing. */
static int fill_to_the_brim(void)
{
	const char *name = BRIM;
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), r = 0;
	off_t step = 8 << 20;

	if (fd < 0)
		return errno;
	for (off_t at = 0; step >= 4096 && !r;) {
		if (!fallocate(fd, 0, at, step))
			at += step;
		else if (errno == ENOSPC)
			step /= 2;
		else
			r = errno;
	}
	close(fd);
	if (r == EOPNOTSUPP)
		r = write_file(BRIM "2", SIZE_MAX);
	return r == ENOSPC ? 0 : r;
}

static int use_volume(bool brim)
{
	char name[64];
	int r = mkdir(SANDBOX_MOUNTPOINT "/new", 0755) ? errno : 0;

	for (int i = 0; i < 16 && !r; i++) {
		snprintf(name, sizeof(name), SANDBOX_MOUNTPOINT "/new/large%d", i);
		r = write_file(name, 320 << 10);
	}
	for (int i = 0; i < 16 && !r; i++) {
		snprintf(name, sizeof(name), SANDBOX_MOUNTPOINT "/new/small%d", i);
		r = write_file(name, 100);
	}
	return r || !brim ? r : fill_to_the_brim();
}

/* What is left after the volume was used without e2fsck. */
static unsigned int judge_used(struct bench *b)
{
	unsigned int faults = 0;
	struct placement p;
	int status;

	bench_placement(b, &p);
	if (p.errors)
		faults |= bench_found(
			b, FAULT_RAW_USE, "raw: the kernel counted %u errors", p.errors);
	status = bench_fsck(b, "-p");
	if (status > 1)
		faults |= bench_found(b, FAULT_RAW_USE,
			"raw: used, then e2fsck -p ends with %d", status);
	status = bench_fsck(b, "-fn");
	if (status)
		faults |= bench_found(b, FAULT_RAW_USE,
			"raw: used, then e2fsck -fn ends with %d", status);
	if (bench_mount(b, MS_RDONLY))
		return faults |
		       bench_found(b, FAULT_RAW_USE, "raw: used, then not mounted");
	faults |= compare_files(b, true, "raw, after use");
	bench_unmount(b);
	return faults;
}

static unsigned int judge_raw(struct bench *b, bool brim)
{
	unsigned int faults;
	int r = bench_mount(b, 0);

	if (r)
		return bench_found(b, FAULT_RAW_REFUSED, "raw: mount: %s", strerror(r));
	faults = compare_files(b, false, "raw");
	r = use_volume(brim);
	if (r)
		faults |= bench_found(b, FAULT_RAW_USE, "raw: write: %s", strerror(r));
	if (bench_unmount(b))
		faults |= bench_found(b, FAULT_RAW_USE, "raw: umount failed");
	return faults | judge_used(b);
}

/* A full volume has no room for a journal, and rightly refuses it. */
static void make_room(struct bench *b)
{
	if (bench_mount(b, 0))
		return;
	unlink(BRIM);
	unlink(BRIM "2");
	bench_unmount(b);
}

unsigned int bench_finished(
	struct bench *b, const struct placement *goal, bool may_have_more)
{
	unsigned int faults = 0;
	struct placement p;
	int status;

	bench_placement(b, &p);
	if (strcmp(p.text, goal->text) || strcmp(p.users, goal->users))
		faults |= bench_found(b, FAULT_RESUME, "again: '%s; %s', not '%s; %s'",
			p.text, p.users, goal->text, goal->users);
	status = bench_fsck(b, "-fn");
	if (status)
		faults |= bench_found(
			b, FAULT_RESUME, "again: then e2fsck -fn ends with %d", status);
	if (bench_mount(b, 0))
		return faults | bench_found(b, FAULT_RESUME, "again: then not mounted");
	faults |= compare_files(b, may_have_more, "again");
	bench_unmount(b);
	return faults;
}

/*
 * Back: the new journal device may be free again or never have been touched, so only the
 * placement is compared; without records nothing tells what the old placement was.
 */
static struct placement goal_of(struct bench *b, const struct way *w, const char *records)
{
	struct placement goal = b->subject->to, now;

	if (!w->back)
		return goal;
	bench_placement(b, &now);
	goal = now;
	if (records)
		memcpy(goal.text, b->subject->from.text, sizeof(goal.text));
	return goal;
}

static unsigned int go_on(
	struct bench *b, const struct way *w, const struct judge_opts *o)
{
	const char *records = w->lost ? NULL : o->records;
	unsigned int faults = 0;
	struct placement goal;
	int status;

	bench_recall(b, records);
	status = bench_run(b, w->command, BENCH_SECONDS);
	if (status)
		faults = bench_found(b, FAULT_RESUME, "again: ends with %d", status);
	goal = goal_of(b, w, records);
	return faults | bench_finished(b, &goal, w->when == WAY_RAW);
}

/* The ways that begin with what the disks hold now. */
static unsigned int go_on_from(
	struct bench *b, enum way_when when, const struct judge_opts *o)
{
	unsigned int faults = 0;

	for (unsigned int i = 0; i < b->subject->n_ways; i++) {
		const struct way *w = &b->subject->way[i];

		if (w->when != when || !(o->ways & (1u << i)))
			continue;
		if (w->needed && !o->records)
			continue;
		if (when == WAY_CUT)
			bench_store(b);
		faults |= go_on(b, w, o);
	}
	return faults;
}

unsigned int bench_judge(struct bench *b, const struct judge_opts *o)
{
	const unsigned int hopeless = FAULT_PREEN | FAULT_REFUSED;
	unsigned int faults;

	bench_store(b);
	faults = judge_boot(b, o->mounts);
	if (!o->mounts)
		return faults;
	if (!(faults & hopeless))
		faults |= go_on_from(b, WAY_BOOT, o);
	bench_store(b);
	faults |= judge_raw(b, o->brim);
	if (!(faults & FAULT_RAW_REFUSED)) {
		if (o->brim)
			make_room(b);
		faults |= go_on_from(b, WAY_RAW, o);
	}
	return faults | go_on_from(b, WAY_CUT, o);
}
