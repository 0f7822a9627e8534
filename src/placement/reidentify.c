/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Finding a device again; see reidentify.h. */

#include "placement/reidentify.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "device/find.h"
#include "device/identity.h"
#include "placement/intent.h"

bool reidentify_is(const char *path, const char *identity)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	_cleanup_free_ char *text = NULL;
	struct device_identity id = {0};

	if (fd < 0 || device_identity_read(&id, fd, path, NULL))
		return false;
	text = intent_identity(&id);
	device_identity_deinit(&id);
	return text && !strcmp(text, identity);
}

/* Device mapper has two names for one device. */
static bool is_one_device(const char *a, const char *b)
{
	struct stat x, y;

	return !strcmp(a, b) || (!stat(a, &x) && !stat(b, &y) && S_ISBLK(x.st_mode) &&
					S_ISBLK(y.st_mode) && x.st_rdev == y.st_rdev);
}

/* A size alone fits many devices, and so does the name of a file that has none any more. */
static bool is_unique(const char *identity)
{
	return strchr(identity, ' ') && !strstr(identity, " (deleted)");
}

/* One more device with the identity: the first is kept, a second is a reason to stop. */
static int add_match(char **found, const char *path, const char *identity, struct err *e)
{
	if (*found && !is_one_device(*found, path))
		return err_refuse(e, "%s and %s cannot be told apart: both are \"%s\"; "
				     "disconnect one of them",
			*found, path, identity);
	if (!*found)
		*found = strdup(path);
	return *found ? 0 : err_set(e, ENOMEM, "find %s", identity);
}

int reidentify_find(char **path, const char *hint, const char *identity, struct err *e)
{
	_cleanup_free_ char *found = NULL;
	char **paths = NULL;
	size_t count = 0;
	int r = 0;

	if (reidentify_is(hint, identity))
		r = add_match(&found, hint, identity, e);
	if (!r && is_unique(identity)) {
		r = device_list(&paths, &count, e);
		for (size_t i = 0; !r && i < count; i++)
			if (reidentify_is(paths[i], identity))
				r = add_match(&found, paths[i], identity, e);
		device_list_free(paths, count);
	}
	if (r)
		return r;
	*path = take_ptr(found);
	return *path ? 0 : -ENODEV;
}
