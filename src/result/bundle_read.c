/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Reading a bundle; see bundle.h.  It may be the bundle of another machine, of a later
 * version, of an experiment that was killed, or no bundle at all; each gets one sentence
 * with file and line.  Files of lines are read line by line: their length is not bounded.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fileio.h"
#include "core/strbuf.h"
#include "result/bundle.h"
#include "result/bundle_info.h"
#include "result/result_json.h"

/* What is no bundle, or no longer one, is a wrong operand; an I/O error is not. */
static int damaged(struct err *e, int r)
{
	if (r == -EBADMSG || r == -ENOENT || r == -ENOTDIR)
		e->kind = ERR_USAGE;
	return r;
}

static int add_note(struct bundle *b, const char *text, struct err *e)
{
	char *notes;

	if (asprintf(&notes, "%s%s%s", b->notes ? b->notes : "", b->notes ? "\n" : "",
		    text) < 0)
		return err_set(e, ENOMEM, "read %s", b->path);
	free(b->notes);
	b->notes = notes;
	return 0;
}

static int read_json(json_t **out, const char *path, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	json_error_t where;
	size_t n;
	int r = fileio_read_regular(path, &text, &n, e);

	if (r)
		return r;
	*out = json_loadb(text, n, 0, &where);
	if (!*out)
		return err_say(e, EBADMSG, "%s:%d: this is not JSON: %s", path,
			where.line, where.text);
	return 0;
}

/* *out stays NULL when the file is not there. */
static int open_lines(FILE **out, const char *path, struct err *e)
{
	int fd = -1, r = fileio_open_regular(&fd, path, e);

	if (r == -ENOENT)
		err_clear(e);
	if (r)
		return r == -ENOENT ? 0 : r;
	*out = fdopen(fd, "r");
	if (*out)
		return 0;
	close(fd);
	return err_set(e, ENOMEM, "open %s", path);
}

/*
 * Hands each line of a file, without its newline, to visit.  A last line without newline
 * was never finished; *torn says so.  A file that is not there has no lines.
 */
static int each_line(const char *path, bool *torn,
	int (*visit)(void *data, const json_t *json, struct err *e), void *data,
	struct err *e)
{
	_cleanup_free_ char *line = NULL;
	FILE *file = NULL;
	size_t room = 0;
	unsigned number = 0;
	ssize_t n;
	int r = open_lines(&file, path, e);

	if (!file)
		return r;
	while (!r && (n = getline(&line, &room, file)) > 0) {
		json_auto_t *json = NULL;
		json_error_t where;

		number++;
		if (line[n - 1] != '\n') {
			*torn = true;
			break;
		}
		json = json_loadb(line, (size_t)n - 1, 0, &where);
		r = json ? visit(data, json, e)
			 : err_say(e, EBADMSG, "this is not JSON: %s", where.text);
		if (r)
			err_wrap(e, r, "%s:%u", path, number);
	}
	if (!r && ferror(file))
		r = err_set(e, errno, "read %s", path);
	fclose(file);
	return r;
}

static int path_in(char **out, const struct bundle *b, const char *name, struct err *e)
{
	if (asprintf(out, "%s/%s", b->path, name) >= 0)
		return 0;
	*out = NULL;
	return err_set(e, ENOMEM, "read %s", b->path);
}

static int load_info(struct bundle *b, struct err *e)
{
	_cleanup_free_ char *path = NULL;
	json_auto_t *json = NULL;
	struct stat st;
	int r = path_in(&path, b, "bundle.json", e);

	if (r)
		return r;
	if (stat(b->path, &st))
		return err_set(e, errno, "open bundle %s", b->path);
	if (!S_ISDIR(st.st_mode))
		return err_say(
			e, ENOTDIR, "%s is not a bundle: not a directory", b->path);
	if (stat(path, &st) && errno == ENOENT)
		return err_say(e, ENOENT,
			"%s is not a bundle: there is no bundle.json in it", b->path);
	r = read_json(&json, path, e);
	if (r)
		return r;
	r = bundle_info_from_json(&b->info, json, e);
	return r ? err_wrap(e, r, "%s", path) : 0;
}

static int load_plan(struct bundle *b, struct err *e)
{
	_cleanup_free_ char *path = NULL;
	char hash[SHA256_TEXT];
	size_t n;
	int r = path_in(&path, b, "plan.ini", e);

	if (!r)
		r = fileio_read_regular(path, &b->plan, &n, e);
	if (r)
		return r;
	sha256_hex(b->plan, n, hash);
	if (!strcmp(hash, b->info.plan_sha256))
		return 0;
	return add_note(
		b, "plan.ini is not the plan that was run: its SHA-256 differs", e);
}

static int take_cell(void *data, const json_t *json, struct err *e)
{
	struct bundle *b = data;

	if (!json_is_object(json))
		return err_say(e, EBADMSG, "a cell is not an object");
	return json_array_append(b->cells, (json_t *)json) ? err_set(e, ENOMEM, "read")
							   : 0;
}

static int load_cells(struct bundle *b, struct err *e)
{
	_cleanup_free_ char *path = NULL;
	bool torn = false;
	int r = path_in(&path, b, "cells.jsonl", e);

	if (r)
		return r;
	b->cells = json_array();
	if (!b->cells)
		return err_set(e, ENOMEM, "read %s", path);
	r = each_line(path, &torn, take_cell, b, e);
	if (!r && torn)
		r = add_note(
			b, "The last line of cells.jsonl is incomplete and was left out", e);
	return r;
}

static int load_environment(struct bundle *b, struct err *e)
{
	_cleanup_free_ char *path = NULL;
	int r = path_in(&path, b, "environment.json", e);

	if (!r)
		r = read_json(&b->environment, path, e);
	if (!r && !json_is_object(b->environment))
		r = err_say(e, EBADMSG, "%s: this is not an object", path);
	if (r != -ENOENT)
		return r;
	err_clear(e);
	return 0;
}

int bundle_load(struct bundle *b, const char *path, struct err *e)
{
	int r;

	*b = (struct bundle){.path = strdup(path)};
	r = b->path ? load_info(b, e) : err_set(e, ENOMEM, "read %s", path);
	if (!r)
		r = load_plan(b, e);
	if (!r)
		r = load_cells(b, e);
	if (!r)
		r = load_environment(b, e);
	if (r)
		bundle_deinit(b);
	return r ? damaged(e, r) : 0;
}

struct visitor {
	int (*visit)(void *data, struct result_run *run, struct err *e);
	void *data;
};

static int take_run(void *data, const json_t *json, struct err *e)
{
	const struct visitor *v = data;
	_cleanup_(result_run_deinit) struct result_run run = {0};
	int r = result_run_from_json(&run, json, e);

	return r ? r : v->visit(v->data, &run, e);
}

/* Every line of a file of the bundle, one by one. */
static int each_line_of(struct bundle *b, const char *name,
	int (*visit)(void *data, const json_t *json, struct err *e), void *data,
	struct err *e)
{
	_cleanup_free_ char *path = NULL, *note = NULL;
	bool torn = false;
	int r = path_in(&path, b, name, e);

	if (!r)
		r = each_line(path, &torn, visit, data, e);
	if (!r && torn) {
		if (asprintf(&note, "The last line of %s is incomplete and was left out",
			    name) < 0) {
			note = NULL;
			return err_set(e, ENOMEM, "read %s", path);
		}
		r = add_note(b, note, e);
	}
	return r ? damaged(e, r) : 0;
}

int bundle_each_run(struct bundle *b,
	int (*visit)(void *data, struct result_run *run, struct err *e), void *data,
	struct err *e)
{
	struct visitor v = {visit, data};

	return each_line_of(b, "runs.jsonl", take_run, &v, e);
}

struct trace_visitor {
	int (*visit)(void *data, struct timeline **t, struct err *e);
	void *data;
};

static int take_trace(void *data, const json_t *json, struct err *e)
{
	const struct trace_visitor *v = data;
	_cleanup_(timeline_freep) struct timeline *t = NULL;
	int r = timeline_from_json(&t, json, e);

	return r ? r : v->visit(v->data, &t, e);
}

int bundle_each_trace(struct bundle *b,
	int (*visit)(void *data, struct timeline **t, struct err *e), void *data,
	struct err *e)
{
	struct trace_visitor v = {visit, data};
	const json_t *trace;
	size_t i;
	int r = 0;

	json_array_foreach(b->traces, i, trace) {
		r = take_trace(&v, trace, e);
		if (r)
			return r;
	}
	if (b->traces)
		return 0;
	return each_line_of(b, "traces.jsonl", take_trace, &v, e);
}

void bundle_deinit(struct bundle *b)
{
	bundle_info_deinit(&b->info);
	free(b->path);
	free(b->plan);
	free(b->notes);
	json_decref(b->cells);
	json_decref(b->traces);
	json_decref(b->environment);
	*b = (struct bundle){0};
}
