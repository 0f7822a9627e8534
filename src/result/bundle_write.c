/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Writing a bundle; see bundle.h.  bundle.json is written first and says "running", so
 * that a directory whose experiment died can be told from one that ended.  A line that
 * could not be written whole is cut off again: the file stays readable when the disk that
 * holds the bundle is full.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/fileio.h"
#include "result/bundle.h"
#include "result/bundle_info.h"
#include "result/bundle_rows.h"
#include "result/result_json.h"

struct bundle_writer {
	char *path;
	struct bundle_info info;
};

static int path_of(
	char **out, const struct bundle_writer *w, const char *name, struct err *e)
{
	if (asprintf(out, "%s/%s", w->path, name) >= 0)
		return 0;
	*out = NULL;
	return err_set(e, ENOMEM, "write %s", name);
}

static int write_text(
	const struct bundle_writer *w, const char *name, const char *text, struct err *e)
{
	_cleanup_free_ char *path = NULL;
	int r = path_of(&path, w, name, e);

	return r ? r : fileio_write_durable(path, text, strlen(text), 0644, e);
}

static int write_json(const struct bundle_writer *w, const char *name, const json_t *json,
	struct err *e)
{
	_cleanup_free_ char *text = NULL, *with_newline = NULL;

	if (json)
		text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
	if (!text || asprintf(&with_newline, "%s\n", text) < 0) {
		with_newline = NULL;
		return err_set(e, ENOMEM, "write %s", name);
	}
	return write_text(w, name, with_newline, e);
}

static int append_bytes(
	int fd, const char *path, const char *bytes, size_t n, struct err *e)
{
	struct stat st;
	int r;

	if (fstat(fd, &st))
		return err_set(e, errno, "stat %s", path);
	r = fileio_pwrite_full(fd, bytes, n, st.st_size, path, e);
	if (!r && fsync(fd))
		r = err_set(e, errno, "sync %s", path);
	if (r && ftruncate(fd, st.st_size))
		err_wrap(e, r, "%s now ends with an incomplete line", path);
	return r;
}

static int append_line(const struct bundle_writer *w, const char *name,
	const json_t *json, struct err *e)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	_cleanup_close_ int fd = -1;
	size_t n;
	int r = path_of(&path, w, name, e);

	if (r)
		return r;
	if (json)
		text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17));
	if (!text)
		return err_set(e, ENOMEM, "append to %s", path);
	n = strlen(text);
	text[n] = '\n'; /* in the place of the NUL; from here on it is n + 1 bytes */
	fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_set(e, errno, "open %s", path);
	r = append_bytes(fd, path, text, n + 1, e);
	return r ? r : fileio_sync_dir(w->path, e);
}

static int write_info(const struct bundle_writer *w, struct err *e)
{
	json_auto_t *json = bundle_info_to_json(&w->info);

	return write_json(w, "bundle.json", json, e);
}

static int copy_text(char **out, const char *text)
{
	*out = strdup(text ? text : "");
	return *out ? 0 : -ENOMEM;
}

static int copy_info(
	struct bundle_info *to, const struct bundle_info *from, struct err *e)
{
	*to = *from;
	if (to->design.level == 0)
		to->design = (struct bundle_design){
			.level = BUNDLE_LEVEL, .margin = BUNDLE_MARGIN};
	to->name = to->version = to->primary = to->reason = NULL;
	to->arms = NULL;
	to->arm_count = 0;
	if (copy_text(&to->name, from->name) || copy_text(&to->version, from->version) ||
		copy_text(&to->primary, from->primary) ||
		copy_text(&to->reason, from->reason))
		return err_set(e, ENOMEM, "make a bundle");
	for (size_t i = 0; i < from->arm_count; i++) {
		const struct bundle_arm *arm = &from->arms[i];
		int r = bundle_info_add_arm(to, arm->name, arm->placement, arm->mount, e);

		if (!r)
			r = bundle_info_set_levels(to, arm->levels, e);
		if (r)
			return r;
	}
	return 0;
}

static int sync_parent(const struct bundle_writer *w, struct err *e)
{
	_cleanup_free_ char *parent = NULL;
	int r = path_of(&parent, w, "..", e);

	return r ? r : fileio_sync_dir(parent, e);
}

static int refuse_existing(const char *path, struct err *e)
{
	return err_refuse(e,
		"%s exists already: a bundle is never overwritten; \"jbdlab run --resume "
		"%s\" goes on with a run that was interrupted",
		path, path);
}

/* A directory with another name, so that a kill leaves no bundle that is half made. */
static int make_directory(struct bundle_writer *w, const char *path, struct err *e)
{
	if (!access(path, F_OK))
		return refuse_existing(path, e);
	if (asprintf(&w->path, "%s.XXXXXX", path) < 0) {
		w->path = NULL;
		return err_set(e, ENOMEM, "make bundle %s", path);
	}
	if (!mkdtemp(w->path) || chmod(w->path, 0755)) {
		int code = errno;

		free(take_ptr(w->path));
		return err_set(e, code, "make directory %s", path);
	}
	return 0;
}

/* Some file systems cannot rename without replacing; there an empty directory is made to
 * be replaced, which fails if somebody else was quicker. */
static int rename_new(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	return mkdir(to, 0755) || rename(from, to) ? -errno : 0;
}

static int name_directory(struct bundle_writer *w, const char *path, struct err *e)
{
	char *final = strdup(path);
	int r = final ? rename_new(w->path, path) : -ENOMEM;

	if (r) {
		free(final);
		return r == -EEXIST ? refuse_existing(path, e)
				    : err_set(e, -r, "make directory %s", path);
	}
	free(w->path);
	w->path = final;
	return sync_parent(w, e);
}

static int fill(struct bundle_writer *w, const char *path, const char *plan,
	struct err *e)
{
	int r = write_text(w, "plan.ini", plan, e);

	if (!r)
		r = write_info(w, e);
	if (!r)
		r = name_directory(w, path, e);
	if (r)
		bundle_discard(w, NULL);
	return r;
}

int bundle_create(struct bundle_writer **out, const char *path,
	const struct bundle_info *info, const char *plan, struct err *e)
{
	_cleanup_(bundle_writer_freep) struct bundle_writer *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return err_set(e, ENOMEM, "make bundle %s", path);
	r = copy_info(&w->info, info, e);
	if (r)
		return r;
	w->info.state = BUNDLE_RUNNING;
	sha256_hex(plan, strlen(plan), w->info.plan_sha256);
	r = make_directory(w, path, e);
	if (!r)
		r = fill(w, path, plan, e);
	if (!r)
		*out = take_ptr(w);
	return r;
}

int bundle_open(struct bundle_writer **out, const char *path, struct err *e)
{
	_cleanup_(bundle_writer_freep) struct bundle_writer *w = calloc(1, sizeof(*w));
	struct bundle b;
	int r = bundle_load(&b, path, e);

	if (r)
		return r;
	if (w && !copy_text(&w->path, path)) {
		w->info = b.info;
		b.info = (struct bundle_info){0};
		w->info.state = BUNDLE_RUNNING;
		*out = take_ptr(w);
	} else {
		r = err_set(e, ENOMEM, "open bundle %s", path);
	}
	bundle_deinit(&b);
	return r;
}

int bundle_discard(struct bundle_writer *w, struct err *e)
{
	static const char *const files[] = {"report.txt", "status.json", "cells.jsonl",
		"runs.jsonl", "environment.json", "state.log", "plan.ini", "bundle.json"};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_free_ char *path = NULL;

		if (path_of(&path, w, files[i], e))
			return -ENOMEM;
		if (unlink(path) && errno != ENOENT)
			return err_set(e, errno, "remove %s", path);
	}
	return rmdir(w->path) ? err_set(e, errno, "remove %s", w->path) : 0;
}

struct bundle_writer *bundle_writer_free(struct bundle_writer *w)
{
	if (!w)
		return NULL;
	bundle_info_deinit(&w->info);
	free(w->path);
	free(w);
	return NULL;
}

int bundle_add_run(struct bundle_writer *w, const struct result_run *run, struct err *e)
{
	json_auto_t *json = result_run_to_json(run);

	return append_line(w, "runs.jsonl", json, e);
}

int bundle_add_cell(struct bundle_writer *w, const json_t *cell, struct err *e)
{
	return append_line(w, "cells.jsonl", cell, e);
}

int bundle_add_trace(struct bundle_writer *w, const struct timeline *t, struct err *e)
{
	json_auto_t *json = timeline_to_json(t);

	return append_line(w, "traces.jsonl", json, e);
}

int bundle_set_environment(
	struct bundle_writer *w, const json_t *environment, struct err *e)
{
	return write_json(w, "environment.json", environment, e);
}

int bundle_set_report(struct bundle_writer *w, const char *text, struct err *e)
{
	return write_text(w, "report.txt", text, e);
}

int bundle_set_blocks(struct bundle_writer *w, uint32_t blocks, struct err *e)
{
	w->info.blocks = blocks;
	return write_info(w, e);
}

char *bundle_output_path(const char *bundle, uint32_t block, const char *arm,
	const char *workload)
{
	char *path;

	return asprintf(&path, "%s/output/block%u-%s-%s", bundle, block + 1, arm,
		       workload) < 0
		       ? NULL
		       : path;
}

int bundle_finish(struct bundle_writer *w, enum bundle_state state, const char *reason,
	struct err *e)
{
	char *copy = strdup(reason ? reason : "");

	if (!copy)
		return err_set(e, ENOMEM, "finish bundle %s", w->path);
	free(w->info.reason);
	w->info.reason = copy;
	w->info.state = state;
	return write_info(w, e);
}

int bundle_keep_cells(struct bundle_writer *w,
	bool (*keep)(const void *data, uint32_t block, uint32_t position),
	const void *data, struct err *e)
{
	static const char *const files[] = {"runs.jsonl", "cells.jsonl"};
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(files); i++) {
		_cleanup_free_ char *path = NULL;

		r = path_of(&path, w, files[i], e);
		if (!r)
			r = bundle_rows_keep(path, keep, data, e);
	}
	return r ? r : fileio_sync_dir(w->path, e);
}
