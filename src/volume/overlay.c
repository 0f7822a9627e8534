/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * In-memory overlay; see overlay.h.
 *
 * Written pages live in a hash table.  A page that was only ever filled with zeros has no
 * buffer of its own: libext2fs zeroes each block of a journal on a volume without
 * extents, and 4 GiB of zeros must not take 4 GiB of memory.
 *
 * The io_manager has no write_byte member.  With one, libext2fs writes the superblock in
 * two-byte pieces; without, in one piece.
 *
 * io_manager->open() gets nothing but a name, so the name carries the address.
 */

#include "volume/overlay.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/fileio.h"

struct page {
	uint64_t number;
	uint8_t *bytes; /* NULL: all zeros */
	bool used;
};

struct overlay {
	int fd;
	char *name;
	char io_name[32];
	struct page *table; /* open addressing, never more than half full */
	size_t room, used;
};

static size_t slot_of(const struct overlay *o, uint64_t number)
{
	size_t i = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (o->room - 1);

	while (o->table[i].used && o->table[i].number != number)
		i = (i + 1) & (o->room - 1);
	return i;
}

static struct page *lookup(const struct overlay *o, uint64_t number)
{
	struct page *p = &o->table[slot_of(o, number)];

	return p->used ? p : NULL;
}

static int grow(struct overlay *o)
{
	struct overlay bigger = *o;

	bigger.room = o->room * 2;
	bigger.table = calloc(bigger.room, sizeof(*bigger.table));
	if (!bigger.table)
		return -ENOMEM;
	for (size_t i = 0; i < o->room; i++)
		if (o->table[i].used)
			bigger.table[slot_of(&bigger, o->table[i].number)] = o->table[i];
	free(o->table);
	*o = bigger;
	return 0;
}

/* Page for writing; a new one is NULL-buffered (zeros) with used still false. */
static int slot_for_write(struct overlay *o, uint64_t number, struct page **out)
{
	if ((o->used + 1) * 2 > o->room && grow(o))
		return -ENOMEM;
	*out = &o->table[slot_of(o, number)];
	return 0;
}

static bool all_zero(const uint8_t *bytes, size_t n)
{
	return n == 0 || (bytes[0] == 0 && !memcmp(bytes, bytes + 1, n - 1));
}

/* Beyond the end of an image file there are zeros, as in a sparse file. */
static int read_disk(const struct overlay *o, uint64_t offset, uint8_t *buffer, size_t n)
{
	while (n) {
		ssize_t got = pread(o->fd, buffer, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0) {
			memset(buffer, 0, n);
			return 0;
		}
		buffer += got;
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

static int write_page(struct overlay *o, uint64_t number, size_t at,
	const uint8_t *bytes, size_t n)
{
	struct page *p;

	if (slot_for_write(o, number, &p))
		return -ENOMEM;
	if (all_zero(bytes, n) && n == OVERLAY_PAGE_BYTES) {
		free(p->bytes);
		p->bytes = NULL;
	} else if (!p->bytes) {
		bool fresh = !p->used && n != OVERLAY_PAGE_BYTES;
		uint8_t *buffer = calloc(1, OVERLAY_PAGE_BYTES);
		int r = buffer ? 0 : -ENOMEM;

		if (!r && fresh)
			r = read_disk(o, number * OVERLAY_PAGE_BYTES, buffer,
				OVERLAY_PAGE_BYTES);
		if (r) {
			free(buffer);
			return r;
		}
		p->bytes = buffer;
	}
	if (p->bytes)
		memcpy(p->bytes + at, bytes, n);
	if (!p->used) {
		p->used = true;
		p->number = number;
		o->used++;
	}
	return 0;
}

static int overlay_write(struct overlay *o, uint64_t offset, const uint8_t *bytes,
	size_t n)
{
	while (n) {
		size_t at = offset % OVERLAY_PAGE_BYTES;
		size_t part = MIN(n, OVERLAY_PAGE_BYTES - at);
		int r = write_page(o, offset / OVERLAY_PAGE_BYTES, at, bytes, part);

		if (r)
			return r;
		offset += part;
		bytes += part;
		n -= part;
	}
	return 0;
}

static int read_through(struct overlay *o, uint64_t offset, uint8_t *buffer, size_t n)
{
	while (n) {
		size_t at = offset % OVERLAY_PAGE_BYTES;
		size_t part = MIN(n, OVERLAY_PAGE_BYTES - at);
		const struct page *p = lookup(o, offset / OVERLAY_PAGE_BYTES);
		int r = 0;

		if (!p)
			r = read_disk(o, offset, buffer, part);
		else if (p->bytes)
			memcpy(buffer, p->bytes + at, part);
		else
			memset(buffer, 0, part);
		if (r)
			return r;
		offset += part;
		buffer += part;
		n -= part;
	}
	return 0;
}

int overlay_new(struct overlay **out, int fd, const char *name, struct err *e)
{
	_cleanup_(overlay_freep) struct overlay *o = calloc(1, sizeof(*o));

	if (!o)
		return err_set(e, ENOMEM, "read %s", name);
	o->fd = fd;
	o->room = 1024;
	o->table = calloc(o->room, sizeof(*o->table));
	o->name = strdup(name);
	if (!o->table || !o->name)
		return err_set(e, ENOMEM, "read %s", name);
	snprintf(o->io_name, sizeof(o->io_name), "%p", (void *)o);
	*out = take_ptr(o);
	return 0;
}

struct overlay *overlay_free(struct overlay *o)
{
	if (!o)
		return NULL;
	for (size_t i = 0; o->table && i < o->room; i++)
		free(o->table[i].bytes);
	free(o->table);
	free(o->name);
	free(o);
	return NULL;
}

const char *overlay_io_name(const struct overlay *o)
{
	return o->io_name;
}

int overlay_read(struct overlay *o, uint64_t offset, void *buffer, size_t n,
	struct err *e)
{
	int r = read_through(o, offset, buffer, n);

	return r ? err_set(e, -r, "read %s at byte %llu", o->name,
			   (unsigned long long)offset)
		 : 0;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int overlay_pages(const struct overlay *o, uint64_t **pages, size_t *count,
	struct err *e)
{
	uint64_t *list = malloc((o->used + 1) * sizeof(*list));
	size_t n = 0;

	if (!list)
		return err_set(e, ENOMEM, "change %s", o->name);
	for (size_t i = 0; i < o->room; i++)
		if (o->table[i].used)
			list[n++] = o->table[i].number;
	qsort(list, n, sizeof(*list), by_number);
	*pages = list;
	*count = n;
	return 0;
}

bool overlay_page_is_zero(const struct overlay *o, uint64_t page)
{
	const struct page *p = lookup(o, page);

	return p && !p->bytes;
}

/* --- what libext2fs calls --- */

static struct overlay *overlay_of(io_channel channel)
{
	return channel->private_data;
}

static errcode_t io_open(const char *name, int flags _unused_, io_channel *channel)
{
	struct struct_io_channel *io;
	void *address;

	if (sscanf(name, "%p", &address) != 1)
		return EXT2_ET_BAD_DEVICE_NAME;
	io = calloc(1, sizeof(*io));
	if (!io)
		return EXT2_ET_NO_MEMORY;
	io->magic = EXT2_ET_MAGIC_IO_CHANNEL;
	io->manager = overlay_manager();
	io->block_size = 1024;
	io->refcount = 1;
	io->private_data = address;
	io->name = strdup(name);
	*channel = io;
	return 0;
}

static errcode_t io_close(io_channel channel)
{
	if (--channel->refcount > 0)
		return 0;
	free(channel->name);
	free(channel);
	return 0;
}

static errcode_t io_set_blksize(io_channel channel, int blksize)
{
	channel->block_size = blksize;
	return 0;
}

/* A negative count is a number of bytes. */
static size_t io_bytes(io_channel channel, int count)
{
	return count < 0 ? (size_t)-count : (size_t)count * (size_t)channel->block_size;
}

static errcode_t io_read(io_channel channel, unsigned long long block, int count,
	void *data)
{
	return -read_through(overlay_of(channel), block * (uint64_t)channel->block_size,
		data, io_bytes(channel, count));
}

static errcode_t io_write(io_channel channel, unsigned long long block, int count,
	const void *data)
{
	return -overlay_write(overlay_of(channel), block * (uint64_t)channel->block_size,
		data, io_bytes(channel, count));
}

static errcode_t io_read_old(io_channel channel, unsigned long block, int count,
	void *data)
{
	return io_read(channel, block, count, data);
}

static errcode_t io_write_old(io_channel channel, unsigned long block, int count,
	const void *data)
{
	return io_write(channel, block, count, data);
}

static errcode_t io_flush(io_channel channel _unused_)
{
	return 0;
}

static errcode_t io_zeroout(io_channel channel, unsigned long long block,
	unsigned long long count)
{
	static const uint8_t zeros[65536];
	uint64_t offset = block * (uint64_t)channel->block_size;
	uint64_t left = count * (uint64_t)channel->block_size;

	while (left) {
		size_t part = (size_t)MIN(left, (uint64_t)sizeof(zeros));
		int r = overlay_write(overlay_of(channel), offset, zeros, part);

		if (r)
			return -r;
		offset += part;
		left -= part;
	}
	return 0;
}

io_manager overlay_manager(void)
{
	static struct struct_io_manager manager = {
		.magic = EXT2_ET_MAGIC_IO_MANAGER,
		.name = "jbdlab overlay",
		.open = io_open,
		.close = io_close,
		.set_blksize = io_set_blksize,
		.read_blk = io_read_old,
		.write_blk = io_write_old,
		.flush = io_flush,
		.read_blk64 = io_read,
		.write_blk64 = io_write,
		.zeroout = io_zeroout,
	};

	return &manager;
}
