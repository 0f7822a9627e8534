/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Facts and topology from trees that look like sysfs, with the layouts of SCSI, NVMe,
 * virtio, device mapper, md and loop devices.  The trees are made here, in a temporary
 * directory: git could not keep the links.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "core/fileio.h"
#include "core/process.h"
#include "device/identity.h"
#include "device/sysfs.h"
#include "device/topology.h"

static char root[64];

static void put(const char *path, const char *bytes, size_t n)
{
	_cleanup_free_ char *full = NULL;
	_cleanup_free_ char *parent = NULL;
	struct err e = { 0 };

	assert_true(asprintf(&full, "%s/%s", root, path) > 0);
	parent = strndup(full, (size_t)(strrchr(full, '/') - full));
	assert_int_equal(fileio_make_dirs(parent, 0755, &e), 0);
	assert_int_equal(fileio_write_durable(full, bytes, n, 0644, &e), 0);
}

static void text(const char *path, const char *content)
{
	put(path, content, strlen(content));
}

static void join(const char *from, const char *to)
{
	_cleanup_free_ char *full = NULL;
	_cleanup_free_ char *target = NULL;
	_cleanup_free_ char *parent = NULL;
	struct err e = { 0 };

	assert_true(asprintf(&full, "%s/%s", root, from) > 0);
	assert_true(asprintf(&target, "%s/%s", root, to) > 0);
	parent = strndup(full, (size_t)(strrchr(full, '/') - full));
	assert_int_equal(fileio_make_dirs(parent, 0755, &e), 0);
	assert_int_equal(symlink(target, full), 0);
}

/* A device directory with its number and the link in dev/block. */
static void device(const char *dir, const char *number)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/dev", dir);
	text(path, number);
	path[0] = '\0';
	snprintf(path, sizeof(path), "dev/block/%.*s", (int)strcspn(number, "\n"),
		number);
	join(path, dir);
}

static void make_scsi(void)
{
	static const char page[] = "\0\x80\0\x0c  WD-WX123  ";

	device("devices/block/sda", "8:0\n");
	text("devices/block/sda/device/vendor", "ATA     \n");
	text("devices/block/sda/device/model", "WDC WD10EZEX-08W\n");
	text("devices/block/sda/device/wwid", "naa.50014ee2b1234567\n");
	put("devices/block/sda/device/vpd_pg80", page, sizeof(page) - 1);
	text("devices/block/sda/queue/rotational", "1\n");
	text("devices/block/sda/queue/write_cache", "write back\n");
	device("devices/block/sda/sda1", "8:1\n");
	text("devices/block/sda/sda1/partition", "1\n");
	text("devices/block/sda/sda1/start", "2048\n");
	device("devices/block/sda/sda2", "8:2\n");
	text("devices/block/sda/sda2/partition", "2\n");
	text("devices/block/sda/sda2/start", "1000000\n");
	device("devices/block/sdb", "8:16\n");
	text("devices/block/sdb/device/vendor", "DELL    \n");
	text("devices/block/sdb/device/model", "PERC H730 Mini  \n");
}

static void make_others(void)
{
	device("devices/block/nvme0n1", "259:0\n");
	text("devices/block/nvme0n1/device/model", "Samsung SSD 980     \n");
	text("devices/block/nvme0n1/device/serial", "S64ENJ0R     \n");
	text("devices/block/nvme0n1/wwid", "eui.002538d41100a1b2\n");
	text("devices/block/nvme0n1/queue/rotational", "0\n");
	text("devices/block/nvme0n1/queue/write_cache", "write through\n");
	device("devices/block/vda", "254:0\n");
	text("devices/block/vda/device/vendor", "0x1af4\n");
	text("devices/block/vda/serial", "disk-17\n");
	device("devices/block/cciss!c0d0", "104:0\n");
	text("devices/block/cciss!c0d0/queue/rotational", "1\n");
}

/* dm-0 on sda1 and md0; md0 on sda2 and sdb; dm-1 on dm-1 (a loop that must end). */
static void make_stack(void)
{
	device("devices/block/md0", "9:0\n");
	join("devices/block/md0/slaves/sda2", "devices/block/sda/sda2");
	join("devices/block/md0/slaves/sdb", "devices/block/sdb");
	device("devices/block/dm-0", "253:0\n");
	text("devices/block/dm-0/dm/name", "vg-data\n");
	text("devices/block/dm-0/dm/uuid", "LVM-abc\n");
	join("devices/block/dm-0/slaves/sda1", "devices/block/sda/sda1");
	join("devices/block/dm-0/slaves/md0", "devices/block/md0");
	device("devices/block/dm-1", "253:1\n");
	join("devices/block/dm-1/slaves/dm-1", "devices/block/dm-1");
	device("devices/block/loop0", "7:0\n");
	text("devices/block/loop0/loop/backing_file", "/no/such/file\n");
	device("devices/block/loop0/loop0p1", "259:1\n");
	text("devices/block/loop0/loop0p1/partition", "1\n");
	device("devices/block/loop0/loop0p2", "259:2\n");
	text("devices/block/loop0/loop0p2/partition", "2\n");
}

static int make_tree(void **state _unused_)
{
	strcpy(root, "/tmp/jbdlab-unit.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	make_scsi();
	make_others();
	make_stack();
	return 0;
}

static int remove_tree(void **state _unused_)
{
	const char *const argv[] = { "rm", "-r", root, NULL };
	struct err e = { 0 };

	return process_run_ok(argv, &e);
}

static struct device_identity facts(unsigned high, unsigned low)
{
	struct device_identity id = { .rotational = DEVICE_UNKNOWN,
		.write_cache = DEVICE_UNKNOWN };

	device_identity_read_sysfs(&id, root, makedev(high, low));
	return id;
}

static void backing_file_is(const char *in_sysfs, const char *seen)
{
	_cleanup_free_ char *dir = NULL, *found = NULL;

	text("devices/block/loop9/loop/backing_file", in_sysfs);
	assert_true(asprintf(&dir, "%s/devices/block/loop9", root) > 0);
	found = sysfs_backing_file(dir);
	assert_non_null(found);
	assert_string_equal(found, seen);
}

/* In a chroot with mounts of its own the kernel puts the path of the chroot in front. */
static void a_backing_file_is_named_as_this_process_sees_it(void **state _unused_)
{
	char file[128], deleted[160], longer[200];

	text("files/volume.img", "");
	snprintf(file, sizeof(file), "%s/files/volume.img", root);
	snprintf(deleted, sizeof(deleted), "%s/files/gone (deleted)", root);
	backing_file_is(file, file);
	backing_file_is(deleted, deleted);
	snprintf(longer, sizeof(longer), "/no/such/root%s", file);
	backing_file_is(longer, file);
	snprintf(longer, sizeof(longer), "/no/such/root%s", deleted);
	backing_file_is(longer, deleted);
	backing_file_is("/no/such/file", "/no/such/file");
	backing_file_is("/no/such/gone (deleted)", "/no/such/gone (deleted)");
}

static void a_sata_disk_is_known_by_model_serial_and_wwn(void **state _unused_)
{
	_cleanup_(device_identity_deinit) struct device_identity id = facts(8, 0);

	assert_string_equal(id.kernel_name, "sda");
	assert_string_equal(id.model, "WDC WD10EZEX-08W");
	assert_string_equal(id.serial, "WD-WX123");
	assert_string_equal(id.wwn, "naa.50014ee2b1234567");
	assert_int_equal(id.rotational, DEVICE_YES);
	assert_int_equal(id.write_cache, DEVICE_YES);
	assert_int_equal(id.partition_start_bytes, 0);
}

static void a_partition_has_the_facts_of_its_disk_and_its_start(void **state _unused_)
{
	_cleanup_(device_identity_deinit) struct device_identity id = facts(8, 1);

	assert_string_equal(id.kernel_name, "sda1");
	assert_string_equal(id.serial, "WD-WX123");
	assert_int_equal(id.rotational, DEVICE_YES);
	assert_int_equal(id.partition_start_bytes, 1 << 20);
}

static void a_raid_volume_carries_its_vendor(void **state _unused_)
{
	_cleanup_(device_identity_deinit) struct device_identity id = facts(8, 16);

	assert_string_equal(id.model, "DELL PERC H730 Mini");
	assert_null(id.serial);
	assert_int_equal(id.rotational, DEVICE_UNKNOWN);
	assert_int_equal(id.write_cache, DEVICE_UNKNOWN);
}

static void an_nvme_disk_has_its_files_elsewhere(void **state _unused_)
{
	_cleanup_(device_identity_deinit) struct device_identity id = facts(259, 0);

	assert_string_equal(id.model, "Samsung SSD 980");
	assert_string_equal(id.serial, "S64ENJ0R");
	assert_string_equal(id.wwn, "eui.002538d41100a1b2");
	assert_int_equal(id.rotational, DEVICE_NO);
	assert_int_equal(id.write_cache, DEVICE_NO);
}

static void a_virtio_disk_has_a_serial_and_no_model(void **state _unused_)
{
	_cleanup_(device_identity_deinit) struct device_identity id = facts(254, 0);

	assert_null(id.model);
	assert_string_equal(id.serial, "disk-17");
}

static void a_mapping_is_known_by_its_uuid(void **state _unused_)
{
	_cleanup_(device_identity_deinit) struct device_identity id = facts(253, 0);

	assert_string_equal(id.kernel_name, "dm-0");
	assert_string_equal(id.serial, "LVM-abc");
}

static void a_slash_in_a_kernel_name_is_restored(void **state _unused_)
{
	_cleanup_(device_identity_deinit) struct device_identity id = facts(104, 0);

	assert_string_equal(id.kernel_name, "cciss/c0d0");
}

static void an_unknown_device_leaves_everything_unknown(void **state _unused_)
{
	_cleanup_(device_identity_deinit) struct device_identity id = facts(99, 9);

	assert_null(id.kernel_name);
	assert_null(id.serial);
	assert_int_equal(id.rotational, DEVICE_UNKNOWN);
}

static struct device_identity disk(char *serial, char *partuuid, uint64_t start)
{
	return (struct device_identity){ .is_block = true,
		.size_bytes = 1 << 30,
		.serial = serial,
		.partuuid = partuuid,
		.partition_start_bytes = start };
}

static void the_same_disk_is_recognised_under_another_name(void **state _unused_)
{
	struct device_identity a = disk("S1", NULL, 0), b = disk("S1", NULL, 0);

	a.path = "/dev/sda";
	b.path = "/dev/sdb";
	a.devno = makedev(8, 0);
	b.devno = makedev(8, 16);
	assert_true(device_identity_same(&a, &b));
}

static void anything_that_differs_makes_another_disk(void **state _unused_)
{
	struct device_identity a = disk("S1", "P1", 512), b = disk("S1", "P1", 512);

	assert_true(device_identity_same(&a, &b));
	b.serial = "S2";
	assert_false(device_identity_same(&a, &b));
	b = disk("S1", "P2", 512);
	assert_false(device_identity_same(&a, &b));
	b = disk("S1", "P1", 1024);
	assert_false(device_identity_same(&a, &b));
	b = disk("S1", "P1", 512);
	b.size_bytes++;
	assert_false(device_identity_same(&a, &b));
	b = disk("S1", "P1", 512);
	a.wwn = "W1";
	b.wwn = "W2";
	assert_false(device_identity_same(&a, &b));
}

static void without_a_unique_fact_nothing_is_the_same(void **state _unused_)
{
	struct device_identity a = disk(NULL, NULL, 0), b = disk(NULL, NULL, 0);

	a.path = b.path = "/dev/sda";
	a.model = b.model = "QEMU HARDDISK";
	assert_false(device_identity_same(&a, &b));
	a.serial = "S1"; /* known of one only */
	assert_false(device_identity_same(&a, &b));
}

static void below_a_partition_is_its_disk(void **state _unused_)
{
	_cleanup_(topology_deinit) struct topology t = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };

	assert_int_equal(topology_read_sysfs(&t, root, makedev(8, 1), &e), 0);
	assert_int_equal(t.count, 1);
	assert_string_equal(t.disks[0], "sda");
	assert_true(t.complete);
}

static void below_a_stack_is_each_disk_once(void **state _unused_)
{
	_cleanup_(topology_deinit) struct topology t = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };

	assert_int_equal(topology_read_sysfs(&t, root, makedev(253, 0), &e), 0);
	assert_int_equal(t.count, 2);
	assert_string_equal(t.disks[0], "sda");
	assert_string_equal(t.disks[1], "sdb");
	assert_true(t.complete);
}

static void a_stack_in_circles_ends_incomplete(void **state _unused_)
{
	_cleanup_(topology_deinit) struct topology t = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };

	assert_int_equal(topology_read_sysfs(&t, root, makedev(253, 1), &e), 0);
	assert_int_equal(t.count, 1);
	assert_string_equal(t.disks[0], "dm-1");
	assert_false(t.complete);
}

static void a_loop_whose_file_is_out_of_sight_is_incomplete(void **state _unused_)
{
	_cleanup_(topology_deinit) struct topology t = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };

	assert_int_equal(topology_read_sysfs(&t, root, makedev(7, 0), &e), 0);
	assert_int_equal(t.count, 1);
	assert_string_equal(t.disks[0], "loop0");
	assert_false(t.complete);
}

static void an_unknown_device_has_no_topology(void **state _unused_)
{
	_cleanup_(topology_deinit) struct topology t = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };

	assert_int_equal(topology_read_sysfs(&t, root, makedev(99, 9), &e), -ENOENT);
}

static enum device_answer shared(dev_t a, dev_t b)
{
	_cleanup_(topology_deinit) struct topology x = { 0 };
	_cleanup_(topology_deinit) struct topology y = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };

	assert_int_equal(topology_read_sysfs(&x, root, a, &e), 0);
	assert_int_equal(topology_read_sysfs(&y, root, b, &e), 0);
	return topology_compare(&x, &y);
}

static void a_shared_disk_is_found_through_every_layer(void **state _unused_)
{
	assert_int_equal(shared(makedev(8, 1), makedev(8, 2)), DEVICE_YES);
	assert_int_equal(shared(makedev(253, 0), makedev(8, 16)), DEVICE_YES);
	assert_int_equal(shared(makedev(253, 0), makedev(259, 0)), DEVICE_NO);
	assert_int_equal(shared(makedev(8, 1), makedev(7, 0)), DEVICE_UNKNOWN);
	assert_int_equal(shared(makedev(259, 1), makedev(259, 2)), DEVICE_YES);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sata_disk_is_known_by_model_serial_and_wwn),
		cmocka_unit_test(a_partition_has_the_facts_of_its_disk_and_its_start),
		cmocka_unit_test(a_raid_volume_carries_its_vendor),
		cmocka_unit_test(an_nvme_disk_has_its_files_elsewhere),
		cmocka_unit_test(a_virtio_disk_has_a_serial_and_no_model),
		cmocka_unit_test(a_mapping_is_known_by_its_uuid),
		cmocka_unit_test(a_slash_in_a_kernel_name_is_restored),
		cmocka_unit_test(an_unknown_device_leaves_everything_unknown),
		cmocka_unit_test(the_same_disk_is_recognised_under_another_name),
		cmocka_unit_test(anything_that_differs_makes_another_disk),
		cmocka_unit_test(without_a_unique_fact_nothing_is_the_same),
		cmocka_unit_test(below_a_partition_is_its_disk),
		cmocka_unit_test(below_a_stack_is_each_disk_once),
		cmocka_unit_test(a_stack_in_circles_ends_incomplete),
		cmocka_unit_test(a_loop_whose_file_is_out_of_sight_is_incomplete),
		cmocka_unit_test(an_unknown_device_has_no_topology),
		cmocka_unit_test(a_backing_file_is_named_as_this_process_sees_it),
		cmocka_unit_test(a_shared_disk_is_found_through_every_layer),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
