/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Thousands of states of a disk of 192 MiB are cheap because almost all of it is zero and
 * almost all of the rest is the same in every state. Only pages that are not zero or were
 * written are ever looked at; holes stay holes, in memory and in the disk.
 */
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_PAGES 64u
#define CHUNK_BYTES (CHUNK_PAGES * PAGE_BYTES)
#define PAGE_BASE 1
#define PAGE_WRITTEN 2

static const uint8_t zeroes[PAGE_BYTES];

static uint8_t *reserve(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		die_errno("reserve memory");
	return p;
}

static void read_fully(int fd, void *data, size_t bytes, uint64_t offset)
{
	if (pread(fd, data, bytes, (off_t)offset) != (ssize_t)bytes)
		die_errno("read an image");
}

static void write_fully(int fd, const void *data, size_t bytes, uint64_t offset)
{
	if (pwrite(fd, data, bytes, (off_t)offset) != (ssize_t)bytes)
		die_errno("write an image");
}

/* Calls fn for every run of at most CHUNK_PAGES pages that holds data in fd. */
static void each_chunk(int fd, uint64_t end,
	void (*fn)(struct image *, int, uint64_t, uint64_t), struct image *img)
{
	off_t at = 0, hole;

	while ((at = lseek(fd, at, SEEK_DATA)) >= 0 && (uint64_t)at < end) {
		hole = lseek(fd, at, SEEK_HOLE);
		at = at / PAGE_BYTES * PAGE_BYTES;
		for (; at < hole; at += CHUNK_BYTES) {
			uint64_t left = end - (uint64_t)at;

			fn(img, fd, (uint64_t)at,
				left < CHUNK_BYTES ? left : CHUNK_BYTES);
		}
		at = hole;
	}
}

static void load_chunk(struct image *img, int fd, uint64_t offset, uint64_t bytes)
{
	uint8_t buffer[CHUNK_BYTES];

	read_fully(fd, buffer, bytes, offset);
	for (uint64_t i = 0; i < bytes; i += PAGE_BYTES) {
		if (!memcmp(buffer + i, zeroes, PAGE_BYTES))
			continue;
		memcpy(img->base + offset + i, buffer + i, PAGE_BYTES);
		memcpy(img->now + offset + i, buffer + i, PAGE_BYTES);
		img->used[(offset + i) / PAGE_BYTES] = PAGE_BASE;
	}
}

void image_load(struct image *img, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		die_errno("open %s", path);
	if (!st.st_size || st.st_size % PAGE_BYTES)
		die("%s: not a whole number of pages", path);
	*img = (struct image){.bytes = (uint64_t)st.st_size};
	img->base = reserve(img->bytes);
	img->now = reserve(img->bytes);
	img->used = xcalloc(img->bytes / PAGE_BYTES, 1);
	img->written = xcalloc(img->bytes / PAGE_BYTES, sizeof(*img->written));
	each_chunk(fd, img->bytes, load_chunk, img);
	close(fd);
}

void image_free(struct image *img)
{
	munmap(img->base, img->bytes);
	munmap(img->now, img->bytes);
	free(img->used);
	free(img->written);
}

static void mark(struct image *img, uint64_t offset, uint64_t bytes)
{
	for (uint64_t p = offset / PAGE_BYTES; p * PAGE_BYTES < offset + bytes; p++) {
		if (img->used[p] & PAGE_WRITTEN)
			continue;
		img->used[p] |= PAGE_WRITTEN;
		img->written[img->n_written++] = (uint32_t)p;
	}
}

static uint64_t clip(const struct image *img, uint64_t offset, uint64_t bytes)
{
	if (offset >= img->bytes)
		return 0;
	return bytes < img->bytes - offset ? bytes : img->bytes - offset;
}

void image_write(struct image *img, uint64_t offset, const void *data, uint64_t bytes)
{
	bytes = clip(img, offset, bytes);
	if (!bytes)
		return;
	mark(img, offset, bytes);
	memcpy(img->now + offset, data, bytes);
}

void image_zero(struct image *img, uint64_t offset, uint64_t bytes)
{
	uint64_t end = offset + clip(img, offset, bytes), n;

	for (; offset < end; offset += n) {
		n = PAGE_BYTES - offset % PAGE_BYTES;
		if (n > end - offset)
			n = end - offset;
		if (memcmp(img->now + offset, zeroes, n))
			image_write(img, offset, zeroes, n);
	}
}

void image_reset(struct image *img)
{
	for (uint32_t i = 0; i < img->n_written; i++) {
		uint64_t offset = (uint64_t)img->written[i] * PAGE_BYTES;

		memcpy(img->now + offset, img->base + offset, PAGE_BYTES);
		img->used[img->written[i]] &= ~PAGE_WRITTEN;
	}
	img->n_written = 0;
}

/* First half of image_store(): what is there and should not be. */
static void empty_chunk(struct image *img, int fd, uint64_t offset, uint64_t bytes)
{
	uint64_t run = 0;

	for (uint64_t i = 0; i <= bytes; i += PAGE_BYTES) {
		if (i < bytes && !img->used[(offset + i) / PAGE_BYTES]) {
			run += PAGE_BYTES;
			continue;
		}
		if (run && fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				   (off_t)(offset + i - run), (off_t)run))
			die_errno("punch a hole");
		run = 0;
	}
}

void image_store(struct image *img, int fd)
{
	uint64_t pages = img->bytes / PAGE_BYTES, n;
	uint8_t buffer[CHUNK_BYTES];

	each_chunk(fd, img->bytes, empty_chunk, img);
	for (uint64_t p = 0; p < pages; p += n) {
		const uint8_t *want = img->now + p * PAGE_BYTES;

		for (n = 0; n < CHUNK_PAGES && p + n < pages && img->used[p + n];)
			n++;
		if (!n) {
			n = 1;
			continue;
		}
		read_fully(fd, buffer, n * PAGE_BYTES, p * PAGE_BYTES);
		for (uint64_t i = 0; i < n; i++)
			if (memcmp(buffer + i * PAGE_BYTES, want + i * PAGE_BYTES,
				    PAGE_BYTES))
				write_fully(fd, want + i * PAGE_BYTES, PAGE_BYTES,
					(p + i) * PAGE_BYTES);
	}
}

static void capture_chunk(struct image *img, int fd, uint64_t offset, uint64_t bytes)
{
	uint8_t buffer[CHUNK_BYTES];

	read_fully(fd, buffer, bytes, offset);
	for (uint64_t i = 0; i < bytes; i += PAGE_BYTES)
		if (memcmp(img->now + offset + i, buffer + i, PAGE_BYTES))
			image_write(img, offset + i, buffer + i, PAGE_BYTES);
}

void image_capture(struct image *img, int fd)
{
	uint8_t buffer[PAGE_BYTES];

	image_reset(img);
	/* What the start holds may be a hole now. */
	for (uint64_t p = 0; p < img->bytes / PAGE_BYTES; p++) {
		if (!img->used[p])
			continue;
		read_fully(fd, buffer, PAGE_BYTES, p * PAGE_BYTES);
		if (memcmp(img->now + p * PAGE_BYTES, buffer, PAGE_BYTES))
			image_write(img, p * PAGE_BYTES, buffer, PAGE_BYTES);
	}
	each_chunk(fd, img->bytes, capture_chunk, img);
}

void image_save(const struct image *img, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || ftruncate(fd, (off_t)img->bytes))
		die_errno("create %s", path);
	for (uint64_t p = 0; p < img->bytes / PAGE_BYTES; p++)
		if (img->used[p])
			write_fully(fd, img->now + p * PAGE_BYTES, PAGE_BYTES,
				p * PAGE_BYTES);
	if (close(fd))
		die_errno("write %s", path);
}

int64_t image_differs(struct image *img, const char *path)
{
	struct image other;
	int64_t found = -1;

	image_load(&other, path);
	if (other.bytes != img->bytes)
		die("%s: another size than the image of the start", path);
	for (uint64_t p = 0; found < 0 && p < img->bytes / PAGE_BYTES; p++) {
		const uint8_t *a = img->now + p * PAGE_BYTES;
		const uint8_t *b = other.base + p * PAGE_BYTES;

		if (!img->used[p] && !other.used[p])
			continue;
		for (uint32_t i = 0; i < PAGE_BYTES && found < 0; i++)
			if (a[i] != b[i])
				found = (int64_t)(p * PAGE_BYTES + i);
	}
	image_free(&other);
	return found;
}
