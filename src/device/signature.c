/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Signatures by libblkid's low-level probing, one after the other, as wipefs does: a
 * "safe" probe would give up with "ambivalent" where two file systems have left their
 * marks, which is exactly the case that must be told.  Superblocks with a bad checksum
 * count, and so do copies (the backup of a GPT, the second header of LUKS): whoever
 * overwrites the first would make the device look like the second.
 */

#include "device/signature.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <string.h>

#include "core/strbuf.h"

DEFINE_CLEANUP(blkid_probe, blkid_free_probe)

static char *value_of(blkid_probe probe, const char *name)
{
	const char *value;

	if (blkid_probe_lookup_value(probe, name, &value, NULL))
		return NULL;
	return strdup(value);
}

static void signature_deinit(struct signature *s)
{
	free(s->type);
	free(s->usage);
	free(s->uuid);
	free(s->label);
	*s = (struct signature){ 0 };
}

static int fill(struct signature *s, blkid_probe probe)
{
	const char *magic = "SBMAGIC";
	_cleanup_free_ char *offset = NULL;

	s->type = value_of(probe, "TYPE");
	if (s->type) {
		s->usage = value_of(probe, "USAGE");
		if (!s->usage)
			s->usage = strdup("other");
		s->uuid = value_of(probe, "UUID");
		s->label = value_of(probe, "LABEL");
		offset = value_of(probe, "SBMAGIC_OFFSET");
	} else {
		magic = "PTMAGIC";
		s->type = value_of(probe, "PTTYPE");
		if (!s->type)
			return 0;
		s->usage = strdup("partition table");
		s->uuid = value_of(probe, "PTUUID");
		offset = value_of(probe, "PTMAGIC_OFFSET");
	}
	if (offset) {
		s->offset = strtoull(offset, NULL, 10);
		if (blkid_probe_lookup_value(probe, magic, NULL, &s->length))
			s->length = 0;
	}
	return s->type && s->usage ? 1 : -ENOMEM;
}

static int append(struct signature_list *list, struct signature *s)
{
	struct signature *more = realloc(list->items, (list->count + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	list->items = more;
	list->items[list->count++] = *s;
	*s = (struct signature){ 0 };
	return 0;
}

bool signature_types_have(const char *types, const char *type)
{
	size_t n = strlen(type);

	while (types && *types) {
		size_t word = strcspn(types, ",");

		if (word == n && !strncmp(types, type, n))
			return true;
		types += word + (types[word] == ',');
	}
	return false;
}

static bool is_known(const struct signature_list *list, const struct signature *s)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].offset == s->offset &&
			!strcmp(list->items[i].type, s->type))
			return true;
	return false;
}

/* Looks again as if what was found were not there: behind it a copy may show. */
static void look_behind(blkid_probe probe, const struct signature *s)
{
	if (s->length && !blkid_probe_hide_range(probe, s->offset, s->length))
		blkid_probe_step_back(probe);
}

static int collect(struct signature_list *list, blkid_probe probe)
{
	int found, r;

	while ((found = blkid_do_probe(probe)) == 0) {
		_cleanup_(signature_deinit) struct signature s = { 0 };

		r = fill(&s, probe);
		if (r < 0)
			return r;
		if (!r || is_known(list, &s))
			continue;
		look_behind(probe, &s);
		r = append(list, &s);
		if (r)
			return r;
	}
	return found < 0 ? -EIO : 0;
}

int signature_list_read(struct signature_list *list, int fd, const char *name,
	struct err *e)
{
	_cleanup_(signature_list_deinit) struct signature_list found = { 0 };
	_cleanup_(blkid_free_probep) blkid_probe probe = blkid_new_probe();
	int r;

	if (!probe)
		return err_set(e, ENOMEM, "look for signatures on %s", name);
	if (blkid_probe_set_device(probe, fd, 0, 0) ||
		blkid_probe_enable_superblocks(probe, 1) ||
		blkid_probe_set_superblocks_flags(probe,
			BLKID_SUBLKS_TYPE | BLKID_SUBLKS_UUID | BLKID_SUBLKS_LABEL |
				BLKID_SUBLKS_USAGE | BLKID_SUBLKS_MAGIC |
				BLKID_SUBLKS_BADCSUM) ||
		blkid_probe_enable_partitions(probe, 1) ||
		blkid_probe_set_partitions_flags(probe,
			BLKID_PARTS_MAGIC | BLKID_PARTS_FORCE_GPT))
		return err_say(e, EIO, "look for signatures on %s: cannot be probed",
			name);
	r = collect(&found, probe);
	if (r)
		return err_set(e, -r, "look for signatures on %s", name);
	*list = found;
	found = (struct signature_list){ 0 };
	return 0;
}

void signature_list_deinit(struct signature_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		signature_deinit(&list->items[i]);
	free(list->items);
	*list = (struct signature_list){ 0 };
}

/* A label may hold anything; in a message it must not steer a terminal. */
static void add_label(struct strbuf *b, const char *label)
{
	strbuf_add(b, " \"");
	for (; *label; label++)
		strbuf_addn(b,
			(unsigned char)*label < 0x20 || *label == 0x7f ? "?" : label, 1);
	strbuf_add(b, "\"");
}

static void describe(struct strbuf *b, const struct signature *s)
{
	strbuf_add(b, s->type);
	if (!strcmp(s->usage, "partition table"))
		strbuf_add(b, " partition table");
	if (s->label)
		add_label(b, s->label);
	if (s->uuid)
		strbuf_addf(b, " (UUID %s)", s->uuid);
}

/* A copy of one before it, at the other end of the device. */
static bool is_copy(const struct signature_list *list, size_t at)
{
	const struct signature *s = &list->items[at];

	for (size_t i = 0; i < at; i++) {
		const struct signature *t = &list->items[i];

		if (!strcmp(t->type, s->type) &&
			!strcmp(t->uuid ? t->uuid : "", s->uuid ? s->uuid : ""))
			return true;
	}
	return false;
}

char *signature_list_describe(const struct signature_list *list)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	if (!list->count)
		return strdup("nothing");
	for (size_t i = 0; i < list->count; i++) {
		if (is_copy(list, i))
			continue;
		if (i)
			strbuf_add(&b, ", ");
		describe(&b, &list->items[i]);
	}
	return strbuf_take(&b);
}
