/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * e2fsck's judgement on images of our own, and that it can be had while the volume and
 * its journal device are both held; the latter needs root and loop devices.
 */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "core/process.h"
#include "device/claim.h"
#include "volume/fsck.h"

static char directory[64], image[96], journal[96];

static int program(const char *const argv[], char **output)
{
	_cleanup_(process_outcome_deinit) struct process_outcome o = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };
	int r = process_run(argv, NULL, &o, &e);

	if (r || o.status)
		return r ? r : -EIO;
	if (output) {
		*output = take_ptr(o.output);
		(*output)[strcspn(*output, "\n")] = '\0';
	}
	return 0;
}

static int make_file(const char *path, off_t bytes)
{
	_cleanup_close_ int fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 ? -1 : ftruncate(fd, bytes);
}

static int make_directory(void **state _unused_)
{
	strcpy(directory, "/tmp/jbdlab-unit.XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(image, sizeof(image), "%s/image", directory);
	snprintf(journal, sizeof(journal), "%s/journal", directory);
	return make_file(image, 16 << 20) || make_file(journal, 8 << 20) ? -1 : 0;
}

static int remove_directory(void **state _unused_)
{
	unlink(image);
	unlink(journal);
	return rmdir(directory);
}

static void a_clean_volume_passes_and_a_damaged_one_does_not(void **state _unused_)
{
	const char *const mke2fs[] = { "mke2fs", "-q", "-F", "-t", "ext4", image, NULL };
	/* A block in use that the bitmap says is free. */
	const char *const break_it[] = { "debugfs", "-w", "-R", "freeb 20", image, NULL };
	_cleanup_(err_clear) struct err e = { 0 };
	int r = program(mke2fs, NULL);

	if (r == -ENOENT)
		skip();
	assert_int_equal(r, 0);
	assert_int_equal(fsck_check(image, NULL, &e), 0);
	assert_int_equal(program(break_it, NULL), 0);
	assert_int_equal(fsck_check(image, NULL, &e), -EUCLEAN);
	assert_non_null(strstr(err_message(&e), "ended with status 4"));
	assert_non_null(strstr(err_message(&e), image));
}

static void what_is_no_volume_does_not_pass(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };
	int r;

	assert_int_equal(make_file(image, 0), 0);
	assert_int_equal(make_file(image, 16 << 20), 0);
	r = fsck_check(image, NULL, &e);
	if (r == -ENOENT)
		skip();
	assert_int_equal(r, -EUCLEAN);
}

static void both_devices_may_be_held_meanwhile(void **state _unused_)
{
	const char *const loop_image[] = { "losetup", "-f", "--show", image, NULL };
	const char *const loop_journal[] = { "losetup", "-f", "--show", journal, NULL };
	_cleanup_(claim_releasep) struct claim *a = NULL;
	_cleanup_(claim_releasep) struct claim *b = NULL;
	_cleanup_(err_clear) struct err e = { 0 };
	_cleanup_free_ char *data = NULL;
	_cleanup_free_ char *log = NULL;
	char with[64];

	if (geteuid() || program(loop_image, &data) || program(loop_journal, &log))
		skip();
	const char *const make_log[] = { "mke2fs", "-q", "-b", "4096", "-O",
		"journal_dev", log, NULL };
	const char *const make_data[] = { "mke2fs", "-q", "-b", "4096", "-t", "ext4",
		"-J", with, data, NULL };
	const char *const detach[] = { "losetup", "-d", data, log, NULL };

	snprintf(with, sizeof(with), "device=%s", log);
	assert_int_equal(program(make_log, NULL), 0);
	assert_int_equal(program(make_data, NULL), 0);
	assert_int_equal(claim_take(&a, data, true, &e), 0);
	assert_int_equal(claim_take(&b, log, true, &e), 0);
	assert_int_equal(fsck_check(data, log, &e), 0);
	assert_int_equal(fsck_check(data, NULL, &e), 0);
	a = claim_release(a);
	b = claim_release(b);
	assert_int_equal(program(detach, NULL), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clean_volume_passes_and_a_damaged_one_does_not),
		cmocka_unit_test(what_is_no_volume_does_not_pass),
		cmocka_unit_test(both_devices_may_be_held_meanwhile),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
