/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Disks of an xfstests configuration; see xfstests.h. */

#include "cli/xfstests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/fileio.h"

static const struct {
	const char *name;
	bool overwritten, many;
} variables[] = {
	{"SCRATCH_DEV", true, false},
	{"SCRATCH_LOGDEV", true, false},
	{"SCRATCH_RTDEV", true, false},
	{"SCRATCH_DEV_POOL", true, true},
	{"LOGWRITES_DEV", true, false},
	{"TEST_DEV", false, false},
	{"TEST_LOGDEV", false, false},
};

bool xfstests_overwrites(const char *role)
{
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		if (!strcmp(variables[i].name, role))
			return variables[i].overwritten;
	return false;
}

static int add_one(struct xfstests_disks *d, const char *role, const char *device,
	struct err *e)
{
	struct xfstests_disk *more = reallocarray(d->items, d->count + 1, sizeof(*more));

	for (size_t i = 0; more && i < d->count; i++)
		if (!strcmp(more[i].role, role) && !strcmp(more[i].device, device)) {
			d->items = more;
			return 0; /* the same in another section */
		}
	if (!more)
		return err_set(e, ENOMEM, "%s", role);
	d->items = more;
	more[d->count] = (struct xfstests_disk){strdup(role), strdup(device)};
	if (!more[d->count++].role || !more[d->count - 1].device)
		return err_set(e, ENOMEM, "%s", role);
	return 0;
}

static int add(struct xfstests_disks *d, size_t variable, char *value, struct err *e)
{
	char *save = NULL;
	int r = 0;

	if (!variables[variable].many)
		return *value ? add_one(d, variables[variable].name, value, e) : 0;
	for (char *word = strtok_r(value, " \t", &save); !r && word;
		word = strtok_r(NULL, " \t", &save))
		r = add_one(d, variables[variable].name, word, e);
	return r;
}

int xfstests_from_environment(struct xfstests_disks *d, struct err *e)
{
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(variables); i++) {
		const char *value = getenv(variables[i].name);
		_cleanup_free_ char *copy = value ? strdup(value) : NULL;

		if (value)
			r = copy ? add(d, i, copy, e)
				 : err_set(e, ENOMEM, "%s", variables[i].name);
	}
	return r;
}

/* The value without quotes, blanks and comment, in place; NULL: only a shell knows. */
static char *plain_value(char *text)
{
	char *end, quote = *text;

	if (quote == '"' || quote == '\'') {
		end = strchr(++text, quote);
		if (!end || (end[1] && !strchr(" \t;#\r", end[1])))
			return NULL;
		*end = '\0';
	} else {
		text[strcspn(text, " \t;\r")] = '\0';
	}
	return strpbrk(text, quote == '\'' ? "\n" : "$`\\") ? NULL : text;
}

static int read_line(struct xfstests_disks *d, char *line, const char *path, unsigned number,
	struct err *e)
{
	line += strspn(line, " \t");
	if (!strncmp(line, "export", 6) && (line[6] == ' ' || line[6] == '\t'))
		line += 6 + strspn(line + 6, " \t");
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		size_t n = strlen(variables[i].name);
		char *value;

		if (strncmp(line, variables[i].name, n) || line[n] != '=')
			continue;
		value = plain_value(line + n + 1);
		if (!value)
			return err_usage(e, "%s:%u: only a shell could tell what %s is, and "
					    "none is run: name the device itself",
				path, number, variables[i].name);
		return add(d, i, value, e);
	}
	return 0;
}

int xfstests_from_file(struct xfstests_disks *d, const char *path, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	unsigned number = 0;
	size_t length;
	int r = fileio_read_regular(path, &text, &length, e);

	if (r) {
		if (e)
			e->kind = ERR_USAGE;
		return r;
	}
	if (strlen(text) != length)
		return err_usage(e, "%s is no text", path);
	for (char *line = text, *next; !r && line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		r = read_line(d, line, path, ++number, e);
	}
	return r;
}

void xfstests_deinit(struct xfstests_disks *d)
{
	for (size_t i = 0; i < d->count; i++) {
		free(d->items[i].role);
		free(d->items[i].device);
	}
	free(d->items);
	*d = (struct xfstests_disks){0};
}
