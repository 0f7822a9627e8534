/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What the readers of formats share: the lines, the arm to which the present line
 * belongs, and the result that grows.  Nothing here returns an error: lack of memory is
 * remembered in the reader, which import_text() looks at.  A phase that could not be made
 * is NULL, and everything that takes a phase takes NULL too.
 */

#include "import/fields.h"
#include "import/import.h"
#include "import/text.h"

/* A file with more rows is no published result. */
enum { READER_ROWS_MAX = 10000 };

struct reader;

/* A format.  Its file has one of these; formats.c has them in the order of asking. */
struct import_format {
	const char *name, *help;
	size_t state_bytes; /* zeroed memory that is passed to the functions */
	/*
	 * How many lines from the present one on belong to this format: 0 when the line
	 * is none of its own.
	 */
	size_t (*take)(struct reader *r, void *state);
	/* All lines were seen.  NULL: nothing to do. */
	void (*finish)(struct reader *r, void *state);
	void (*deinit)(void *state); /* NULL: nothing to free */
};
extern const struct import_format *const import_formats[]; /* NULL behind the last */

struct reader_arm {
	char *heading;	  /* "" before any */
	char *identifier; /* NULL: none seen */
};

struct reader {
	struct import *im;
	const struct import_options *options;
	struct text_lines lines;
	size_t at;	     /* index of the present line */
	size_t format;	     /* index of the format that is asked */
	const char *heading; /* free text since the last row; NULL: none */
	struct reader_arm *arms; /* beside im->arms */
	size_t arm;	     /* to which the last row belonged */
	bool failed;	     /* no memory */
	bool full;	     /* READER_ROWS_MAX is reached; the rest is left out */
};

static inline const char *reader_line(const struct reader *r)
{
	return r->lines.lines[r->at].text;
}

static inline unsigned reader_number(const struct reader *r)
{
	return r->lines.lines[r->at].number;
}

/* The line that many behind the present one, or "". */
const char *reader_ahead(const struct reader *r, size_t lines);

/*
 * The arm of a row in the present line: a new one when free text stood before it, else
 * the last.  identifier: what the row says of itself, NULL for nothing; a second
 * identifier below the same text is another arm.
 */
size_t reader_arm(struct reader *r, const char *identifier);

/* An arm by its name, made when there is none; for formats that name their arms. */
size_t reader_named_arm(struct reader *r, const char *name);

/*
 * A new phase with all counters unknown, in the first run of that arm and type which has
 * none of that name.  Valid until the next call.  NULL: no memory or too many rows.
 */
struct result_phase *reader_phase(struct reader *r, size_t arm, const char *type,
	const char *name, const char *title);

/* A counter that the text tells. */
void reader_counter(
	struct result_phase *phase, enum result_counter counter, uint64_t value);

/* A metric; nothing when value is NAN. */
void reader_metric(struct reader *r, struct result_phase *phase, const char *name,
	enum result_unit unit, enum result_direction direction, double value);
void reader_rate(struct reader *r, struct result_phase *phase, double bytes_per_second);
void reader_latency(
	struct reader *r, struct result_phase *phase, const char *name, double ns);

/* "write/t4" from "write" and 4. */
struct reader_name {
	char text[96];
};
struct reader_name reader_threads_name(const char *kind, unsigned threads);

void reader_warn(struct reader *r, unsigned line, const char *fmt, ...) _printf_(3, 4);

/* The present line could not be read; what: what was expected. */
void reader_malformed(struct reader *r, const char *fmt, ...) _printf_(2, 3);

/*
 * The last line up to the present one that ran program ("dd", "tiobench.pl"): its words
 * from the program on, or NULL.
 */
const char *reader_command(const struct reader *r, const char *program);

/* The value behind an option ("--random", "-t"), also "--random=N" and "-tN"; a word that
 * the caller may look at up to the next blank.  NULL: not there. */
const char *reader_option(const char *command, const char *option);

/* Is it the command of a shell? */
bool reader_is_command(const char *line);

/* Does text contain word, whatever the case of its letters? */
bool reader_has(const char *text, const char *word);
