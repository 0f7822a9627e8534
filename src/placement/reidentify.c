/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Finding a device again; see reidentify.h. */

#include "placement/reidentify.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

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

int reidentify_find(char **path, const char *hint, const char *identity, struct err *e)
{
	char **paths, *found = NULL;
	size_t count;
	int r;

	if (reidentify_is(hint, identity)) {
		*path = strdup(hint);
		return *path ? 0 : err_set(e, ENOMEM, "find %s", identity);
	}
	if (!strchr(identity, ' '))
		return -ENODEV;
	r = device_list(&paths, &count, e);
	if (r)
		return r;
	for (size_t i = 0; i < count && !found; i++)
		if (reidentify_is(paths[i], identity))
			found = strdup(paths[i]);
	device_list_free(paths, count);
	*path = found;
	return found ? 0 : -ENODEV;
}
