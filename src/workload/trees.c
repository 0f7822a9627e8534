/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Directories of a workload; see trees.h.  They are removed by walking them without
 * following symbolic links or crossing into another file system; nothing else can lie in
 * them, because mkdir(2) made them.
 */

#include "workload/trees.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_DIRECTORIES = 16 };

int trees_new(struct trees **out, const struct workload_env *env, const char *type,
	size_t count, struct err *e)
{
	_cleanup_(trees_freep) struct trees *t = calloc(1, sizeof(*t));

	if (t)
		t->paths = calloc(count, sizeof(*t->paths));
	if (!t || !t->paths)
		return err_set(e, ENOMEM, "names of %zu directories", count);
	t->log = env->log;
	while (t->count < count) {
		_cleanup_free_ char *path = NULL;

		if (asprintf(&path, "%s/_jbdlab_%s_%ld.%zu",
			    env->directories[t->count % env->directory_count], type,
			    (long)getpid(), t->count) < 0)
			return err_set(e, ENOMEM, "names of %zu directories", count);
		if (mkdir(path, 0700))
			return err_set(e, errno, "create %s", path);
		t->paths[t->count++] = take_ptr(path);
	}
	*out = take_ptr(t);
	return 0;
}

int trees_give(const struct trees *t, uid_t uid, gid_t gid, struct err *e)
{
	for (size_t i = 0; i < t->count; i++)
		if (lchown(t->paths[i], uid, gid))
			return err_set(e, errno, "give %s to user %u", t->paths[i],
				(unsigned)uid);
	return 0;
}

static int remove_one(
	const char *path, const struct stat *st _unused_, int kind _unused_,
	struct FTW *at _unused_)
{
	return remove(path);
}

struct trees *trees_free(struct trees *t)
{
	if (!t)
		return NULL;
	for (size_t i = 0; i < t->count; i++) {
		if (nftw(t->paths[i], remove_one, OPEN_DIRECTORIES,
			    FTW_DEPTH | FTW_PHYS | FTW_MOUNT))
			log_line(t->log, LOG_WARNING, "cannot remove %s: %s", t->paths[i],
				strerror(errno));
		free(t->paths[i]);
	}
	free(t->paths);
	free(t);
	return NULL;
}

int trees_settle(const struct workload_env *env, struct err *e)
{
	for (size_t i = 0; i < env->directory_count; i++) {
		_cleanup_close_ int fd =
			open(env->directories[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0 || syncfs(fd))
			return err_set(e, errno, "sync %s", env->directories[i]);
	}
	return 0;
}
