/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Reading a published output; see import.h.  Each line is offered to the formats in turn.
 * One that nobody takes may be free text, which names the arm of the rows behind it, or
 * what a program says when it fails, which is told when there is no result at all.
 */

#include "import/import.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/fileio.h"
#include "core/nearest.h"
#include "core/strbuf.h"
#include "import/formats.h"
#include "import/text.h"

/* Longer free text is a paragraph. */
enum { HEADING_MAX = 72 };

/* What programs and shells print when there is no result, or when it cannot be trusted,
 * and outputs that are known but not read. */
static const struct {
	const char *words;
	const char *meaning; /* NULL: the line says it */
} complaints[] = {
	{"No space left on device", NULL},
	{"No such file or directory", NULL},
	{"Read-only file system", NULL},
	{"Permission denied", NULL},
	{"Input/output error", NULL},
	{"Segmentation fault", NULL},
	{"division by zero", NULL},
	{"Unknown option", NULL},
	{"Can't locate", NULL},
	{"must be either all devices", NULL},
	{"Usage: ", "this is the help of a program"},
	{"$stat_data =", "tiobench --dump is not read; its tables are"},
	{"IOPS=", "this is fio's report for people; wanted is --output-format=json"},
	{";fio-", "this is fio's terse output; wanted is --output-format=json"},
	{"ioping statistics", "ioping is not read"},
	{"pg_test_fsync", "pg_test_fsync is not read"},
	{"sysbench ", "sysbench is not read"},
	{"blocks per transaction", "statistics of jbd2 are not read"},
};

static bool complain(struct reader *r, const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(complaints); i++) {
		if (!reader_has(line, complaints[i].words))
			continue;
		if (complaints[i].meaning)
			reader_warn(r, reader_number(r), "%s", complaints[i].meaning);
		else
			reader_warn(r, reader_number(r), "\"%s\"", line);
		return true;
	}
	return false;
}

/* Free text without what surrounds headings: "## 400 MB journal:". */
static void note_heading(struct reader *r)
{
	char *line = r->lines.lines[r->at].text;
	size_t n;

	line += strspn(line, " #=*-");
	n = strlen(line);
	while (n && strchr(" :=*-#", line[n - 1]))
		n--;
	if (!n || n > HEADING_MAX)
		return;
	line[n] = '\0'; /* nobody reads this line again */
	r->heading = line;
}

/* "rc=1" below an output says how its program ended. */
static bool is_status(const char *line, unsigned *status)
{
	int end = 0;

	return sscanf(line, "rc=%u%n", status, &end) == 1 && !line[end];
}

static void leave_line(struct reader *r)
{
	const char *line = reader_line(r);
	unsigned status;

	if (is_status(line, &status)) {
		if (status)
			reader_warn(r, reader_number(r),
				"the program ended with status %u", status);
	} else if (!complain(r, line) && !reader_is_command(line)) {
		note_heading(r);
	}
}

static bool is_wanted(const struct reader *r, const struct import_format *format)
{
	return !r->options->format || !strcmp(r->options->format, format->name);
}

static void read_lines(struct reader *r, void **states)
{
	while (r->at < r->lines.count && !r->failed) {
		size_t taken = 0;

		for (size_t f = 0; import_formats[f] && !taken; f++) {
			r->format = f;
			if (states[f])
				taken = import_formats[f]->take(r, states[f]);
		}
		if (!taken)
			leave_line(r);
		r->at += MAX(taken, (size_t)1);
	}
	r->at = r->lines.count ? r->lines.count - 1 : 0;
	for (size_t f = 0; import_formats[f]; f++) {
		r->format = f;
		if (states[f] && import_formats[f]->finish && r->lines.count)
			import_formats[f]->finish(r, states[f]);
	}
}

static void read_formats(struct reader *r)
{
	void *states[32] = {0};
	size_t f;

	for (f = 0; import_formats[f]; f++)
		if (is_wanted(r, import_formats[f])) {
			states[f] = calloc(1, MAX(import_formats[f]->state_bytes,
						      (size_t)1));
			r->failed |= !states[f];
		}
	read_lines(r, states);
	for (f = 0; import_formats[f]; f++) {
		if (states[f] && import_formats[f]->deinit)
			import_formats[f]->deinit(states[f]);
		free(states[f]);
	}
}

static bool has_format(const struct import *im, const char *name)
{
	for (size_t f = 0; import_formats[f]; f++)
		if (im->formats & (1u << f) && !strcmp(import_formats[f]->name, name))
			return true;
	return false;
}

static void warn_of_megabytes(struct reader *r)
{
	if (has_format(r->im, "dd") &&
		(has_format(r->im, "tiobench") || has_format(r->im, "tiotest")))
		reader_warn(r, 0,
			"the megabytes of tiobench are 2^20 bytes, those of dd 10^6: all "
			"rates are kept in bytes");
}

/* Several arms below one heading are told apart by their identifiers. */
static bool heading_is_shared(const struct reader *r, size_t arm)
{
	for (size_t i = 0; i < r->im->arm_count; i++)
		if (i != arm && !strcmp(r->arms[i].heading, r->arms[arm].heading))
			return true;
	return false;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static char *arm_name(const struct reader *r, size_t arm)
{
	const struct reader_arm *a = &r->arms[arm];
	bool has_identifier = a->identifier && *a->identifier;
	char *name = NULL;

	if (has_identifier && (!*a->heading || r->im->arm_count == 1))
		return strdup(a->identifier);
	if (!*a->heading)
		return strdup(base_name(r->im->name));
	if (has_identifier && heading_is_shared(r, arm))
		return asprintf(&name, "%s, %s", a->heading, a->identifier) < 0 ? NULL
										: name;
	return strdup(a->heading);
}

/* An arm of which nothing was measured is none. */
static void drop_empty_arms(struct reader *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->im->arm_count; i++) {
		if (!r->im->arms[i].run_count) {
			free(r->arms[i].heading);
			free(r->arms[i].identifier);
			continue;
		}
		r->im->arms[kept] = r->im->arms[i];
		r->arms[kept++] = r->arms[i];
	}
	r->im->arm_count = kept;
}

static void name_arms(struct reader *r)
{
	for (size_t i = 0; i < r->im->arm_count && !r->failed; i++) {
		struct import_arm *arm = &r->im->arms[i];

		arm->name = arm_name(r, i);
		r->failed |= !arm->name;
		for (size_t k = 0; k < arm->run_count && !r->failed; k++) {
			arm->runs[k].arm = strdup(arm->name);
			arm->runs[k].position = (uint32_t)i;
			r->failed |= !arm->runs[k].arm;
		}
	}
}

static int by_line(const void *a, const void *b)
{
	const struct import_note *x = a, *y = b;

	return (x->line > y->line) - (x->line < y->line);
}

/* Why there is nothing: the first thing that was said about the file. */
static int nothing_found(const struct import *im, const struct reader *r, struct err *e)
{
	if (!r->lines.count)
		return err_usage(e, "%s is empty", im->name);
	for (size_t i = 0; i < im->note_count; i++)
		if (im->notes[i].line)
			return err_usage(e, "%s:%u: holds no result: %s", im->name,
				im->notes[i].line, im->notes[i].text);
	return err_usage(e, "%s holds no result of a program that is known", im->name);
}

static int check_format(const struct import_options *options, struct err *e)
{
	struct nearest near = {.word = options->format};

	for (size_t i = 0; options->format && import_formats[i]; i++) {
		if (!strcmp(options->format, import_formats[i]->name))
			return 0;
		nearest_offer(&near, import_formats[i]->name);
	}
	if (!options->format)
		return 0;
	return err_usage(e, "there is no format \"%s\"%s%s%s", options->format,
		near.best ? "; did you mean \"" : "", near.best ? near.best : "",
		near.best ? "\"?" : "");
}

static void reader_deinit(struct reader *r)
{
	for (size_t i = 0; r->arms && i < r->im->arm_count; i++) {
		free(r->arms[i].heading);
		free(r->arms[i].identifier);
	}
	free(r->arms);
	text_lines_deinit(&r->lines);
}

int import_text(struct import *im, const char *name, const char *bytes, size_t n,
	const struct import_options *options, struct err *e)
{
	_cleanup_(reader_deinit) struct reader r = {.im = im, .options = options};
	int status = check_format(options, e);

	*im = (struct import){.name = strdup(name)};
	if (im->name)
		text_make_name(im->name);
	if (!status && memchr(bytes, '\0', n))
		status = err_usage(e, "%s is no text", name);
	if (!status && (!im->name || text_split(&r.lines, bytes, n)))
		r.failed = true;
	if (!status && !r.failed) {
		read_formats(&r);
		warn_of_megabytes(&r);
		if (r.full)
			reader_warn(&r, 0, "more than %d rows: the rest is left out",
				READER_ROWS_MAX);
		drop_empty_arms(&r);
		name_arms(&r);
		if (im->note_count)
			qsort(im->notes, im->note_count, sizeof(*im->notes), by_line);
	}
	if (!status && r.failed)
		status = err_set(e, ENOMEM, "import %s", name);
	if (!status && !im->rows)
		status = nothing_found(im, &r, e);
	/* The reader's arms stand beside those of im, so it ends first. */
	reader_deinit(&r);
	r = (struct reader){.im = im};
	if (status)
		import_deinit(im);
	return status;
}

int import_file(struct import *im, const char *path, const struct import_options *options,
	struct err *e)
{
	_cleanup_free_ char *text = NULL;
	size_t n = 0;
	int status = fileio_read(path, &text, &n, e);

	return status ? status : import_text(im, path, text, n, options, e);
}

void import_deinit(struct import *im)
{
	for (size_t i = 0; i < im->arm_count; i++) {
		for (size_t k = 0; k < im->arms[i].run_count; k++)
			result_run_deinit(&im->arms[i].runs[k]);
		free(im->arms[i].runs);
		free(im->arms[i].name);
	}
	free(im->arms);
	for (size_t i = 0; i < im->note_count; i++)
		free(im->notes[i].text);
	free(im->notes);
	free(im->name);
	*im = (struct import){0};
}

const char *import_format_name(size_t i)
{
	return import_formats[i] ? import_formats[i]->name : NULL;
}

const char *import_format_help(size_t i)
{
	return import_formats[i] ? import_formats[i]->help : NULL;
}

char *import_format_names(unsigned formats)
{
	struct strbuf b = {0};

	for (size_t i = 0; import_formats[i]; i++)
		if (formats & (1u << i))
			strbuf_addf(&b, "%s%s", b.length ? ", " : "",
				import_formats[i]->name);
	return strbuf_take(&b);
}
