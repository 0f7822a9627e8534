/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The border to libext2fs' error codes; see ext2err.h. */

#include "volume/ext2err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static int errno_of(errcode_t code)
{
	if (code > 0 && code < 4096)
		return (int)code;
	switch (code) {
	case EXT2_ET_NO_MEMORY:
		return ENOMEM;
	case EXT2_ET_BLOCK_ALLOC_FAIL:
		return ENOSPC;
	case EXT2_ET_BAD_MAGIC:
		return EMEDIUMTYPE;
	case EXT2_ET_SHORT_READ:
	case EXT2_ET_SHORT_WRITE:
		return EIO;
	case EXT2_ET_UNSUPP_FEATURE:
	case EXT2_ET_RO_UNSUPP_FEATURE:
		return EOPNOTSUPP;
	case EXT2_ET_CORRUPT_SUPERBLOCK:
	case EXT2_ET_SB_CSUM_INVALID:
	case EXT2_ET_INODE_CSUM_INVALID:
	case EXT2_ET_EXTENT_CSUM_INVALID:
	case EXT2_ET_BLOCK_BITMAP_CSUM_INVALID:
	case EXT2_ET_GDESC_BAD_BLOCK_MAP:
	case EXT2_ET_GDESC_BAD_INODE_MAP:
	case EXT2_ET_GDESC_BAD_INODE_TABLE:
		return EUCLEAN;
	}
	return EIO;
}

int ext2err_set(struct err *e, errcode_t code, const char *fmt, ...)
{
	_cleanup_free_ char *where = NULL;
	va_list ap;
	int n;

	initialize_ext2_error_table();
	va_start(ap, fmt);
	n = vasprintf(&where, fmt, ap);
	va_end(ap);
	if (n < 0)
		where = NULL;
	return err_say(e, errno_of(code), "%s: %s", where ? where : "libext2fs",
		error_message(code));
}
