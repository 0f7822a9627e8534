/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The "mkfs = ext3 -b 4096" of a volume: a type and options of mke2fs(8), from which the
 * words of a command are made without any shell.  Only options that describe the file
 * system are taken; those that would make something else (a journal device, nothing at
 * all) or touch another device are refused, and so is every operand: in front of our
 * device it would be taken for the device.
 */

#include <stdbool.h>

#include "core/err.h"

/* Splits text into the type and the rest of the options; both are the caller's to free.
 * ERR_USAGE with the word that is not allowed. */
int mkfs_parse(const char *text, char **type, char **options, struct err *e);

/*
 * The words of the command, NULL-ended; caller frees with mkfs_words_free().  NULL: no
 * memory.  Tables are initialised by mke2fs and not by the kernel after the mount, where
 * its writes would run beside the measurement.  discard: may it discard what was there?
 */
char **mkfs_words(const char *type, const char *options, const char *device, bool discard);
void mkfs_words_free(char **words);
