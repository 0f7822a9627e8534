/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * An io_manager of libext2fs that reads from a descriptor which someone else holds and
 * goes on holding, and that cannot write.
 */

#include <ext2fs/ext2fs.h>

/* Room for the name that fd_io_name() makes. */
#define FD_IO_NAME_BYTES 16

/* The "device name" that makes the manager read from fd. */
void fd_io_name(int fd, char out[static FD_IO_NAME_BYTES]);

/* Static; give it to ext2fs_open2() together with such a name. */
io_manager fd_io_manager(void);
