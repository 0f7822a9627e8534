/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Definitions of commands: NAME.ini files with one section [command].  They lie in a
 * directory that is found from where the program itself lies, in the source tree or
 * installed, or that the environment names in JBDLAB_COMMANDS.  Scripts that they run lie
 * beside them.
 */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "core/ini_file.h"
#include "core/nearest.h"
#include "core/place.h"
#include "workload/program.h"

#define SECTION "command"
#define SUFFIX ".ini"

/* Relative to the directory of the program: in the source tree, and installed. */
static const char *const places[] = {"../configs/commands", "../share/jbdlab/commands"};

/* The directory, absolute; NULL: there is none.  The caller frees it. */
static char *find_directory(void)
{
	return place_find(getenv("JBDLAB_COMMANDS"), places, ARRAY_SIZE(places));
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(char ***names, size_t *count, const char *file, struct err *e)
{
	size_t n = strlen(file), suffix = strlen(SUFFIX);
	char **more;

	if (*file == '.' || n <= suffix || strcmp(file + n - suffix, SUFFIX))
		return 0;
	more = reallocarray(*names, *count + 1, sizeof(*more));
	if (!more)
		return err_set(e, ENOMEM, "list of commands");
	*names = more;
	more[*count] = strndup(file, n - suffix);
	if (!more[*count])
		return err_set(e, ENOMEM, "list of commands");
	++*count;
	return 0;
}

int program_list(char ***names, size_t *count, struct err *e)
{
	_cleanup_free_ char *directory = find_directory();
	DIR *d = directory ? opendir(directory) : NULL;
	struct dirent *entry;
	int r = 0;

	*names = NULL;
	*count = 0;
	if (!d)
		return 0;
	while (!r && (entry = readdir(d)))
		r = add_name(names, count, entry->d_name, e);
	closedir(d);
	if (*count)
		qsort(*names, *count, sizeof(**names), compare_names);
	return r;
}

static int unknown_name(const char *name, struct err *e)
{
	struct nearest near = {.word = name};
	char **names, close[80] = "";
	size_t count;
	int r = program_list(&names, &count, e);

	for (size_t i = 0; i < count; i++)
		nearest_offer(&near, names[i]);
	if (near.best)
		snprintf(close, sizeof(close), "; did you mean \"%s\"?", near.best);
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
	if (r)
		return r;
	if (!count)
		return err_usage(e, "there is no command \"%s\", because no definitions are "
				    "found; the variable JBDLAB_COMMANDS may name their "
				    "directory",
			name);
	return err_usage(e, "there is no command \"%s\"%s%s", name, close,
		*close ? "" : "; \"jbdlab workloads\" lists them");
}

/* *path is NULL when there is no definition of that name. */
static int find_file(const char *name, char **path, struct err *e)
{
	_cleanup_free_ char *directory = NULL;

	*path = NULL;
	if (strchr(name, '/')) {
		*path = realpath(name, NULL);
		return *path ? 0 : err_usage(e, "%s: %s", name, strerror(errno));
	}
	directory = find_directory();
	if (directory && asprintf(path, "%s/%s" SUFFIX, directory, name) < 0) {
		*path = NULL;
		return err_set(e, ENOMEM, "command %s", name);
	}
	if (*path && access(*path, R_OK))
		free(take_ptr(*path));
	return 0;
}

static int take_line(
	struct program_settings *s, const struct ini_line *line, struct err *e)
{
	int r;

	if (strcmp(line->section, SECTION))
		r = err_usage(e, "the only section of a command is [" SECTION "]");
	else if (!line->key)
		return 0;
	else if (!strcmp(line->key, "summary"))
		return (s->fields[PROGRAM_SUMMARY] = strdup(line->value))
			       ? 0
			       : err_set(e, ENOMEM, "read %s", line->file);
	else
		r = program_settings_set(s, line->key, line->value, e);
	if (r == -ENOENT)
		r = err_usage(e, "a command has no key \"%s\"", line->key);
	return r ? err_wrap(e, r, "%s:%u", line->file, line->number) : 0;
}

int program_load(struct program *c, const char *name, struct err *e)
{
	_cleanup_(ini_file_deinit) struct ini_file ini = {0};
	_cleanup_free_ char *path = NULL;
	int r = find_file(name, &path, e);

	if (r)
		return r;
	if (!path)
		return unknown_name(name, e);
	r = ini_file_read(&ini, path, e);
	free(take_ptr(c->name));
	free(take_ptr(c->directory));
	program_settings_deinit(&c->shipped);
	for (size_t i = 0; !r && i < ini.count; i++) {
		const struct ini_line *line = &ini.lines[i];

		if (line->key && ini_file_find(&ini, line->section, line->key) != line)
			r = err_usage(e, "%s:%u: \"%s\" is here a second time", line->file,
				line->number, line->key);
		else
			r = take_line(&c->shipped, line, e);
	}
	if (!r && !c->shipped.fields[PROGRAM_EXEC])
		r = err_usage(e, "%s: \"exec\" is missing", path);
	if (r)
		return r;
	c->name = strdup(name);
	c->directory = strndup(path, (size_t)(strrchr(path, '/') - path));
	return c->name && c->directory ? 0 : err_set(e, ENOMEM, "command %s", name);
}

/* In the order of PATH, and then where programs of the administrator are. */
static bool is_in_path(const char *program)
{
	const char *path = getenv("PATH");
	_cleanup_free_ char *all = NULL, *word = NULL;
	char *save = NULL, *directory;

	if (asprintf(&all, "%s:/usr/local/sbin:/usr/sbin:/sbin",
		    path ? path : "/usr/bin:/bin") < 0) {
		all = NULL;
		return false;
	}
	for (directory = strtok_r(all, ":", &save); directory;
		directory = strtok_r(NULL, ":", &save)) {
		free(take_ptr(word));
		if (asprintf(&word, "%s/%s", directory, program) < 0) {
			word = NULL;
			return false;
		}
		if (!access(word, X_OK))
			return true;
	}
	return false;
}

static bool is_there(const char *program)
{
	glob_t found;
	bool there;

	if (!strchr(program, '/'))
		return is_in_path(program);
	there = !glob(program, 0, NULL, &found);
	if (there)
		globfree(&found);
	return there;
}

static const char *lookup(const void *data, const char *name)
{
	return program_variable(data, name);
}

/* "PROGRAM (PACKAGE)" */
static int add_need(
	struct program_needs *needs, const struct program *c, char *text, struct err *e)
{
	char *open = strchr(text, '('), *close = open ? strchr(open, ')') : NULL;
	struct program_need *more, *need;
	int r;

	if (open && (!close || close[1 + strspn(close + 1, " \t")]))
		return err_usage(
			e, "needs: \"%s\" is not \"PROGRAM (PACKAGE)\"", text);
	more = reallocarray(needs->at, needs->count + 1, sizeof(*more));
	if (!more)
		return err_set(e, ENOMEM, "needs");
	needs->at = more;
	need = &more[needs->count++];
	*need = (struct program_need){0};
	if (open) {
		need->package = strndup(open + 1, (size_t)(close - open - 1));
		if (!need->package)
			return err_set(e, ENOMEM, "needs");
		*open = '\0';
	}
	for (char *end = text + strlen(text); end > text && isspace((unsigned char)end[-1]);)
		*--end = '\0';
	r = program_expand(text, lookup, c, &need->program, e);
	if (!r)
		need->installed = is_there(need->program);
	return r ? err_wrap(e, r, "needs") : 0;
}

int program_needs_read(struct program_needs *needs, const struct program *c, struct err *e)
{
	const char *text = program_field(c, PROGRAM_NEEDS);
	_cleanup_free_ char *copy = strdup(text ? text : "");
	char *save = NULL, *item;
	int r = copy ? 0 : err_set(e, ENOMEM, "needs");

	*needs = (struct program_needs){0};
	for (item = r ? NULL : strtok_r(copy, ",", &save); !r && item;
		item = strtok_r(NULL, ",", &save)) {
		item += strspn(item, " \t");
		if (*item)
			r = add_need(needs, c, item, e);
	}
	if (r)
		program_needs_deinit(needs);
	return r;
}

void program_needs_deinit(struct program_needs *needs)
{
	for (size_t i = 0; i < needs->count; i++) {
		free(needs->at[i].program);
		free(needs->at[i].package);
	}
	free(needs->at);
	*needs = (struct program_needs){0};
}
