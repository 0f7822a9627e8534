/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Published outputs of other programs as results.
 *
 * A file may hold the outputs of several programs and of several arms.  A line of free
 * text before a table or a line of numbers begins an arm of that name; different
 * identifiers in a tiobench table are arms too.  What comes again in an arm is another
 * run of it.  What a text does not say stays unknown.  Faults of the programs that made
 * it are recognised and said; a malformed row is said with what was expected, and the
 * rest is read.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"
#include "result/result.h"

struct import_options {
	const char *format; /* only this one; NULL: whichever knows a line */
	bool correct;	    /* take known faults of the programs out of the numbers */
};

enum import_note_kind {
	IMPORT_WARNING,	  /* a number is not what it seems to be */
	IMPORT_MALFORMED, /* this could not be read */
};

struct import_note {
	enum import_note_kind kind;
	unsigned line; /* from 1; 0: the whole file */
	char *text;
};

struct import_arm {
	char *name;
	struct result_run *runs; /* block: how often that workload came before */
	size_t run_count;
};

struct import {
	char *name; /* the file, as it was given */
	struct import_arm *arms;
	size_t arm_count;
	struct import_note *notes; /* in the order of lines */
	size_t note_count;
	size_t rows;	  /* phases */
	size_t malformed; /* notes of that kind */
	unsigned formats; /* bit of each place in the table that gave something */
};

/*
 * Reads n bytes that came from name.  When nothing in them is a result: ERR_USAGE with
 * the reason, such as the message that the program had printed instead.  -ENOMEM.
 */
int import_text(struct import *im, const char *name, const char *bytes, size_t n,
	const struct import_options *options, struct err *e);

/* The same from a file; its errors are those of fileio_read(). */
int import_file(struct import *im, const char *path, const struct import_options *options,
	struct err *e);
void import_deinit(struct import *im);

/* The table of formats: name and one line of help; NULL behind the last. */
const char *import_format_name(size_t i);
const char *import_format_help(size_t i);

/* "tiobench, dd"; the caller frees it.  NULL: no memory. */
char *import_format_names(unsigned formats);

/* {"file", "formats", "rows", "malformed", "notes": [{"line", "kind", "text"}], "arms":
 * [{"name", "runs"}]}, runs only when wanted.  NULL: no memory. */
json_t *import_to_json(const struct import *im, bool with_runs);

/*
 * Writes a bundle of several imports.  Where two of them have an arm of one name, the
 * name of the file is put before it.  The bundle's plan is a comment that names files,
 * and environment.json keeps the notes.  -EPERM (ERR_REFUSED) when path exists.
 */
int import_write_bundle(const struct import *imports, size_t count, const char *path,
	const char *version, struct err *e);
