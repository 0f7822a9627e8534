/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Disks under a tracer; see traced.h.  The block layer names the whole disk in its
 * events, and counts sectors from its start: what is known of a partition is moved there.
 */

#include "run/traced.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/fileio.h"
#include "device/sysfs.h"
#include "volume/volume.h"

enum { SECTOR_BYTES = 512 };

/* A device and the whole disk that it is or lies on. */
struct place {
	dev_t disk;
	uint64_t start_sector;
};

static int add_disk(struct trace_map *map, const struct device_identity *id, unsigned role,
	struct place *place, struct err *e)
{
	_cleanup_free_ char *dir = sysfs_device_dir(SYSFS_ROOT, id->devno);
	_cleanup_free_ char *whole = dir ? sysfs_whole_dir(dir) : NULL;
	_cleanup_free_ char *name = whole ? sysfs_kernel_name(whole) : NULL;
	_cleanup_free_ char *queues = NULL;
	struct trace_disk *disk;

	if (!name || asprintf(&queues, "%s/mq", whole) < 0) {
		queues = NULL;
		return err_say(e, ENODEV, "%s is not in sysfs", id->path);
	}
	place->disk = sysfs_devno(whole);
	place->start_sector = id->partition_start_bytes / SECTOR_BYTES;
	for (size_t i = 0; i < map->disk_count; i++)
		if (map->disks[i].devno == place->disk) {
			map->disks[i].roles |= role;
			return 0;
		}
	if (map->disk_count == EVIDENCE_DISKS_MAX)
		return err_say(e, E2BIG, "more than %d disks cannot be traced",
			EVIDENCE_DISKS_MAX);
	disk = &map->disks[map->disk_count++];
	disk->devno = place->disk;
	disk->roles = role;
	disk->bio_based = access(queues, F_OK) != 0;
	snprintf(disk->name, sizeof(disk->name), "%s", name);
	return 0;
}

static int add_range(struct trace_map *map, const struct place *place, uint64_t first,
	uint64_t sectors, bool journal, uint64_t superblock, struct err *e)
{
	struct trace_range *more =
		reallocarray(map->ranges, map->range_count + 1, sizeof(*more));

	if (!more)
		return err_set(e, ENOMEM, "trace");
	map->ranges = more;
	more[map->range_count++] = (struct trace_range){ place->disk,
		place->start_sector + first, sectors, journal,
		place->start_sector + superblock };
	return 0;
}

static int add_inline(struct trace_map *map, const struct place *place,
	const struct volume_info *info, struct err *e)
{
	uint64_t sectors = info->block_bytes / SECTOR_BYTES;
	int r = 0;

	for (uint32_t i = 0; !r && i < info->run_count; i++)
		r = add_range(map, place, info->runs[i].first * sectors,
			info->runs[i].count * sectors, true, info->runs[0].first * sectors, e);
	return r;
}

static int read_volume(struct volume_info *info, const struct device_identity *id,
	struct err *e)
{
	_cleanup_close_ int fd = open(id->path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? err_set(e, errno, "open %s", id->path)
		      : volume_info_read(info, fd, id->path, e);
}

/* The superblock of an external journal is in the block behind the one that holds the
 * superblock of its device, which is at byte 1024. */
static int add_external(struct trace_map *map, const struct device_identity *id,
	uint32_t block_bytes, struct err *e)
{
	uint64_t superblock = block_bytes == 1024 ? 2 : 1;
	struct place place;
	int r = add_disk(map, id, EVIDENCE_JOURNAL, &place, e);

	return r ? r
		 : add_range(map, &place, 0, id->size_bytes / SECTOR_BYTES, true,
			   superblock * block_bytes / SECTOR_BYTES, e);
}

int traced_add(struct tracer_setup *setup, const struct device_identity *volume,
	const struct device_identity *journal, struct err *e)
{
	_cleanup_(volume_info_deinit) struct volume_info info = { 0 };
	struct trace_map *map = &setup->map;
	struct place place;
	int r;

	if (setup->volume_count == TRACER_VOLUMES_MAX)
		return err_say(e, E2BIG, "more than %d volumes cannot be traced",
			TRACER_VOLUMES_MAX);
	setup->volumes[setup->volume_count++] = volume->devno;
	r = add_disk(map, volume, EVIDENCE_DATA, &place, e);
	if (!r)
		r = read_volume(&info, volume, e);
	if (!r)
		r = add_inline(map, &place, &info, e);
	if (!r && journal)
		r = add_external(map, journal, info.block_bytes, e);
	return r ? r
		 : add_range(map, &place, 0, volume->size_bytes / SECTOR_BYTES, false, 0, e);
}

void traced_deinit(struct tracer_setup *setup)
{
	free(setup->map.ranges);
	*setup = (struct tracer_setup){ 0 };
}
