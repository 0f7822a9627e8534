/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * What lies on disks and our own files; see own.h.
 *
 *	volume	the superblock, the journal's inode and map, and its superblock, of an image
 *		of IMAGE_BYTES that is given by its parts: offset (4 bytes), length (2 bytes),
 *		both little-endian, and bytes, again and again; tests/fuzz/seed makes such files
 *	plan	an experiment file, without those that it includes; what is read is printed, read
 *		again, and must print the same
 *	log	a state log
 */

#include "own.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plan/experiment.h"
#include "plan/state_log.h"
#include "volume/volume.h"

enum { IMAGE_BYTES = 8 << 20, HEAD = 6 };

static int new_file(void)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	must(fd >= 0, "no memory for a file");
	return fd;
}

static void put(int fd, const uint8_t *bytes, size_t n, uint64_t at)
{
	must(pwrite(fd, bytes, n, (off_t)at) == (ssize_t)n, "cannot write in memory");
}

static int make_image(const uint8_t *at, size_t n)
{
	int fd = new_file();

	must(!ftruncate(fd, IMAGE_BYTES), "no memory for an image");
	while (n > HEAD) {
		uint64_t offset = at[0] | at[1] << 8 | at[2] << 16 | (uint64_t)at[3] << 24;
		size_t length = at[4] | (size_t)at[5] << 8;

		at += HEAD;
		n -= HEAD;
		length = length < n ? length : n;
		if (length && offset < IMAGE_BYTES && length <= IMAGE_BYTES - offset)
			put(fd, at, length, offset);
		at += length;
		n -= length;
	}
	return fd;
}

/* Numbers that are handed out lie within the image. */
static void check_info(const struct volume_info *v)
{
	must(v->size_bytes <= IMAGE_BYTES, "a volume larger than its device");
	must(v->block_bytes >= 1024 && v->block_bytes <= 65536, "a strange block size");
	must(v->free_blocks <= v->block_count, "more blocks free than there are");
	for (uint32_t i = 0; i < v->run_count; i++)
		must(v->runs[i].first + v->runs[i].count <= v->block_count,
			"a journal outside of its volume");
}

static void fuzz_volume(const uint8_t *bytes, size_t n)
{
	struct volume_info v = {0};
	struct err e = {0};
	int fd = make_image(bytes, n);

	if (!volume_info_read(&v, fd, "fuzz", &e))
		check_info(&v);
	else
		must(*err_message(&e), "refused without a reason");
	volume_info_deinit(&v);
	err_clear(&e);
	close(fd);
}

static void fuzz_plan(const uint8_t *bytes, size_t n)
{
	struct experiment x = {0}, again = {0};
	char *text = strndup((const char *)bytes, n), *printed, *twice;
	struct err e = {0};

	must(text != NULL, "no memory");
	if (!strstr(text, "include") && !experiment_parse(&x, text, "fuzz", &e)) {
		printed = experiment_print(&x);
		must(printed != NULL, "a plan cannot be printed");
		must(!experiment_parse(&again, printed, "fuzz", &e), err_message(&e));
		twice = experiment_print(&again);
		must(twice && !strcmp(printed, twice), "a plan comes back as another");
		free(printed);
		free(twice);
	}
	experiment_deinit(&x);
	experiment_deinit(&again);
	err_clear(&e);
	free(text);
}

static void fuzz_log(const uint8_t *bytes, size_t n)
{
	json_t *records = NULL;
	struct err e = {0};
	int fd = new_file();
	char path[40];

	if (n)
		put(fd, bytes, n, 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!state_log_read(path, &records, &e))
		must(json_is_array(records), "records that are no array");
	json_decref(records);
	err_clear(&e);
	close(fd);
}

fuzz_own_fn *fuzz_own_find(const char *name)
{
	static const struct {
		const char *name;
		fuzz_own_fn *run;
	} targets[] = {{"volume", fuzz_volume}, {"plan", fuzz_plan}, {"log", fuzz_log}};

	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		if (!strcmp(targets[i].name, name))
			return targets[i].run;
	return NULL;
}
