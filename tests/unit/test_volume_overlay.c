/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The overlay against a plain copy of the file in memory: whatever is written through
 * libext2fs' interface is read back, the file itself never changes, and the list of pages
 * holds every page that was written.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/fileio.h"
#include "volume/overlay.h"

#define FILE_BYTES (257 * 1024 + 512) /* ends inside of a page */
#define SPACE_BYTES (FILE_BYTES + 64 * 1024) /* what may be written reaches beyond */

struct fixture {
	int fd;
	uint8_t *file;	/* what is in the file */
	uint8_t *model; /* what the overlay must show */
	struct overlay *overlay;
	io_channel io;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char path[] = "/tmp/jbdlab-overlay.XXXXXX";

	f->fd = mkstemp(path);
	assert_true(f->fd >= 0);
	unlink(path);
	f->file = malloc(FILE_BYTES);
	f->model = calloc(1, SPACE_BYTES);
	for (size_t i = 0; i < FILE_BYTES; i++)
		f->file[i] = (uint8_t)random();
	memcpy(f->model, f->file, FILE_BYTES);
	assert_int_equal(pwrite(f->fd, f->file, FILE_BYTES, 0), FILE_BYTES);
	assert_int_equal(overlay_new(&f->overlay, f->fd, "file", NULL), 0);
	assert_int_equal(overlay_manager()->open(overlay_io_name(f->overlay), IO_FLAG_RW,
				 &f->io), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	uint8_t *now = malloc(FILE_BYTES + 1);

	/* Never a byte of the file. */
	assert_int_equal(pread(f->fd, now, FILE_BYTES + 1, 0), FILE_BYTES);
	assert_memory_equal(now, f->file, FILE_BYTES);
	io_channel_close(f->io);
	overlay_free(f->overlay);
	close(f->fd);
	free(now);
	free(f->file);
	free(f->model);
	free(f);
	return 0;
}

static void put(struct fixture *f, uint64_t block, int count, const uint8_t *bytes)
{
	size_t n = count < 0 ? (size_t)-count : (size_t)count * (size_t)f->io->block_size;

	assert_int_equal(io_channel_write_blk64(f->io, block, count, bytes), 0);
	memcpy(f->model + block * (uint64_t)f->io->block_size, bytes, n);
}

static void check(struct fixture *f, uint64_t offset, size_t n)
{
	uint8_t *bytes = malloc(n + 1);

	assert_int_equal(overlay_read(f->overlay, offset, bytes, n, NULL), 0);
	assert_memory_equal(bytes, f->model + offset, n);
	free(bytes);
}

static void nothing_written_shows_the_file(void **state)
{
	struct fixture *f = *state;
	uint64_t *pages;
	size_t count;

	check(f, 0, SPACE_BYTES);
	assert_int_equal(overlay_pages(f->overlay, &pages, &count, NULL), 0);
	assert_int_equal(count, 0);
	free(pages);
}

static void a_part_of_a_page_leaves_the_rest(void **state)
{
	struct fixture *f = *state;
	uint8_t bytes[1024];

	memset(bytes, 0x5a, sizeof(bytes));
	io_channel_set_blksize(f->io, 1024);
	put(f, 5, 1, bytes);
	put(f, 9, -100, bytes);
	put(f, 0, -1, bytes);
	check(f, 0, SPACE_BYTES);
	check(f, 5 * 1024 + 1000, 50);
}

static void the_end_of_the_file_is_followed_by_zeros(void **state)
{
	struct fixture *f = *state;
	uint8_t bytes[1024];

	memset(bytes, 0x5a, sizeof(bytes));
	io_channel_set_blksize(f->io, 1024);
	put(f, FILE_BYTES / 1024, 1, bytes);
	put(f, FILE_BYTES / 1024 + 7, 1, bytes);
	check(f, 0, SPACE_BYTES);
}

static void pages_of_zeros_are_zeros_and_can_be_written_again(void **state)
{
	struct fixture *f = *state;
	static const uint8_t zeros[16384];
	uint8_t bytes[4096];

	memset(bytes, 0x5a, sizeof(bytes));
	io_channel_set_blksize(f->io, 4096);
	put(f, 4, 4, zeros);
	assert_true(overlay_page_is_zero(f->overlay, 4));
	assert_true(overlay_page_is_zero(f->overlay, 7));
	assert_false(overlay_page_is_zero(f->overlay, 8)); /* never written */
	check(f, 0, SPACE_BYTES);
	put(f, 5, 1, bytes);
	assert_false(overlay_page_is_zero(f->overlay, 5));
	io_channel_set_blksize(f->io, 1024);
	put(f, 24, 1, bytes); /* a quarter of page 6 */
	assert_false(overlay_page_is_zero(f->overlay, 6));
	check(f, 0, SPACE_BYTES);
	io_channel_set_blksize(f->io, 4096);
	put(f, 5, 1, zeros);
	assert_true(overlay_page_is_zero(f->overlay, 5));
	check(f, 0, SPACE_BYTES);
}

static void zeroing_out_works_on_any_number_of_blocks(void **state)
{
	struct fixture *f = *state;

	io_channel_set_blksize(f->io, 1024);
	assert_int_equal(io_channel_zeroout(f->io, 3, 150), 0);
	memset(f->model + 3 * 1024, 0, 150 * 1024);
	check(f, 0, SPACE_BYTES);
	assert_false(overlay_page_is_zero(f->overlay, 0));
	assert_true(overlay_page_is_zero(f->overlay, 1));
}

static void random_writes_of_all_sizes_are_read_back(void **state)
{
	struct fixture *f = *state;
	static const int sizes[] = { 1024, 2048, 4096, 16384 };
	uint8_t *bytes = calloc(1, 65536);
	uint64_t *pages;
	size_t count;

	for (int round = 0; round < 2000; round++) {
		int size = sizes[random() % 4], n = 1 + (int)(random() % 3);
		uint64_t block = (uint64_t)random() % (SPACE_BYTES / (uint64_t)size - 3);

		io_channel_set_blksize(f->io, size);
		memset(bytes, round % 3 ? (int)random() : 0, 65536);
		put(f, block, round % 5 ? n : -(1 + (int)(random() % (n * size))), bytes);
	}
	check(f, 0, SPACE_BYTES);
	/* What differs from the file lies on the pages that are listed. */
	assert_int_equal(overlay_pages(f->overlay, &pages, &count, NULL), 0);
	for (size_t i = 1; i < count; i++)
		assert_true(pages[i - 1] < pages[i]);
	for (size_t page = 0, i = 0; page * 4096 + 4096 <= FILE_BYTES; page++) {
		while (i < count && pages[i] < page)
			i++;
		if (i == count || pages[i] != page)
			assert_memory_equal(f->model + page * 4096, f->file + page * 4096,
				4096);
	}
	free(pages);
	free(bytes);
}

/* More than the table holds at first, far apart and side by side. */
static void many_pages_are_kept_apart(void **state)
{
	struct fixture *f = *state;
	uint64_t *pages, number;
	size_t count;
	uint32_t back;

	io_channel_set_blksize(f->io, 4096);
	for (uint32_t i = 0; i < 20000; i++) {
		number = i % 2 ? i : (uint64_t)i << 24;
		assert_int_equal(io_channel_write_blk64(f->io, number, -4, &i), 0);
	}
	for (uint32_t i = 0; i < 20000; i++) {
		number = i % 2 ? i : (uint64_t)i << 24;
		assert_int_equal(overlay_read(f->overlay, number * 4096, &back, 4, NULL), 0);
		assert_int_equal(back, i);
	}
	assert_int_equal(overlay_pages(f->overlay, &pages, &count, NULL), 0);
	assert_int_equal(count, 20000);
	for (size_t i = 1; i < count; i++)
		assert_true(pages[i - 1] < pages[i]);
	free(pages);
}

/* With a write_byte member libext2fs writes the superblock in pieces of two bytes. */
static void there_is_no_way_to_write_single_bytes(void **state _unused_)
{
	assert_null(overlay_manager()->write_byte);
}

static void a_file_that_cannot_be_read_is_an_error(void **state _unused_)
{
	_cleanup_(err_clear) struct err e = { 0 };
	_cleanup_(overlay_freep) struct overlay *o = NULL;
	uint8_t byte;

	assert_int_equal(overlay_new(&o, -1, "no file", NULL), 0);
	assert_true(overlay_read(o, 0, &byte, 1, &e) < 0);
	assert_non_null(strstr(err_message(&e), "no file"));
}

int main(void)
{
#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		WITH_FILE(nothing_written_shows_the_file),
		WITH_FILE(a_part_of_a_page_leaves_the_rest),
		WITH_FILE(the_end_of_the_file_is_followed_by_zeros),
		WITH_FILE(pages_of_zeros_are_zeros_and_can_be_written_again),
		WITH_FILE(zeroing_out_works_on_any_number_of_blocks),
		WITH_FILE(random_writes_of_all_sizes_are_read_back),
		WITH_FILE(many_pages_are_kept_apart),
		cmocka_unit_test(there_is_no_way_to_write_single_bytes),
		cmocka_unit_test(a_file_that_cannot_be_read_is_an_error),
	};

	srandom(3);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
