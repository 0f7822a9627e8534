/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * One line of /etc/fstab; see fstab.h.
 *
 * libmount reads the file and finds the line of a device whatever it is called there.
 * For writing, the file is copied line by line and only the fields of the one line are
 * replaced, so that comments and the layout of all others stay as their owner made them.
 */

#include "mount/fstab.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <libmount/libmount.h>

#include "core/fileio.h"
#include "core/strbuf.h"
#include "mount/mount.h"

DEFINE_CLEANUP(struct libmnt_table *, mnt_unref_table)
DEFINE_CLEANUP(struct libmnt_cache *, mnt_unref_cache)

const char *fstab_path(void)
{
	return mnt_get_fstab_path();
}

static int find(struct libmnt_table **table, struct libmnt_fs **fs, const char *device,
	const char *path, struct err *e)
{
	_cleanup_(mnt_unref_tablep) struct libmnt_table *t = mnt_new_table();
	_cleanup_(mnt_unref_cachep) struct libmnt_cache *cache = mnt_new_cache();

	if (!t || !cache || mnt_table_set_cache(t, cache))
		return err_set(e, ENOMEM, "read %s", path);
	if (access(path, F_OK) == 0 && mnt_table_parse_file(t, path))
		return err_say(e, EIO, "%s cannot be read", path);
	*fs = mnt_table_find_srcpath(t, device, MNT_ITER_FORWARD);
	*table = take_ptr(t);
	return 0;
}

static int want_options(struct fstab_line *l, const char *journal_path, bool has_journal)
{
	l->wanted_options = mount_options_strip_journal(l->options, !has_journal);
	if (l->wanted_options && journal_path &&
		mnt_optstr_set_option(&l->wanted_options, "journal_path", journal_path))
		return -ENOMEM;
	return l->wanted_options ? 0 : -ENOMEM;
}

static const char *wanted_type(const char *type, bool has_journal)
{
	if (!has_journal && !strcmp(type, "ext3"))
		return "ext2";
	return has_journal && !strcmp(type, "ext2") ? "ext3" : type;
}

int fstab_look(struct fstab_line *l, const char *device, const char *journal_path,
	bool has_journal, const char *path, struct err *e)
{
	_cleanup_(fstab_line_deinit) struct fstab_line line = { 0 };
	_cleanup_(mnt_unref_tablep) struct libmnt_table *table = NULL;
	struct libmnt_fs *fs = NULL;
	const char *options;
	int r = find(&table, &fs, device, path, e);

	if (r)
		return r;
	if (!fs || !mnt_fs_get_target(fs) || !mnt_fs_get_fstype(fs)) {
		*l = (struct fstab_line){ 0 };
		return 0;
	}
	options = mnt_fs_get_options(fs);
	line.target = strdup(mnt_fs_get_target(fs));
	line.type = strdup(mnt_fs_get_fstype(fs));
	line.options = strdup(options ? options : "defaults");
	if (!line.target || !line.type || !line.options)
		return err_set(e, ENOMEM, "read %s", path);
	line.wanted_type = strdup(wanted_type(line.type, has_journal));
	if (!line.wanted_type || want_options(&line, journal_path, has_journal))
		return err_set(e, ENOMEM, "read %s", path);
	line.is_root = !strcmp(line.target, "/");
	line.unchecked = mnt_fs_get_passno(fs) == 0;
	line.differs = strcmp(line.options, line.wanted_options) ||
		strcmp(line.type, line.wanted_type);
	*l = line;
	line = (struct fstab_line){ 0 };
	return 0;
}

/* Copies a line with its third and fourth field replaced. */
static void copy_changed(struct strbuf *out, const char *line, size_t n,
	const struct fstab_line *l)
{
	const char *at = line, *end = line + n;

	for (int field = 1; at < end; field++) {
		size_t blank = strspn(at, " \t"), word;

		strbuf_addn(out, at, blank);
		at += blank;
		word = strcspn(at, " \t\n");
		if (field == 3)
			strbuf_add(out, l->wanted_type);
		else if (field == 4)
			strbuf_add(out, l->wanted_options);
		else
			strbuf_addn(out, at, word);
		at += word;
		if (at < end && *at == '\n')
			break;
	}
}

/* Is this line, as libmount understands it, the one that mounts l->target? */
static bool is_the_line(const char *line, size_t n, const struct fstab_line *l,
	const char *device)
{
	_cleanup_free_ char *text = strndup(line, n);
	_cleanup_(mnt_unref_tablep) struct libmnt_table *t = mnt_new_table();
	_cleanup_(mnt_unref_cachep) struct libmnt_cache *cache = mnt_new_cache();
	struct libmnt_fs *fs;
	FILE *f;
	int rc;

	if (!text || !t || !cache || !*text || mnt_table_set_cache(t, cache))
		return false;
	f = fmemopen(text, strlen(text), "r");
	if (!f)
		return false;
	rc = mnt_table_parse_stream(t, f, "line");
	fclose(f);
	fs = rc ? NULL : mnt_table_find_srcpath(t, device, MNT_ITER_FORWARD);
	return fs && mnt_fs_get_target(fs) && !strcmp(mnt_fs_get_target(fs), l->target);
}

static void copy_all(struct strbuf *out, const char *text, const struct fstab_line *l,
	const char *device)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		size_t whole = n + (text[n] == '\n');

		if (is_the_line(text, n, l, device)) {
			copy_changed(out, text, n, l);
			strbuf_addn(out, text + n, whole - n);
		} else {
			strbuf_addn(out, text, whole);
		}
		text += whole;
	}
}

int fstab_write(const struct fstab_line *l, const char *device, const char *path,
	struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };
	_cleanup_free_ char *text = NULL, *backup = NULL;
	struct stat st;
	size_t n;
	int r = fileio_read(path, &text, &n, e);

	if (r)
		return r;
	if (stat(path, &st))
		return err_set(e, errno, "read %s", path);
	copy_all(&out, text, l, device);
	if (strbuf_failed(&out) || asprintf(&backup, "%s.jbdlab", path) < 0)
		return err_set(e, ENOMEM, "write %s", path);
	r = fileio_write_durable(backup, text, n, st.st_mode & 07777, e);
	if (!r)
		r = fileio_write_durable(path, out.text, out.length, st.st_mode & 07777, e);
	return r;
}

void fstab_line_deinit(struct fstab_line *l)
{
	free(l->target);
	free(l->type);
	free(l->options);
	free(l->wanted_type);
	free(l->wanted_options);
	*l = (struct fstab_line){ 0 };
}
