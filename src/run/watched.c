/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Devices under watch; see watched.h. */

#include "run/watched.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/fileio.h"
#include "device/sysfs.h"
#include "device/topology.h"
#include "scratch/loopdisk.h"

enum { DEPTH_MAX = 16 }; /* of dm and md on each other */

/* What a disk is to the device that is added. */
enum place { ITSELF, COUNTS, BELOW };

static void add(struct watched *w, dev_t devno, const char *name, unsigned role,
	enum place place)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->disks[i].devno == devno) {
			w->disks[i].roles |= role;
			w->disks[i].counts = w->disks[i].counts || place == COUNTS;
			return;
		}
	if (!name || w->count == EVIDENCE_DISKS_MAX)
		return;
	snprintf(w->names[w->count], sizeof(w->names[0]), "%s", name);
	w->disks[w->count] = (struct ledger_disk){ .devno = devno,
		.name = w->names[w->count], .roles = role, .below = place != ITSELF,
		.counts = place == COUNTS };
	w->count++;
}

static dev_t devno_of_disk(const char *kernel_name)
{
	_cleanup_free_ char *line = fileio_read_line("/sys/class/block/%s/dev", kernel_name);
	unsigned major_, minor_;

	return line && sscanf(line, "%u:%u", &major_, &minor_) == 2
		? makedev(major_, minor_)
		: 0;
}

/*
 * The kernel counts flushes where requests are queued: on the whole disk of a partition,
 * and below dm and md.  A loop device queues requests itself, whatever is below it.
 */
static void add_counting(struct watched *w, const char *dir, unsigned role, int depth)
{
	_cleanup_free_ char *disk = sysfs_whole_dir(dir), *name = NULL, *queues = NULL;
	char **slaves;
	size_t count;

	if (!disk || !depth || asprintf(&queues, "%s/mq", disk) < 0) {
		queues = NULL;
		return;
	}
	name = sysfs_kernel_name(disk);
	if (!access(queues, F_OK)) {
		add(w, sysfs_devno(disk), name, role, COUNTS);
		return;
	}
	slaves = sysfs_names(&count, "%s/slaves", disk);
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *link = NULL, *slave = NULL;

		if (asprintf(&link, "%s/slaves/%s", disk, slaves[i]) < 0) {
			link = NULL;
			break;
		}
		slave = realpath(link, NULL);
		if (slave)
			add_counting(w, slave, role, depth - 1);
	}
	sysfs_names_free(slaves, count);
}

void watched_add(struct watched *w, const struct device_identity *id, unsigned role)
{
	_cleanup_(topology_deinit) struct topology t = { 0 };
	_cleanup_free_ char *dir = sysfs_device_dir(SYSFS_ROOT, id->devno);

	add(w, id->devno, id->kernel_name, role, ITSELF);
	if (dir)
		add_counting(w, dir, role, DEPTH_MAX);
	if (topology_read(&t, id->devno, NULL))
		return;
	for (size_t i = 0; i < t.count; i++) {
		dev_t disk = devno_of_disk(t.disks[i]);

		if (disk)
			add(w, disk, t.disks[i], role, BELOW);
	}
}

static void add_model(struct watched *w, const struct scratch_disk *s)
{
	for (size_t i = 0; s->device && i < w->count; i++)
		if (!w->busy[i] && !strcmp(s->device + strlen("/dev/"), w->names[i]))
			w->disks[i].busy = w->busy[i] = scratch_busy_file(s);
}

void watched_find_models(struct watched *w)
{
	_cleanup_(err_clear) struct err ignored = { 0 };
	struct scratch_disk *disks = NULL;
	size_t count = 0;

	if (scratch_list(&disks, &count, &ignored))
		return;
	for (size_t i = 0; i < count; i++)
		add_model(w, &disks[i]);
	scratch_list_free(disks, count);
}

void watched_deinit(struct watched *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->busy[i]);
	*w = (struct watched){ .count = 0 };
}

static bool has_option(const char *options, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = options; at && *at; at += *at == ',') {
		if (!strncmp(at, name, n) && (!at[n] || at[n] == ','))
			return true;
		at += strcspn(at, ",");
	}
	return false;
}

void watched_read_options(struct evidence_arm *arm, const char *options)
{
	arm->data = has_option(options, "data=journal") ? ARM_JOURNAL
		: has_option(options, "data=writeback") ? ARM_WRITEBACK
							: ARM_ORDERED;
	arm->barrier = !has_option(options, "nobarrier") && !has_option(options, "barrier=0");
	arm->async_commit = has_option(options, "journal_async_commit");
}
