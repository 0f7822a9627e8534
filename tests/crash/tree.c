/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The files are few and small (some MiB), so their bytes themselves are kept: no hash has
 * to be trusted. lost+found may change, because e2fsck may put something there.
 */
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry {
	char *path; /* below the root */
	struct stat st;
	char *data; /* bytes of a file, target of a link */
};

struct tree {
	struct entry *entry;
	uint32_t n;
};

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Return: an owned copy of the content, or NULL with errno. */
static char *read_file(const char *path, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char *data = xcalloc(bytes + 1, 1);
	ssize_t done = fd < 0 ? -1 : read(fd, data, bytes + 1);

	if (fd >= 0)
		close(fd);
	if (done == (ssize_t)bytes)
		return data;
	if (done >= 0)
		errno = EIO;
	free(data);
	return NULL;
}

static char *read_link(const char *path, size_t bytes)
{
	char *data = xcalloc(bytes + 1, 1);

	if (readlink(path, data, bytes + 1) == (ssize_t)bytes)
		return data;
	free(data);
	return NULL;
}

static char *read_content(const FTSENT *f)
{
	size_t bytes = (size_t)f->fts_statp->st_size;

	if (S_ISREG(f->fts_statp->st_mode))
		return read_file(f->fts_accpath, bytes);
	if (S_ISLNK(f->fts_statp->st_mode))
		return read_link(f->fts_accpath, bytes);
	return xcalloc(1, 1);
}

static FTS *walk(const char *root)
{
	char *const paths[] = {(char *)root, NULL};
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);

	if (!fts)
		die_errno("walk %s", root);
	return fts;
}

static bool ignored(FTS *fts, FTSENT *f)
{
	if (f->fts_level == 1 && !strcmp(f->fts_name, "lost+found")) {
		fts_set(fts, f, FTS_SKIP);
		return true;
	}
	return f->fts_info == FTS_DP || (f->fts_level == 0 && f->fts_info == FTS_D);
}

struct tree *tree_read(const char *root)
{
	struct tree *t = xcalloc(1, sizeof(*t));
	FTS *fts = walk(root);
	FTSENT *f;

	while ((f = fts_read(fts))) {
		struct entry *e;

		if (ignored(fts, f))
			continue;
		t->entry = xrealloc(t->entry, (t->n + 1) * sizeof(*t->entry));
		e = &t->entry[t->n++];
		e->path = xasprintf("%s", f->fts_path + strlen(root) + 1);
		e->st = *f->fts_statp;
		e->data = read_content(f);
		if (!e->data)
			die_errno("read %s", f->fts_path);
	}
	fts_close(fts);
	return t;
}

void tree_free(struct tree *t)
{
	for (uint32_t i = 0; t && i < t->n; i++) {
		free(t->entry[i].path);
		free(t->entry[i].data);
	}
	if (t)
		free(t->entry);
	free(t);
}

uint32_t tree_count(const struct tree *t)
{
	return t->n;
}

static bool same_stat(const struct entry *e, const struct stat *st, bool may_have_more)
{
	bool is_directory = S_ISDIR(st->st_mode);

	return e->st.st_mode == st->st_mode && e->st.st_uid == st->st_uid &&
	       e->st.st_gid == st->st_gid && e->st.st_ino == st->st_ino &&
	       ((is_directory && may_have_more) ||
		       (e->st.st_nlink == st->st_nlink && e->st.st_size == st->st_size &&
			       e->st.st_mtim.tv_sec == st->st_mtim.tv_sec &&
			       e->st.st_mtim.tv_nsec == st->st_mtim.tv_nsec));
}

static char *entry_differs(const struct entry *e, const FTSENT *f, bool may_have_more)
{
	char *data, *text = NULL;

	if (!same_stat(e, f->fts_statp, may_have_more))
		return xasprintf("%s: other attributes than before", e->path);
	if (S_ISDIR(e->st.st_mode))
		return NULL;
	data = read_content(f);
	if (!data)
		text = xasprintf("%s: %s", e->path, strerror(errno));
	else if (memcmp(data, e->data, (size_t)e->st.st_size))
		text = xasprintf("%s: other content than before", e->path);
	free(data);
	return text;
}

char *tree_differs(const struct tree *t, const char *root, bool may_have_more)
{
	char *text = NULL;
	FTS *fts = walk(root);
	uint32_t next = 0;
	FTSENT *f;

	while (!text && (f = fts_read(fts))) {
		const char *path = f->fts_path + strlen(root) + 1;

		if (ignored(fts, f))
			continue;
		if (f->fts_info == FTS_DNR || f->fts_info == FTS_ERR ||
			f->fts_info == FTS_NS)
			text = xasprintf("%s: %s", path, strerror(f->fts_errno));
		else if (next < t->n && !strcmp(t->entry[next].path, path))
			text = entry_differs(&t->entry[next++], f, may_have_more);
		else if (may_have_more)
			fts_set(fts, f, FTS_SKIP);
		else
			text = xasprintf("%s: was not there before", path);
	}
	fts_close(fts);
	if (!text && next < t->n)
		text = xasprintf("%s: is missing", t->entry[next].path);
	return text;
}
