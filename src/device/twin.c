/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Devices that cannot be told apart; see twin.h.  Only devices of the same size are
 * opened: a sleeping disk need not wake for this.
 */

#include "device/twin.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/fileio.h"
#include "device/find.h"

static bool has_size(const char *path, uint64_t size_bytes)
{
	const char *name = strrchr(path, '/');
	uint64_t sectors;

	/* The nodes of device mapper have names of their own. */
	return !name || fileio_read_u64(&sectors, "/sys/class/block/%s/size", name + 1) ||
	       sectors == size_bytes / 512;
}

static bool is_twin(const struct device_identity *id, const char *path)
{
	_cleanup_(device_identity_deinit) struct device_identity other = { 0 };
	_cleanup_close_ int fd = -1;

	if (!has_size(path, id->size_bytes))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd >= 0 && !device_identity_read(&other, fd, path, NULL) &&
	       other.devno != id->devno && device_identity_same(id, &other);
}

char *device_twin(const struct device_identity *id)
{
	char **paths, *found = NULL;
	size_t count;

	if (!id->is_block || device_list(&paths, &count, NULL))
		return NULL;
	for (size_t i = 0; i < count && !found; i++)
		if (is_twin(id, paths[i]))
			found = strdup(paths[i]);
	device_list_free(paths, count);
	return found;
}

int device_refuse_twin(const struct device_identity *id, struct err *e)
{
	_cleanup_free_ char *twin = device_twin(id);

	return twin ? err_refuse(e, "%s and %s cannot be told apart: both have the same "
				    "identity; disconnect one of them",
			      id->path, twin)
		    : 0;
}
