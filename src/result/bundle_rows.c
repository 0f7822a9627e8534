/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Taking back what a cell that was never finished has left in a bundle; see bundle.h.  A
 * file is copied line by line to one beside it, which then takes its name: after a power
 * cut it is there with all its rows or with those that are kept.
 */

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "core/fileio.h"
#include "result/bundle_rows.h"

DEFINE_CLEANUP(FILE *, fclose)

struct rows {
	const char *path;
	FILE *from, *to;
	bool (*keep)(const void *data, uint32_t block, uint32_t position);
	const void *data;
	unsigned dropped;
};

static bool is_wanted(const struct rows *rows, const json_t *json)
{
	json_int_t block = json_integer_value(json_object_get(json, "block"));
	json_int_t position = json_integer_value(json_object_get(json, "position"));

	return rows->keep(rows->data, (uint32_t)block, (uint32_t)position);
}

static int copy_rows(struct rows *rows, struct err *e)
{
	_cleanup_free_ char *line = NULL;
	unsigned number = 0;
	size_t room = 0;
	ssize_t n;

	while ((n = getline(&line, &room, rows->from)) > 0) {
		json_auto_t *json = NULL;
		json_error_t where;

		number++;
		if (line[n - 1] != '\n') { /* torn */
			rows->dropped++;
			break;
		}
		json = json_loadb(line, (size_t)n - 1, 0, &where);
		if (!json)
			return err_say(e, EBADMSG, "%s:%u: this is not JSON: %s",
				rows->path, number, where.text);
		if (!is_wanted(rows, json))
			rows->dropped++;
		else if (fwrite(line, 1, (size_t)n, rows->to) != (size_t)n)
			return err_set(e, errno, "copy %s", rows->path);
	}
	if (ferror(rows->from) || fflush(rows->to) || fsync(fileno(rows->to)))
		return err_set(e, errno, "copy %s", rows->path);
	return 0;
}

int bundle_rows_keep(const char *path,
	bool (*keep)(const void *data, uint32_t block, uint32_t position),
	const void *data, struct err *e)
{
	_cleanup_(fclosep) FILE *from = fopen(path, "re"), *to = NULL;
	struct rows rows = {.path = path, .from = from, .keep = keep, .data = data};
	_cleanup_free_ char *other = NULL;
	int r;

	if (!from)
		return errno == ENOENT ? 0 : err_set(e, errno, "open %s", path);
	if (asprintf(&other, "%s.new", path) < 0) {
		other = NULL;
		return err_set(e, ENOMEM, "copy %s", path);
	}
	to = fopen(other, "we");
	if (!to)
		return err_set(e, errno, "open %s", other);
	rows.to = to;
	r = copy_rows(&rows, e);
	if (!r && rows.dropped) {
		if (rename(other, path))
			r = err_set(e, errno, "rename %s to %s", other, path);
	} else {
		unlink(other);
	}
	return r;
}
