/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * What a block device is; see identity.h.
 *
 * Where the facts lie depends on the driver.  SCSI and ATA disks have device/{vendor,
 * model,wwid} and the serial number in the binary page device/vpd_pg80; NVMe has
 * device/{model,serial} and wwid beside; virtio and MMC have a serial only.  A device
 * mapper device has a UUID of its own, which identifies it as a serial number does.  The
 * UUID of a partition comes from the partition table, which libblkid reads.
 *
 * The name that survives is sought among the links of udev; by-id comes first because it
 * names the hardware.  Where there is no udev there is no such name.
 */

#include "device/identity.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "core/fileio.h"
#include "device/sysfs.h"

static char *trimmed(char *text)
{
	size_t n, lead;

	if (!text)
		return NULL;
	lead = strspn(text, " \t");
	memmove(text, text + lead, strlen(text + lead) + 1);
	n = strlen(text);
	while (n && strchr(" \t\n", text[n - 1]))
		text[--n] = '\0';
	if (!n) {
		free(text);
		return NULL;
	}
	return text;
}

static char *read_model(const char *disk)
{
	_cleanup_free_ char *vendor = trimmed(fileio_read_line("%s/device/vendor", disk));
	_cleanup_free_ char *model = trimmed(fileio_read_line("%s/device/model", disk));
	char *both;

	/* virtio and PCI devices have a number there; ATA says only "ATA". */
	if (!model || !vendor || !strcmp(vendor, "ATA") || !strncmp(vendor, "0x", 2))
		return take_ptr(model);
	return asprintf(&both, "%s %s", vendor, model) < 0 ? NULL : both;
}

/* VPD page 0x80: type, page, length in 16 bits, then the serial number. */
static char *read_vpd_serial(const char *disk)
{
	_cleanup_(err_clear) struct err e = { 0 };
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char *page = NULL;
	size_t have, length;

	if (asprintf(&path, "%s/device/vpd_pg80", disk) < 0) {
		path = NULL;
		return NULL;
	}
	if (fileio_read(path, &page, &have, &e) || have < 4 ||
		(unsigned char)page[1] != 0x80)
		return NULL;
	length = (size_t)(unsigned char)page[2] << 8 | (unsigned char)page[3];
	return trimmed(strndup(page + 4, MIN(length, have - 4)));
}

static char *first_line(const char *disk, const char *const names[])
{
	for (size_t i = 0; names[i]; i++) {
		char *line = trimmed(fileio_read_line("%s/%s", disk, names[i]));

		if (line)
			return line;
	}
	return NULL;
}

static enum device_answer read_rotational(const char *disk)
{
	uint64_t value;

	if (fileio_read_u64(&value, "%s/queue/rotational", disk))
		return DEVICE_UNKNOWN;
	return value ? DEVICE_YES : DEVICE_NO;
}

static enum device_answer read_write_cache(const char *disk)
{
	_cleanup_free_ char *line = fileio_read_line("%s/queue/write_cache", disk);

	if (line && !strcmp(line, "write back"))
		return DEVICE_YES;
	if (line && !strcmp(line, "write through"))
		return DEVICE_NO;
	return DEVICE_UNKNOWN;
}

static void read_disk(struct device_identity *id, const char *disk)
{
	static const char *const serials[] = { "device/serial", "serial", "dm/uuid",
		"md/uuid", NULL };
	static const char *const wwns[] = { "wwid", "device/wwid", NULL };

	id->model = read_model(disk);
	id->serial = read_vpd_serial(disk);
	if (!id->serial)
		id->serial = first_line(disk, serials);
	id->wwn = first_line(disk, wwns);
	id->rotational = read_rotational(disk);
	id->write_cache = read_write_cache(disk);
	id->backing_file = sysfs_backing_file(disk);
}

void device_identity_read_sysfs(struct device_identity *id, const char *sysfs_root,
	dev_t devno)
{
	_cleanup_free_ char *dir = sysfs_device_dir(sysfs_root, devno);
	_cleanup_free_ char *disk = dir ? sysfs_whole_dir(dir) : NULL;
	uint64_t sectors;

	if (!disk)
		return;
	id->kernel_name = sysfs_kernel_name(dir);
	if (sysfs_is_partition(dir) && !fileio_read_u64(&sectors, "%s/start", dir) &&
		sectors <= UINT64_MAX / 512)
		id->partition_start_bytes = sectors * 512;
	read_disk(id, disk);
}

static char *read_partuuid(int fd)
{
	blkid_probe probe = blkid_new_probe();
	const char *value;
	char *uuid = NULL;

	if (!probe)
		return NULL;
	if (!blkid_probe_set_device(probe, fd, 0, 0) &&
		!blkid_probe_enable_superblocks(probe, 0) &&
		!blkid_probe_enable_partitions(probe, 1) &&
		!blkid_probe_set_partitions_flags(probe, BLKID_PARTS_ENTRY_DETAILS) &&
		blkid_do_safeprobe(probe) >= 0 &&
		!blkid_probe_lookup_value(probe, "PART_ENTRY_UUID", &value, NULL))
		uuid = strdup(value);
	blkid_free_probe(probe);
	return uuid;
}

static char *link_to(const char *directory, dev_t devno, const char *not_prefix)
{
	size_t count;
	char **names = sysfs_names(&count, "%s", directory);
	char *found = NULL;

	for (size_t i = 0; i < count && !found; i++) {
		struct stat st;

		if (not_prefix && !strncmp(names[i], not_prefix, strlen(not_prefix)))
			continue;
		if (asprintf(&found, "%s/%s", directory, names[i]) < 0) {
			found = NULL;
			break;
		}
		if (stat(found, &st) || !S_ISBLK(st.st_mode) || st.st_rdev != devno)
			free(take_ptr(found));
	}
	sysfs_names_free(names, count);
	return found;
}

static char *find_stable_name(dev_t devno)
{
	static const struct {
		const char *directory, *not_prefix;
	} places[] = {
		/* A serial number says more to a person than a WWN. */
		{ "/dev/disk/by-id", "wwn-" },
		{ "/dev/disk/by-id", NULL },
		{ "/dev/mapper", NULL },
		{ "/dev/disk/by-partuuid", NULL },
		{ "/dev/disk/by-uuid", NULL },
		{ "/dev/disk/by-path", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char *name = link_to(places[i].directory, devno, places[i].not_prefix);

		if (name)
			return name;
	}
	return NULL;
}

static int read_block(struct device_identity *id, int fd, const char *path, struct err *e)
{
	int logical = 0, read_only = 0;
	unsigned int physical = 0;

	if (ioctl(fd, BLKGETSIZE64, &id->size_bytes) || ioctl(fd, BLKSSZGET, &logical) ||
		ioctl(fd, BLKROGET, &read_only))
		return err_set(e, errno, "read the size of %s", path);
	if (ioctl(fd, BLKPBSZGET, &physical))
		physical = 0;
	id->logical_block_bytes = (uint32_t)logical;
	id->physical_block_bytes = physical ? physical : (uint32_t)logical;
	id->read_only = read_only;
	device_identity_read_sysfs(id, SYSFS_ROOT, id->devno);
	if (id->partition_start_bytes)
		id->partuuid = read_partuuid(fd);
	id->stable_name = find_stable_name(id->devno);
	return 0;
}

int device_identity_read(struct device_identity *id, int fd, const char *path,
	struct err *e)
{
	_cleanup_(device_identity_deinit) struct device_identity found = {
		.rotational = DEVICE_UNKNOWN,
		.write_cache = DEVICE_UNKNOWN,
	};
	struct stat st;
	int r;

	if (fstat(fd, &st))
		return err_set(e, errno, "look at %s", path);
	if (!S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode))
		return err_say(e, ENOTBLK, "%s is neither a block device nor a file",
			path);
	found.path = realpath(path, NULL);
	if (!found.path)
		found.path = strdup(path);
	if (!found.path)
		return err_set(e, ENOMEM, "look at %s", path);
	if (S_ISBLK(st.st_mode)) {
		found.is_block = true;
		found.devno = st.st_rdev;
		r = read_block(&found, fd, path, e);
		if (r)
			return r;
	} else {
		found.size_bytes = (uint64_t)st.st_size;
		found.logical_block_bytes = found.physical_block_bytes = 512;
		found.read_only = access(path, W_OK) != 0;
	}
	*id = found;
	found = (struct device_identity){ 0 };
	return 0;
}

void device_identity_deinit(struct device_identity *id)
{
	free(id->path);
	free(id->stable_name);
	free(id->kernel_name);
	free(id->model);
	free(id->serial);
	free(id->wwn);
	free(id->partuuid);
	free(id->backing_file);
	*id = (struct device_identity){ 0 };
}

/* Counts a fact that both know; false when it differs. */
static bool agree(const char *a, const char *b, unsigned *equal)
{
	if (!a || !b)
		return true;
	if (strcmp(a, b))
		return false;
	(*equal)++;
	return true;
}

bool device_identity_same(const struct device_identity *a,
	const struct device_identity *b)
{
	unsigned equal = 0, models = 0;

	if (a->is_block != b->is_block || a->size_bytes != b->size_bytes ||
		a->partition_start_bytes != b->partition_start_bytes)
		return false;
	if (!a->is_block)
		return agree(a->path, b->path, &equal) && equal;
	return agree(a->model, b->model, &models) &&
	       agree(a->serial, b->serial, &equal) && agree(a->wwn, b->wwn, &equal) &&
	       agree(a->partuuid, b->partuuid, &equal) &&
	       agree(a->backing_file, b->backing_file, &equal) && equal;
}
