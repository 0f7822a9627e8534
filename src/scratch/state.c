/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What is recorded of a scratch disk; see state.h. */

#include "scratch/state.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fileio.h"
#include "core/macros.h"
#include "core/nearest.h"
#include "scratch/model_parameters.h"
#include "scratch/model_process.h"

#define STATE_SCHEMA "jbdlab-scratch/1"
#define SUFFIX ".json"

void scratch_state_deinit(struct scratch_state *s)
{
	free(s->name);
	free(s->model);
	free(s->file);
	free(s->owner);
	*s = (struct scratch_state){ 0 };
}

int scratch_name_check(const char *name, struct err *e)
{
	size_t n = strlen(name);
	bool good = n > 0 && n <= SCRATCH_NAME_MAX && *name != '.' && *name != '-';

	for (size_t i = 0; good && i < n; i++)
		good = isalnum((unsigned char)name[i]) || strchr("-_.", name[i]);
	if (!good)
		return err_usage(e,
			"\"%s\" is no name for a scratch disk: at most %d letters, digits, "
			"\"-\", \"_\" and \".\"",
			name, SCRATCH_NAME_MAX);
	return 0;
}

static char *state_path(const char *name)
{
	char *path;

	return asprintf(&path, SCRATCH_STATE_DIR "/%s" SUFFIX, name) < 0 ? NULL : path;
}

char *scratch_run_path(const char *name, const char *leaf)
{
	char *path;
	int n = asprintf(&path, SCRATCH_RUN_DIR "/%s%s%s", name, leaf ? "/" : "",
		leaf ? leaf : "");

	return n < 0 ? NULL : path;
}

static int no_such_disk(const char *name, struct err *e)
{
	_cleanup_(err_clear) struct err ignored = { 0 };
	struct nearest near = { .word = name };
	char **names = NULL;
	size_t count = 0;

	if (!scratch_state_names(&names, &count, &ignored))
		for (size_t i = 0; i < count; i++)
			nearest_offer(&near, names[i]);
	if (near.best)
		err_say(e, ENOENT, "there is no scratch disk \"%s\"; did you mean \"%s\"?",
			name, near.best);
	else
		err_say(e, ENOENT, "there is no scratch disk \"%s\"", name);
	if (e)
		e->kind = ERR_REFUSED;
	scratch_state_names_free(names, count);
	return -ENOENT;
}

static int parse(struct scratch_state *s, const char *path, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	const char *schema, *name, *model, *file, *owner = NULL;
	json_int_t bytes;
	json_error_t where;
	json_t *o;
	int r = fileio_read(path, &text, NULL, e);

	if (r)
		return r;
	o = json_loads(text, 0, &where);
	if (!o)
		return err_say(e, EBADMSG, "%s: line %d: %s", path, where.line, where.text);
	if (json_unpack_ex(o, &where, 0, "{ss,ss,ss,ss,sI,s?s}", "schema", &schema, "name",
		    &name, "model", &model, "file", &file, "size_bytes", &bytes, "owner",
		    &owner) ||
		strcmp(schema, STATE_SCHEMA)) {
		json_decref(o);
		return err_say(e, EBADMSG, "%s is no record of a scratch disk", path);
	}
	s->name = strdup(name);
	s->model = strdup(model);
	s->file = strdup(file);
	s->owner = owner ? strdup(owner) : NULL;
	s->size_bytes = (uint64_t)bytes;
	json_decref(o);
	if (!s->name || !s->model || !s->file)
		return err_set(e, ENOMEM, "read %s", path);
	return 0;
}

int scratch_state_read(struct scratch_state *s, const char *name, struct err *e)
{
	_cleanup_(scratch_state_deinit) struct scratch_state new = { 0 };
	_cleanup_free_ char *path = state_path(name);
	int r;

	if (!path)
		return err_set(e, ENOMEM, "read scratch disk %s", name);
	if (access(path, F_OK) && errno == ENOENT)
		return no_such_disk(name, e);
	r = parse(&new, path, e);
	if (!r && strcmp(new.name, name))
		r = err_say(e, EBADMSG, "%s is the record of another disk, \"%s\"", path,
			new.name);
	if (r)
		return r;
	*s = new;
	new = (struct scratch_state){ 0 };
	return 0;
}

/* "NAME.json.XXXXXX": a record that was never completed. */
void scratch_state_remove_incomplete(void)
{
	DIR *dir = opendir(SCRATCH_STATE_DIR);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		const char *suffix = strstr(d->d_name, SUFFIX ".");

		if (suffix && strlen(suffix) == strlen(SUFFIX ".XXXXXX"))
			unlinkat(dirfd(dir), d->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

int scratch_state_write(const struct scratch_state *s, struct err *e)
{
	_cleanup_free_ char *path = state_path(s->name);
	_cleanup_free_ char *text = NULL;
	json_t *o = json_pack("{ss,ss,ss,ss,sI,ss*}", "schema", STATE_SCHEMA, "name",
		s->name, "model", s->model, "file", s->file, "size_bytes",
		(json_int_t)s->size_bytes, "owner", s->owner);
	int r;

	text = o ? json_dumps(o, JSON_INDENT(2)) : NULL;
	json_decref(o);
	if (!path || !text)
		return err_say(e, EINVAL, "the scratch disk cannot be recorded: its model or "
					  "directory is not valid UTF-8");
	r = fileio_make_dirs(SCRATCH_STATE_DIR, 0700, e);
	return r ? r : fileio_write_durable(path, text, strlen(text), 0600, e);
}

int scratch_state_remove(const char *name, struct err *e)
{
	_cleanup_free_ char *path = state_path(name);

	if (!path)
		return err_set(e, ENOMEM, "forget scratch disk %s", name);
	if (unlink(path) && errno != ENOENT)
		return err_set(e, errno, "remove %s", path);
	return fileio_sync_dir(SCRATCH_STATE_DIR, e);
}

static int is_state(const struct dirent *d)
{
	size_t n = strlen(d->d_name), suffix = strlen(SUFFIX);

	return n > suffix && d->d_name[0] != '.' && !strcmp(d->d_name + n - suffix, SUFFIX);
}

int scratch_state_names(char ***names, size_t *count, struct err *e)
{
	struct dirent **found = NULL;
	int n = scandir(SCRATCH_STATE_DIR, &found, is_state, alphasort), failed = 0;
	char **list;

	if (n < 0 && errno != ENOENT)
		return err_set(e, errno, "read directory %s", SCRATCH_STATE_DIR);
	n = MAX(n, 0);
	list = calloc((size_t)n + 1, sizeof(*list));
	for (int i = 0; i < n; i++) {
		char *name = found[i]->d_name;

		if (list)
			list[i] = strndup(name, strlen(name) - strlen(SUFFIX));
		failed |= !list || !list[i];
		free(found[i]);
	}
	free(found);
	if (!list || failed) {
		scratch_state_names_free(list, list ? (size_t)n : 0);
		return err_set(e, ENOMEM, "list scratch disks");
	}
	*names = list;
	*count = (size_t)n;
	return 0;
}

void scratch_state_names_free(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

char *scratch_state_model_file(const struct scratch_state *s)
{
	const char *slash = s->file ? strrchr(s->file, '/') : NULL;
	char *name;

	if (asprintf(&name, "jbdlab:%s", slash ? slash + 1 : "") < 0)
		return NULL;
	return name;
}

char *scratch_state_backing(const struct scratch_state *s)
{
	_cleanup_free_ char *file = scratch_state_model_file(s);
	char *path;

	if (model_is_none(s->model))
		return strdup(s->file);
	if (!file || asprintf(&path, SCRATCH_RUN_DIR "/%s/" MODEL_MOUNT "/%s", s->name, file) < 0)
		return NULL;
	return path;
}

char *scratch_state_backing_pattern(const struct scratch_state *s)
{
	_cleanup_free_ char *file = scratch_state_model_file(s);
	char *pattern;
	int n;

	if (s->file)
		n = asprintf(&pattern, "/%s", file ? file : "");
	else
		n = asprintf(&pattern, "/jbdlab:" SCRATCH_DATA_FILE, s->name, "????????");
	return n < 0 || !file ? NULL : pattern;
}
