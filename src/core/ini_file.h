/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * An INI file as a flat list of lines that know where they came from, with includes
 * expanded.  What sections and keys mean is not known here.
 *
 *	[arm ssd]                   ; a section: a kind and, for most kinds, a name
 *	journal = external=/dev/sdc ; a key; text after " ;" is a comment
 *	include = FILE              ; relative to the file that says it
 *
 * "#" and ";" begin a comment at the start of a line.  Indentation means nothing.
 */

#include <stddef.h>

#include "core/err.h"

struct ini_line {
	const char *file; /* as typed, or as found from the including file */
	unsigned number;  /* from 1 */
	char *section;	  /* "arm ssd", blanks made single */
	char *key;	  /* NULL: this line begins the section */
	char *value;	  /* NULL with key */
};

struct ini_file {
	struct ini_line *lines;
	size_t count;
	char **names; /* of all files read; the first is the one asked for */
	size_t name_count;
};

/* Reads path and what it includes.  -EINVAL (ERR_USAGE) with FILE:LINE for anything that
 * is not INI, for a key outside of a section and for a file that includes itself. */
int ini_file_read(struct ini_file *f, const char *path, struct err *e);

/* The same from a text; name stands for the file in messages and for includes. */
int ini_file_parse(struct ini_file *f, const char *text, const char *name, struct err *e);

void ini_file_deinit(struct ini_file *f);

/* The line of a key in a section, or NULL. */
const struct ini_line *ini_file_find(
	const struct ini_file *f, const char *section, const char *key);
