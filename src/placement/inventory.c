/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Volumes and journal devices, and their links; see inventory.h.
 *
 * First every device is read once, then the links are made in memory.  What is part of
 * something larger (a member of an md mirror with its metadata at the end still looks
 * like a volume) is left out: the volume is what lies on top.
 */

#include "placement/inventory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "device/claim.h"
#include "device/find.h"
#include "device/signature.h"
#include "mount/mount.h"
#include "placement/inventory_links.h"
#include "placement/recover.h"

static void item_deinit(struct inventory_item *item)
{
	device_identity_deinit(&item->identity);
	volume_info_deinit(&item->volume);
	topology_deinit(&item->topology);
	free(item->mounted_on);
	free(item->in_use);
	for (size_t i = 0; i < item->user_count; i++)
		free(item->users[i].path);
	free(item->users);
	for (size_t i = 0; i < item->note_count; i++)
		free(item->notes[i]);
	free(item->notes);
	*item = (struct inventory_item){ 0 };
}

static int add_item(struct inventory *inv, struct inventory_item *item, struct err *e)
{
	struct inventory_item *more =
		reallocarray(inv->items, inv->count + 1, sizeof(*more));

	if (!more)
		return err_set(e, ENOMEM, "list devices");
	inv->items = more;
	inv->items[inv->count++] = *item;
	*item = (struct inventory_item){ 0 };
	return 0;
}

/* Takes the message out of why. */
static bool is_refusal(const struct err *why)
{
	return why->kind == ERR_REFUSED || why->code == ENOENT || why->code == ENOTBLK ||
	       why->code == EMEDIUMTYPE || why->code == EUCLEAN;
}

static int add_failure(struct inventory *inv, const char *path, bool named,
	struct err *why, struct err *e)
{
	struct inventory_failure *more =
		reallocarray(inv->failures, inv->failure_count + 1, sizeof(*more));
	struct inventory_failure failure = {
		.path = strdup(path),
		.named = named,
		.code = why->code,
		.refused = is_refusal(why),
		.reason = strdup(err_message(why)),
	};

	if (more)
		inv->failures = more;
	if (!more || !failure.path || !failure.reason) {
		free(failure.path);
		free(failure.reason);
		return err_set(e, ENOMEM, "list devices");
	}
	inv->failures[inv->failure_count++] = failure;
	return 0;
}

static int open_readable(const char *path, struct err *e)
{
	struct stat st;
	int fd;

	if (stat(path, &st))
		return err_set(e, errno, "%s", path);
	if (!S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode))
		return err_say(e, ENOTBLK,
			"%s is neither a block device nor an image file", path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? claim_cannot_open(path, e) : fd;
}

/* Says what there is instead of a volume, if somebody asked: looking for every signature
 * takes a disk a while. */
static int name_contents(int fd, const char *path, bool asked, struct err *e)
{
	_cleanup_(signature_list_deinit) struct signature_list list = { 0 };
	_cleanup_(err_clear) struct err ignored = { 0 };
	_cleanup_free_ char *text = NULL;

	if (!asked || e->code != EMEDIUMTYPE ||
		signature_list_read(&list, fd, path, &ignored) || !list.count)
		return -e->code;
	text = signature_list_describe(&list);
	return err_say(e, EMEDIUMTYPE,
		"%s holds no ext2, ext3 or ext4 volume and no journal, "
		"but %s",
		path, text ? text : "something else");
}

static void note_signatures(struct inventory_item *item, int fd)
{
	_cleanup_(signature_list_deinit) struct signature_list list = { 0 };
	_cleanup_(err_clear) struct err ignored = { 0 };
	_cleanup_free_ char *text = NULL;

	if (signature_list_read(&list, fd, item->identity.path, &ignored) ||
		list.count < 2)
		return;
	text = signature_list_describe(&list);
	inventory_note(item, "it carries more than one signature: %s", text ? text : "?");
}

static int read_item(struct inventory_item *item, const char *path, bool asked,
	struct err *e)
{
	_cleanup_(err_clear) struct err ignored = { 0 };
	_cleanup_close_ int fd = open_readable(path, e);
	int r;

	if (fd < 0)
		return fd;
	r = device_identity_read(&item->identity, fd, path, e);
	if (!r)
		r = volume_info_read(&item->volume, fd, path, e);
	if (r)
		return name_contents(fd, path, asked, e);
	item->in_use = claim_describe_users_of(fd);
	if (item->identity.is_block) {
		item->mounted_on = mount_find_target(item->identity.devno);
		r = topology_read(&item->topology, item->identity.devno, &ignored);
	} else {
		r = topology_read_file(&item->topology, fd, path, &ignored);
	}
	if (r)
		item->topology.complete = false;
	if (asked)
		note_signatures(item, fd);
	item->move_pending = recover_is_pending(NULL, item->volume.uuid);
	if (item->move_pending)
		inventory_note(item,
			"a move of its journal was interrupted; run \"jbdlab recover %s\"",
			item->identity.path);
	return 0;
}

static bool is_listed(const struct inventory *inv, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	for (size_t i = 0; i < inv->count; i++) {
		const struct device_identity *id = &inv->items[i].identity;

		if (id->is_block && S_ISBLK(st.st_mode) ? id->devno == st.st_rdev
							: !strcmp(id->path, path))
			return true;
	}
	return false;
}

/* Not worth a word when nobody asked for it. */
static bool is_quiet(const struct err *e)
{
	return e->code == EMEDIUMTYPE || e->code == ENOMEDIUM || e->code == ENXIO ||
	       e->code == ENOENT;
}

static int add_device(struct inventory *inv, const char *path, bool named, bool asked,
	struct err *e)
{
	_cleanup_(item_deinit) struct inventory_item item = { .named = named };
	_cleanup_(err_clear) struct err why = { 0 };

	if (is_listed(inv, path))
		return 0;
	if (!read_item(&item, path, asked, &why))
		return add_item(inv, &item, e);
	if (!asked && is_quiet(&why))
		return 0;
	return add_failure(inv, path, asked, &why, e);
}

static int add_named(struct inventory *inv, const char *name, struct err *e)
{
	_cleanup_(err_clear) struct err why = { 0 };
	_cleanup_free_ char *path = NULL;

	if (device_find(name, &path, &why))
		return add_failure(inv, name, true, &why, e);
	return add_device(inv, path, true, true, e);
}

static int add_all(struct inventory *inv, bool named, struct err *e)
{
	char **paths;
	size_t count;
	int r = device_list(&paths, &count, e);

	if (r)
		return r;
	for (size_t i = 0; !r && i < count; i++)
		if (!device_is_part(paths[i]))
			r = add_device(inv, paths[i], named, false, e);
	device_list_free(paths, count);
	return r;
}

int inventory_read(struct inventory *inv, const char *const names[], size_t name_count,
	struct err *e)
{
	_cleanup_(inventory_deinit) struct inventory found = { 0 };
	int r = 0;

	for (size_t i = 0; !r && names && i < name_count; i++)
		r = add_named(&found, names[i], e);
	if (!r)
		r = add_all(&found, !names, e);
	if (!r)
		r = inventory_link(&found, e);
	if (r)
		return r;
	*inv = found;
	found = (struct inventory){ 0 };
	return 0;
}

void inventory_deinit(struct inventory *inv)
{
	for (size_t i = 0; i < inv->count; i++)
		item_deinit(&inv->items[i]);
	free(inv->items);
	for (size_t i = 0; i < inv->failure_count; i++) {
		free(inv->failures[i].path);
		free(inv->failures[i].reason);
	}
	free(inv->failures);
	*inv = (struct inventory){ 0 };
}
