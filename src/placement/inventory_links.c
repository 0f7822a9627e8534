/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Which journal belongs to which volume; see inventory.h.
 *
 * The link that counts is the UUID of the journal in the superblock of the volume.  The
 * device number beside it is only a hint, yet it is the only thing that the kernel looks
 * at when it mounts: where the hint is out of date, mounting fails, or worse, finds the
 * journal of somebody else.  The way back, the list of users in the journal, is never
 * compared by the kernel; it is told here where it does not match.
 */

#include "placement/inventory_links.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <uuid/uuid.h>

void inventory_note(struct inventory_item *item, const char *fmt, ...)
{
	char **more = reallocarray(item->notes, item->note_count + 1, sizeof(*more));
	char *text = NULL;
	va_list ap;

	if (!more)
		return;
	item->notes = more;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		item->notes[item->note_count++] = text;
}

/* An image file that is also in the list as the loop device which lies on it. */
static bool is_behind_loop(const struct inventory *inv, const struct inventory_item *item)
{
	for (size_t i = 0; !item->identity.is_block && i < inv->count; i++) {
		const char *backing = inv->items[i].identity.backing_file;

		if (backing && !strcmp(backing, item->identity.path))
			return true;
	}
	return false;
}

/* First item of a kind with this UUID; *count: how many there are. */
static struct inventory_item *find(struct inventory *inv, enum volume_kind kind,
	const char *uuid, size_t *count)
{
	struct inventory_item *first = NULL;

	*count = 0;
	for (size_t i = 0; i < inv->count; i++) {
		struct inventory_item *item = &inv->items[i];

		if (item->volume.kind != kind || strcmp(item->volume.uuid, uuid) ||
			is_behind_loop(inv, item))
			continue;
		if (!first)
			first = item;
		(*count)++;
	}
	return first;
}

static bool lists_user(const struct inventory_item *journal, const char *uuid)
{
	for (size_t i = 0; i < journal->user_count; i++)
		if (!strcmp(journal->users[i].uuid, uuid))
			return true;
	return false;
}

static void note_number(struct inventory_item *item, const struct inventory_item *journal)
{
	dev_t recorded = volume_journal_devno(&item->volume);

	if (!journal->identity.is_block || recorded == journal->identity.devno)
		return;
	item->number_differs = true;
	inventory_note(item,
		"the superblock says that the journal is device %u:%u, but it is %u:%u (%s) "
		"now; mount with journal_path=%s, or let e2fsck -p correct it",
		major(recorded), minor(recorded), major(journal->identity.devno),
		minor(journal->identity.devno), journal->identity.path,
		journal->identity.stable_name ? journal->identity.stable_name
					      : journal->identity.path);
}

static void link_external(struct inventory *inv, struct inventory_item *item)
{
	size_t copies;
	struct inventory_item *journal =
		find(inv, VOLUME_JOURNAL_DEVICE, item->volume.journal_uuid, &copies);

	if (!journal) {
		inventory_note(item, "its journal, UUID %s, was found on no device%s",
			item->volume.journal_uuid,
			inv->failure_count ? " that could be read" : "");
		return;
	}
	item->journal_item = (size_t)(journal - inv->items);
	item->journal_path = journal->identity.path;
	item->shares_disk = topology_compare(&item->topology, &journal->topology);
	if (copies > 1)
		inventory_note(item, "%zu devices carry its journal's UUID %s", copies,
			item->volume.journal_uuid);
	note_number(item, journal);
	if (!lists_user(journal, item->volume.uuid))
		inventory_note(item, "its journal on %s does not list it as a user",
			journal->identity.path);
	if (journal->volume.block_bytes != item->volume.block_bytes)
		inventory_note(item, "its journal on %s has blocks of another size",
			journal->identity.path);
	if (item->shares_disk == DEVICE_YES)
		inventory_note(item,
			"its external journal lies on the same disk as the data");
}

static int list_users(struct inventory *inv, struct inventory_item *item, struct err *e)
{
	const struct journal_state *j = &item->volume.journal;

	if (!j->user_count)
		return 0;
	item->users = calloc(j->user_count, sizeof(*item->users));
	if (!item->users)
		return err_set(e, ENOMEM, "list users of %s", item->identity.path);
	item->user_count = j->user_count;
	for (size_t i = 0; i < item->user_count; i++) {
		struct inventory_user *user = &item->users[i];
		const struct inventory_item *volume;
		size_t copies;

		uuid_unparse_lower(j->users[i], user->uuid);
		volume = find(inv, VOLUME_FILESYSTEM, user->uuid, &copies);
		if (!volume)
			continue;
		user->path = strdup(volume->identity.path);
		if (!user->path)
			return err_set(e, ENOMEM, "list users of %s",
				item->identity.path);
		if (strcmp(volume->volume.journal_uuid, item->volume.uuid))
			inventory_note(item, "its user %s has its journal elsewhere",
				user->path);
	}
	return 0;
}

static void note_journal_device(struct inventory_item *item)
{
	const struct journal_state *j = &item->volume.journal;

	if (j->user_count > 1)
		inventory_note(item, "it lists %u users; the kernel mounts none of them",
			j->user_count);
	if (j->readable && j->start && !item->in_use)
		inventory_note(item, "it holds transactions that have not been replayed");
}

static void note_volume(struct inventory_item *item)
{
	_cleanup_free_ char *unknown = volume_unknown_features(&item->volume);
	const struct volume_info *v = &item->volume;
	bool idle = !item->in_use && !item->mounted_on;

	if (v->state_error)
		inventory_note(item, "the kernel has flagged errors: run e2fsck -f");
	if (idle && v->needs_recovery)
		inventory_note(item,
			"it needs recovery: run e2fsck -p, or mount it once");
	else if (idle && !v->state_valid)
		inventory_note(item, "it was not cleanly unmounted: run e2fsck -p");
	if (unknown)
		inventory_note(item, "it has features that libext2fs does not know: %s",
			unknown);
}

static void note_copies(struct inventory *inv, struct inventory_item *item)
{
	size_t copies;

	find(inv, item->volume.kind, item->volume.uuid, &copies);
	if (copies > 1)
		inventory_note(item, "%zu devices carry its UUID", copies);
}

int inventory_link(struct inventory *inv, struct err *e)
{
	int r = 0;

	/* The lists of users first: the links look into them. */
	for (size_t i = 0; !r && i < inv->count; i++) {
		inv->items[i].shares_disk = DEVICE_UNKNOWN;
		if (inv->items[i].volume.kind == VOLUME_JOURNAL_DEVICE)
			r = list_users(inv, &inv->items[i], e);
	}
	for (size_t i = 0; !r && i < inv->count; i++) {
		struct inventory_item *item = &inv->items[i];

		if (item->volume.journal_problem)
			inventory_note(item, "%s", item->volume.journal_problem);
		note_copies(inv, item);
		if (item->volume.kind == VOLUME_JOURNAL_DEVICE)
			note_journal_device(item);
		else
			note_volume(item);
		if (item->volume.place == JOURNAL_EXTERNAL)
			link_external(inv, item);
		else if (item->volume.place == JOURNAL_INLINE)
			item->shares_disk = DEVICE_YES;
	}
	return r;
}
