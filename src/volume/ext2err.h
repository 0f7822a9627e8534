/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The border to libext2fs: its error codes are an errno or a number of its own table. */

#include <ext2fs/ext2fs.h>

#include "core/err.h"

/* Records code with libext2fs' text behind "fmt: ".  The errno part: the code itself when
 * it is one, ENOSPC/ENOMEM/EUCLEAN for the library's counterparts, else EIO.  Returns
 * -errno; code must not be 0. */
int ext2err_set(struct err *e, errcode_t code, const char *fmt, ...) _printf_(3, 4);
