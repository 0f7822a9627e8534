/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Listing leases; see lease_list.h.  A lease knows a disk by its identity and not by a
 * name, so every device that there is gets compared with it.
 */

#include "scratch/lease_list.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "core/strbuf.h"
#include "device/find.h"
#include "device/identity.h"
#include "device/sysfs.h"
#include "scratch/lease.h"

static char *copy_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? strdup(text) : NULL;
}

static char *describe(const struct device_identity *id)
{
	const struct {
		const char *name, *value;
	} facts[] = {{"wwn", id->wwn}, {"serial", id->serial}, {"partuuid", id->partuuid},
		{"file", id->backing_file}};
	_cleanup_(strbuf_deinit) struct strbuf b = {0};

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		if (facts[i].value)
			strbuf_addf(&b, "%s%s=%s", b.length ? " " : "", facts[i].name,
				facts[i].value);
	return strbuf_take(&b);
}

static char *find_device(const struct device_identity *leased, char **paths, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		_cleanup_(device_identity_deinit) struct device_identity id = {0};
		_cleanup_close_ int fd =
			open(paths[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		if (fd >= 0 && !device_identity_read(&id, fd, paths[i], NULL) &&
			device_identity_same(leased, &id))
			return strdup(paths[i]);
	}
	return NULL;
}

static void read_lease(struct lease_entry *entry, char **paths, size_t count)
{
	json_auto_t *o = json_load_file(entry->file, 0, NULL);
	/* Borrowed from o. */
	struct device_identity leased = {.is_block = true};
	json_int_t bytes = 0, start = 0;

	if (!o || json_unpack(o, "{sI,sI,s?s,s?s,s?s,s?s,s?s}", "size_bytes", &bytes,
			  "partition_start_bytes", &start, "wwn", &leased.wwn, "serial",
			  &leased.serial, "model", &leased.model, "partuuid",
			  &leased.partuuid, "backing_file", &leased.backing_file))
		return;
	leased.size_bytes = entry->size_bytes = (uint64_t)bytes;
	leased.partition_start_bytes = (uint64_t)start;
	entry->identity = describe(&leased);
	entry->device = find_device(&leased, paths, count);
	entry->user = copy_of(o, "user");
	entry->time = copy_of(o, "time");
}

int lease_list(struct lease_entry **out, size_t *count, struct err *e)
{
	size_t name_count, path_count = 0, n = 0;
	char **names = sysfs_names(&name_count, "%s", LEASE_DIR), **paths = NULL;
	struct lease_entry *list = calloc(name_count + 1, sizeof(*list));
	int r = list ? 0 : err_set(e, ENOMEM, "list leases");

	if (!r && name_count)
		r = device_list(&paths, &path_count, e);
	for (size_t i = 0; !r && i < name_count; i++) {
		size_t length = strlen(names[i]);

		if (length < 5 || strcmp(names[i] + length - 5, ".json"))
			continue;
		if (asprintf(&list[n].file, LEASE_DIR "/%s", names[i]) < 0) {
			list[n].file = NULL;
			r = err_set(e, ENOMEM, "list leases");
			break;
		}
		read_lease(&list[n++], paths, path_count);
	}
	device_list_free(paths, path_count);
	sysfs_names_free(names, name_count);
	if (r) {
		lease_list_free(list, n);
		return r;
	}
	*out = list;
	*count = n;
	return 0;
}

void lease_list_free(struct lease_entry *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(list[i].file);
		free(list[i].identity);
		free(list[i].device);
		free(list[i].user);
		free(list[i].time);
	}
	free(list);
}
