/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * INI files; see ini_file.h.  inih does the parsing, but it tells its handler neither the
 * line number nor the start of a section, cuts what is longer than its buffers, and takes
 * an indented line for the continuation of the one before.  So we hand it the lines one
 * by one: we count them, strip their indentation, refuse those that would be cut, and
 * note section headers ourselves.
 *
 * Names of files live in an array that only grows; lines point to them.
 */

#include "core/ini_file.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/fileio.h"
#include "core/strbuf.h"

enum { INCLUDE_DEPTH = 8 };

struct reader {
	struct ini_file *out;
	const char *file;
	const char *rest; /* of the text */
	unsigned number;
	unsigned depth;
	char *section; /* owned */
	struct err *e;
	int status; /* first error */
};

static int fail(struct reader *rd, const char *what)
{
	if (!rd->status)
		rd->status = err_usage(rd->e, "%s:%u: %s", rd->file, rd->number, what);
	return rd->status;
}

static int no_memory(struct reader *rd)
{
	if (!rd->status)
		rd->status = err_set(rd->e, ENOMEM, "read %s", rd->file);
	return rd->status;
}

/* What is kept ends up in JSON, which is UTF-8. */
static bool is_utf8(const char *text, size_t length)
{
	json_t *string = json_stringn(text, length);

	json_decref(string);
	return string;
}

static int add_line(struct reader *rd, const char *key, const char *value)
{
	_cleanup_free_ char *section_copy = strdup(rd->section);
	_cleanup_free_ char *key_copy = key ? strdup(key) : NULL;
	_cleanup_free_ char *value_copy = value ? strdup(value) : NULL;
	struct ini_line *lines;

	lines = reallocarray(rd->out->lines, rd->out->count + 1, sizeof(*lines));
	if (lines)
		rd->out->lines = lines;
	if (!lines || !section_copy || (key && !key_copy) || (value && !value_copy))
		return no_memory(rd);
	lines[rd->out->count++] = (struct ini_line){rd->file, rd->number,
		take_ptr(section_copy), take_ptr(key_copy), take_ptr(value_copy)};
	return 0;
}

/* "[arm   ssd ] ; comment": the words between the brackets with one blank between. */
static int begin_section(struct reader *rd, const char *line, size_t length)
{
	_cleanup_(strbuf_deinit) struct strbuf name = {0};
	const char *end = memchr(line, ']', length), *p = line + 1;

	if (!end)
		return fail(rd, "a section needs a closing bracket: [NAME]");
	for (const char *q = end + 1; q < line + length; q++) {
		if (*q == ';' || *q == '#')
			break;
		if (!isspace((unsigned char)*q))
			return fail(rd, "there is text behind the section's bracket");
	}
	while (p < end) {
		while (p < end && isspace((unsigned char)*p))
			p++;
		if (p < end && name.length)
			strbuf_add(&name, " ");
		while (p < end && !isspace((unsigned char)*p))
			strbuf_addn(&name, p++, 1);
	}
	if (!name.length)
		return fail(rd, "a section needs a name");
	free(rd->section);
	rd->section = strbuf_take(&name);
	return rd->section ? add_line(rd, NULL, NULL) : no_memory(rd);
}

/* Called by inih for each line; a NULL ends the parsing. */
static char *next_line(char *buffer, int room, void *data)
{
	struct reader *rd = data;
	const char *line = rd->rest;
	size_t length = strcspn(line, "\n");

	if (rd->status || !*line)
		return NULL;
	rd->number++;
	rd->rest = line + length + (line[length] == '\n');
	if (rd->number == 1 && !strncmp(line, "\xef\xbb\xbf", 3)) {
		line += 3;
		length -= 3;
	}
	while (length && isspace((unsigned char)*line)) {
		line++;
		length--;
	}
	if (length && (*line == '#' || *line == ';'))
		length = 0;
	if (length && *line == '[' && begin_section(rd, line, length))
		return NULL;
	if (length && *line == '[')
		length = 0;
	/* The buffer also takes the newline and the NUL, and inih wants one more. */
	if (length + 3 > (size_t)room) {
		fail(rd, "the line is too long");
		return NULL;
	}
	if (!is_utf8(line, length)) {
		fail(rd, "the line is not UTF-8");
		return NULL;
	}
	if (length && !memchr(line, '=', length) && !memchr(line, ':', length)) {
		fail(rd, "neither a [section] nor a \"key = value\"");
		return NULL;
	}
	memcpy(buffer, line, length);
	memcpy(buffer + length, "\n", 2);
	return buffer;
}

static int read_into(struct ini_file *f, const char *path, unsigned depth, struct err *e);

static void include(struct reader *rd, const char *value)
{
	_cleanup_free_ char *path = NULL;
	const char *slash = strrchr(rd->file, '/');

	if (rd->depth == INCLUDE_DEPTH) {
		fail(rd, "files include each other without end");
		return;
	}
	if (asprintf(&path, "%.*s%s",
		    *value != '/' && slash ? (int)(slash + 1 - rd->file) : 0, rd->file,
		    value) < 0) {
		path = NULL;
		no_memory(rd);
		return;
	}
	rd->status = read_into(rd->out, path, rd->depth + 1, rd->e);
	/* An error inside the file names its own place; that it is missing does not. */
	if (rd->status && rd->e->kind != ERR_USAGE) {
		rd->e->kind = ERR_USAGE;
		err_wrap(rd->e, rd->status, "%s:%u", rd->file, rd->number);
	}
}

static int take_pair(
	void *data, const char *section _unused_, const char *key, const char *value)
{
	struct reader *rd = data;

	if (rd->status)
		return 1;
	if (!*key)
		fail(rd, "there is no key before the \"=\"");
	else if (!strcmp(key, "include"))
		include(rd, value);
	else if (!rd->section)
		fail(rd, "this key stands before the first [section]");
	else
		add_line(rd, key, value);
	return 1;
}

static const char *keep_name(struct ini_file *f, const char *name)
{
	char **names = reallocarray(f->names, f->name_count + 1, sizeof(*names));

	if (!names)
		return NULL;
	f->names = names;
	names[f->name_count] = strdup(name);
	return names[f->name_count] ? names[f->name_count++] : NULL;
}

static int parse_into(struct ini_file *f, const char *text, const char *name,
	unsigned depth, struct err *e)
{
	struct reader rd = {.out = f, .rest = text, .depth = depth, .e = e};
	int bad_line;

	rd.file = keep_name(f, name);
	if (!rd.file)
		return err_set(e, ENOMEM, "read %s", name);
	bad_line = ini_parse_stream(next_line, &rd, take_pair, &rd);
	if (bad_line && !rd.status) {
		rd.number = (unsigned)bad_line;
		fail(&rd, "neither a [section] nor a \"key = value\"");
	}
	free(rd.section);
	return rd.status;
}

static int read_into(struct ini_file *f, const char *path, unsigned depth, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	size_t length;
	int r = fileio_read(path, &text, &length, e);

	if (r)
		return r;
	if (strlen(text) != length)
		return err_usage(e, "%s:1: this is no text file", path);
	return parse_into(f, text, path, depth, e);
}

int ini_file_read(struct ini_file *f, const char *path, struct err *e)
{
	int r = read_into(f, path, 0, e);

	if (r)
		ini_file_deinit(f);
	return r;
}

int ini_file_parse(struct ini_file *f, const char *text, const char *name, struct err *e)
{
	int r = parse_into(f, text, name, 0, e);

	if (r)
		ini_file_deinit(f);
	return r;
}

void ini_file_deinit(struct ini_file *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->lines[i].section);
		free(f->lines[i].key);
		free(f->lines[i].value);
	}
	for (size_t i = 0; i < f->name_count; i++)
		free(f->names[i]);
	free(f->lines);
	free(f->names);
	*f = (struct ini_file){0};
}

const struct ini_line *ini_file_find(
	const struct ini_file *f, const char *section, const char *key)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct ini_line *line = &f->lines[i];

		if (line->key && !strcmp(line->section, section) &&
			!strcmp(line->key, key))
			return line;
	}
	return NULL;
}
