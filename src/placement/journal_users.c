/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Volumes that name a journal device; see journal_users.h.  Every block device is looked
 * at, mounted or not, for reading only. */

#include "placement/journal_users.h"

#include <fcntl.h>
#include <string.h>

#include "device/find.h"
#include "volume/volume.h"

static bool names_journal(const char *path, const char *journal_uuid)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct volume_info v = { 0 };
	bool yes;

	if (fd < 0 || volume_info_read(&v, fd, path, NULL))
		return false;
	yes = v.kind == VOLUME_FILESYSTEM && v.place == JOURNAL_EXTERNAL &&
	      !strcmp(v.journal_uuid, journal_uuid);
	volume_info_deinit(&v);
	return yes;
}

void journal_users_find(const char *journal_uuid, const char *except,
	struct strbuf *found)
{
	char **paths;
	size_t count;

	if (device_list(&paths, &count, NULL))
		return;
	for (size_t i = 0; i < count; i++)
		if ((!except || strcmp(paths[i], except)) &&
			names_journal(paths[i], journal_uuid))
			strbuf_addf(found, "%s%s", found->length ? ", " : "", paths[i]);
	device_list_free(paths, count);
}

char *journal_users_of(int fd, const char *name, const char *except)
{
	_cleanup_(strbuf_deinit) struct strbuf found = { 0 };
	struct volume_info v = { 0 };

	if (volume_info_read(&v, fd, name, NULL))
		return NULL;
	if (v.kind == VOLUME_JOURNAL_DEVICE)
		journal_users_find(v.uuid, except, &found);
	volume_info_deinit(&v);
	return found.length ? strbuf_take(&found) : NULL;
}
