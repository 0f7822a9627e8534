/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A disk is a loop device over a file in a tmpfs of its own mount namespace, with
 * auto-clear: when the last descriptor is closed (a normal end, ^C, kill -9, a bug) the
 * kernel detaches it, and file and mounts vanish with the namespace. So there is nothing to
 * clean up, hence nothing that can be forgotten. The file has the same name in each
 * sandbox, for that is how a program may know the disk again.
 *
 * Every state of one case has the same file system UUID and several workers judge states
 * at the same time. Programs look for an external journal by UUID, or for duplicates of
 * one, in every device of /proc/partitions or sysfs, or know a name in /dev from their
 * own records; mounts over these show only our devices.
 */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Another process can take the free number first: then ask again. */
static void attach(struct sandbox_disk *d)
{
	struct loop_config config = {
		.fd = (uint32_t)d->memory_fd,
		.block_size = SECTOR_BYTES,
		.info = {.lo_flags = LO_FLAGS_AUTOCLEAR},
	};
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	int number;

	if (control < 0)
		die_errno("open /dev/loop-control");
	for (int tries = 0; tries < 100; tries++) {
		number = ioctl(control, LOOP_CTL_GET_FREE);
		if (number < 0)
			die_errno("find a free loop device");
		snprintf(d->path, sizeof(d->path), "/dev/loop%d", number);
		d->loop_fd = open(d->path, O_RDWR);
		if (d->loop_fd < 0)
			die_errno("open %s", d->path);
		if (!ioctl(d->loop_fd, LOOP_CONFIGURE, &config)) {
			/* The device may still be read-only from an earlier use. */
			if (ioctl(d->loop_fd, BLKROSET, &(int){0}))
				die_errno("make %s writable", d->path);
			close(control);
			return;
		}
		if (errno != EBUSY)
			die_errno("attach %s", d->path);
		close(d->loop_fd);
	}
	die("no loop device could be attached");
}

static void create(struct sandbox_disk *d)
{
	char *path = xasprintf(SANDBOX_HOME "/%s.img", d->name);
	struct stat st;

	d->memory_fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	free(path);
	if (d->memory_fd < 0 || ftruncate(d->memory_fd, (off_t)d->bytes))
		die_errno("create disk %s", d->name);
	attach(d);
	if (fstat(d->loop_fd, &st))
		die_errno("stat %s", d->path);
	d->major_number = major(st.st_rdev);
	d->minor_number = minor(st.st_rdev);
	setenv(d->name, d->path, 1);
}

static void hide_other_disks(const struct sandbox *s)
{
	const char *path = SANDBOX_HOME "/partitions";
	FILE *f = fopen(path, "w");

	if (!f)
		die_errno("write %s", path);
	fprintf(f, "major minor  #blocks  name\n\n");
	for (unsigned int i = 0; i < s->n_disks; i++)
		fprintf(f, "%4u %8u %10llu %s\n", s->disk[i].major_number,
			s->disk[i].minor_number,
			(unsigned long long)s->disk[i].bytes / 1024,
			s->disk[i].path + strlen("/dev/"));
	if (fclose(f))
		die_errno("write %s", path);
	if (mount(path, "/proc/partitions", NULL, MS_BIND, NULL))
		die_errno("hide the other disks");
}

/* A directory of sysfs that lists block devices: only links to ours are left in it. */
static void replace_list(const struct sandbox *s, const char *directory)
{
	if (mount("sandbox", directory, "tmpfs", 0, "mode=755"))
		die_errno("mount a tmpfs on %s", directory);
	for (unsigned int i = 0; i < s->n_disks; i++) {
		const char *name = s->disk[i].path + strlen("/dev/");
		char *target = xasprintf("/sys/devices/virtual/block/%s", name);
		char *link = xasprintf("%s/%s", directory, name);

		if (symlink(target, link))
			die_errno("make the link %s", link);
		free(target);
		free(link);
	}
}

static void make_node(const char *directory, const char *name, mode_t type, dev_t number)
{
	char *path = xasprintf("%s/%s", directory, name);

	if (mknod(path, type | 0666, number))
		die_errno("make %s", path);
	free(path);
}

/* A /dev with what every program needs and our disks. /dev/shm stays, we may be in it. */
static void replace_dev(const struct sandbox *s)
{
	static const struct {
		const char *name;
		unsigned int minor_number;
	} nodes[] = {
		{"null", 3}, {"zero", 5}, {"full", 7}, {"random", 8}, {"urandom", 9}};
	const char *dev = SANDBOX_HOME "/dev";

	if (mkdir(dev, 0755) || mount("sandbox", dev, "tmpfs", 0, "mode=755") ||
		mkdir(SANDBOX_HOME "/dev/shm", 0755) ||
		mount("/dev/shm", SANDBOX_HOME "/dev/shm", NULL, MS_BIND, NULL) ||
		symlink("/proc/self/fd", SANDBOX_HOME "/dev/fd") ||
		symlink("/proc/self/fd/1", SANDBOX_HOME "/dev/stdout"))
		die_errno("make a /dev");
	for (unsigned int i = 0; i < ARRAY_SIZE(nodes); i++)
		make_node(dev, nodes[i].name, S_IFCHR, makedev(1, nodes[i].minor_number));
	for (unsigned int i = 0; i < s->n_disks; i++)
		make_node(dev, s->disk[i].path + strlen("/dev/"), S_IFBLK,
			makedev(s->disk[i].major_number, s->disk[i].minor_number));
	if (mount(dev, "/dev", NULL, MS_MOVE, NULL))
		die_errno("replace /dev");
}

/*
 * Mounts are made private at the root of the namespace, to which setns(2) leads: for a
 * process in a chroot "/" is another directory and need not be a mount.
 */
static void enter_namespace(void)
{
	int self, root, directory;

	if (unshare(CLONE_NEWNS))
		die_errno("make a mount namespace (are you root?)");
	self = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	directory = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (self < 0 || root < 0 || directory < 0 || setns(self, CLONE_NEWNS) ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || fchdir(root) ||
		chroot(".") || fchdir(directory))
		die_errno("make the mount namespace private");
	close(self);
	close(root);
	close(directory);
}

static bool is_below(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	return !strncmp(path, directory, n) && (!path[n] || path[n] == '/');
}

/*
 * What is mounted elsewhere from a loop device would stay busy for as long as this
 * namespace knows it.  Only what we stand in is needed.
 */
static void let_go_of_other_volumes(void)
{
	FILE *f = fopen("/proc/self/mounts", "r");
	char source[256], target[1024], here[PATH_MAX];

	if (!f || !getcwd(here, sizeof(here)))
		die_errno("read /proc/self/mounts");
	while (fscanf(f, "%255s %1023s%*[^\n]", source, target) == 2)
		if (!strncmp(source, "/dev/loop", 9) && strcmp(target, "/") &&
			!is_below(here, target))
			umount2(target, MNT_DETACH);
	fclose(f);
}

void sandbox_enter(struct sandbox *s)
{
	enter_namespace();
	let_go_of_other_volumes();
	if (mount("sandbox", "/var/lib", "tmpfs", 0, "mode=755"))
		die_errno("mount a tmpfs on /var/lib");
	if (mkdir(SANDBOX_HOME, 0755) || mkdir(SANDBOX_MOUNTPOINT, 0755))
		die_errno("mkdir %s", SANDBOX_MOUNTPOINT);
	for (unsigned int i = 0; i < s->n_disks; i++)
		create(&s->disk[i]);
	hide_other_disks(s);
	replace_dev(s);
	replace_list(s, "/sys/class/block");
	replace_list(s, "/sys/block");
	setenv("BLKID_FILE", "/dev/null", 1);
	setenv("LC_ALL", "C", 1);
}

struct sandbox_disk *sandbox_find(struct sandbox *s, const char *name)
{
	for (unsigned int i = 0; i < s->n_disks; i++)
		if (!strcmp(s->disk[i].name, name))
			return &s->disk[i];
	return NULL;
}

void sandbox_sync(struct sandbox_disk *d)
{
	if (fsync(d->loop_fd))
		die_errno("sync %s", d->path);
}

/* Return: does the kernel still hold any page of the disk? */
static bool is_cached(const struct sandbox_disk *d)
{
	size_t pages = d->bytes / PAGE_BYTES;
	unsigned char *resident = xcalloc(pages, 1);
	void *map = mmap(NULL, d->bytes, PROT_READ, MAP_SHARED, d->loop_fd, 0);
	bool found;

	if (map == MAP_FAILED || mincore(map, d->bytes, resident))
		die_errno("look at the cache of %s", d->path);
	munmap(map, d->bytes);
	found = memchr(resident, 1, pages);
	free(resident);
	return found;
}

/*
 * BLKFLSBUF passes over a page that somebody uses at this moment, for instance another
 * program that probes all devices. Such a page would belong to no state at all.
 */
bool sandbox_invalidate(struct sandbox_disk *d)
{
	for (int tries = 0; tries < 50; tries++) {
		if (ioctl(d->loop_fd, BLKFLSBUF, 0))
			die_errno("flush %s", d->path);
		if (!is_cached(d))
			return true;
		usleep(1000);
	}
	return false;
}

void sandbox_erase(struct sandbox_disk *d)
{
	uint64_t range[2] = {0, d->bytes};

	if (ioctl(d->loop_fd, BLKDISCARD, range))
		die_errno("erase %s", d->path);
}
