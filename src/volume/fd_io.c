/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Reading for libext2fs through a descriptor; see fd_io.h.
 *
 * libext2fs' own managers open a device by its name, which fails for one that is held
 * with O_EXCL, or close the descriptor that they were given.  This one does neither.  It
 * keeps no cache: the kernel has one, and what is read is a few blocks.  Reading beyond
 * the end is a short read, as with the other managers.
 */

#include "volume/fd_io.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/macros.h"

struct fd_io {
	int fd;
};

void fd_io_name(int fd, char out[static FD_IO_NAME_BYTES])
{
	snprintf(out, FD_IO_NAME_BYTES, "%d", fd);
}

static errcode_t fd_io_open(const char *name, int flags, io_channel *channel)
{
	_cleanup_free_ struct struct_io_channel *c = calloc(1, sizeof(*c));
	_cleanup_free_ struct fd_io *data = calloc(1, sizeof(*data));
	char *end;

	if (flags & IO_FLAG_RW)
		return EROFS;
	if (!c || !data)
		return EXT2_ET_NO_MEMORY;
	data->fd = (int)strtol(name, &end, 10);
	if (end == name || *end)
		return EXT2_ET_BAD_DEVICE_NAME;
	c->magic = EXT2_ET_MAGIC_IO_CHANNEL;
	c->manager = fd_io_manager();
	c->name = strdup(name);
	if (!c->name)
		return EXT2_ET_NO_MEMORY;
	c->block_size = 1024;
	c->refcount = 1;
	c->private_data = take_ptr(data);
	*channel = take_ptr(c);
	return 0;
}

static errcode_t fd_io_close(io_channel channel)
{
	if (--channel->refcount > 0)
		return 0;
	free(channel->private_data);
	free(channel->name);
	free(channel);
	return 0;
}

static errcode_t fd_io_set_blksize(io_channel channel, int block_bytes)
{
	if (block_bytes < EXT2_MIN_BLOCK_SIZE || block_bytes > EXT2_MAX_BLOCK_SIZE)
		return EINVAL;
	channel->block_size = block_bytes;
	return 0;
}

static errcode_t fd_io_read(io_channel channel, unsigned long long block, int count,
	void *data)
{
	const struct fd_io *io = channel->private_data;
	unsigned long long offset;
	size_t left;
	char *to = data;

	left = count < 0 ? (size_t) - (long)count
			 : (size_t)count * (size_t)channel->block_size;
	if (__builtin_mul_overflow(block, (unsigned)channel->block_size, &offset) ||
		offset > INT64_MAX - left)
		return EXT2_ET_LLSEEK_FAILED;
	while (left) {
		ssize_t got = pread(io->fd, to, left, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		if (got == 0)
			return EXT2_ET_SHORT_READ;
		to += got;
		left -= (size_t)got;
		offset += (unsigned long long)got;
	}
	return 0;
}

static errcode_t fd_io_read_32(io_channel channel, unsigned long block, int count,
	void *data)
{
	return fd_io_read(channel, block, count, data);
}

static errcode_t fd_io_write(io_channel channel _unused_,
	unsigned long long block _unused_, int count _unused_, const void *data _unused_)
{
	return EROFS;
}

static errcode_t fd_io_write_32(io_channel channel _unused_, unsigned long block _unused_,
	int count _unused_, const void *data _unused_)
{
	return EROFS;
}

static errcode_t fd_io_flush(io_channel channel _unused_)
{
	return 0;
}

io_manager fd_io_manager(void)
{
	static struct struct_io_manager manager = {
		.magic = EXT2_ET_MAGIC_IO_MANAGER,
		.name = "jbdlab descriptor, read-only",
		.open = fd_io_open,
		.close = fd_io_close,
		.set_blksize = fd_io_set_blksize,
		.read_blk = fd_io_read_32,
		.write_blk = fd_io_write_32,
		.flush = fd_io_flush,
		.read_blk64 = fd_io_read,
		.write_blk64 = fd_io_write,
	};

	return &manager;
}
