/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Files read and written whole.  fileio_write_durable() is the only way in which state
 * that must survive a power cut is written: temporary file, fsync, rename, fsync of the
 * directory.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/err.h"

/* Whole file as NUL-terminated text; caller frees *text.  length may be NULL.  Works for
 * /proc and /sys files, whose size is not known beforehand.  A pipe that nobody has opened
 * to write to is empty.  Limit: 64 MiB (-EFBIG). */
int fileio_read(const char *path, char **text, size_t *length, struct err *e);

/* To read a regular file, whatever stands there: what else it is (a pipe, a device, a
 * directory) gives -EBADMSG and a sentence, without waiting.  The caller closes *fd. */
int fileio_open_regular(int *fd, const char *path, struct err *e);

/* As fileio_read(), of a regular file only. */
int fileio_read_regular(const char *path, char **text, size_t *length, struct err *e);

/* First line of a small sysfs/proc file without newline, or NULL when it cannot be read;
 * caller frees.  For facts that may be unknown. */
char *fileio_read_line(const char *path_fmt, ...) _printf_(1, 2);

/* An unsigned number from such a file into *value: 0, or -errno without message. */
int fileio_read_u64(uint64_t *value, const char *path_fmt, ...) _printf_(2, 3);

/* Replaces path by bytes so that after a crash either the old or the new content is
 * there, and the new one once this returned 0.  mode as for open(2). */
int fileio_write_durable(const char *path, const void *bytes, size_t n, mode_t mode,
	struct err *e);

/* The same for readers only: they find the old or the new content, but a power cut may
 * take both. */
int fileio_write_atomic(const char *path, const void *bytes, size_t n, mode_t mode,
	struct err *e);

/* Creates directory path and missing parents with mode. */
int fileio_make_dirs(const char *path, mode_t mode, struct err *e);

/* fsync of a directory, so that names in it survive. */
int fileio_sync_dir(const char *path, struct err *e);

/* pread/pwrite until all n bytes are done.  name is for the message; end of file is
 * -EIO "short read". */
int fileio_pread_full(int fd, void *buffer, size_t n, off_t offset, const char *name,
	struct err *e);
int fileio_pwrite_full(int fd, const void *buffer, size_t n, off_t offset,
	const char *name, struct err *e);

/* What is read from there next comes from the disk, not from memory, if nobody else uses
 * it; what is not written out yet stays.  bytes: from offset on, rounded to whole pages. */
void fileio_forget_cached(int fd, off_t offset, size_t bytes);
