/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Finding devices; see find.h.
 *
 * A tag is looked up by probing every device anew: no cache and no links of udev, which
 * both can be out of date, and so that a tag that two devices carry (a cloned disk, a
 * snapshot) is seen.  A device that another one is made of (a disk below device mapper or
 * md) often shows the same tag as what lies on it; it is then not a second candidate.
 */

#include "device/find.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "core/fileio.h"
#include "core/nearest.h"
#include "core/strbuf.h"
#include "device/sysfs.h"

enum { CANDIDATES_SHOWN = 3 };

static const struct tag {
	const char *name;  /* as typed */
	const char *value; /* as libblkid calls it */
	bool any_case;
	bool of_partition; /* from the partition table */
} tags[] = {
	{ "UUID", "UUID", true, false },
	{ "LABEL", "LABEL", false, false },
	{ "PARTUUID", "PART_ENTRY_UUID", true, true },
	{ "PARTLABEL", "PART_ENTRY_NAME", false, true },
};

/* Floppies hang when they are opened, optical and memory disks hold no volumes. */
static bool is_worth_a_look(const char *name)
{
	static const char *const never[] = { "ram", "fd", "sr" };
	uint64_t sectors;

	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		if (!strncmp(name, never[i], strlen(never[i])))
			return false;
	/* An extended partition has two sectors, an empty drive or loop device none. */
	return !fileio_read_u64(&sectors, "/sys/class/block/%s/size", name) &&
	       sectors > 2;
}

int device_list(char ***paths, size_t *count, struct err *e)
{
	size_t names_count, n = 0;
	char **names = sysfs_names(&names_count, "/sys/class/block");
	char **found = calloc(names_count + 1, sizeof(*found));

	if (!found) {
		sysfs_names_free(names, names_count);
		return err_set(e, ENOMEM, "list devices");
	}
	for (size_t i = 0; i < names_count; i++) {
		_cleanup_free_ char *dir = NULL;

		if (!is_worth_a_look(names[i]) ||
			asprintf(&dir, "/sys/class/block/%s", names[i]) < 0) {
			dir = NULL;
			continue;
		}
		found[n] = sysfs_node(dir);
		if (found[n])
			n++;
	}
	sysfs_names_free(names, names_count);
	*paths = found;
	*count = n;
	return 0;
}

void device_list_free(char **paths, size_t count)
{
	sysfs_names_free(paths, count);
}

static char *probe_value(const char *path, const struct tag *tag)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	blkid_probe probe = fd < 0 ? NULL : blkid_new_probe();
	const char *value;
	char *copy = NULL;

	if (!probe)
		return NULL;
	/* Only one of the chains: each reads from many places of the disk. */
	if (!blkid_probe_set_device(probe, fd, 0, 0) &&
		!blkid_probe_enable_superblocks(probe, !tag->of_partition) &&
		!blkid_probe_set_superblocks_flags(probe,
			BLKID_SUBLKS_UUID | BLKID_SUBLKS_LABEL) &&
		!blkid_probe_enable_partitions(probe, tag->of_partition) &&
		!blkid_probe_set_partitions_flags(probe, BLKID_PARTS_ENTRY_DETAILS) &&
		blkid_do_fullprobe(probe) >= 0 &&
		!blkid_probe_lookup_value(probe, tag->value, &value, NULL))
		copy = strdup(value);
	blkid_free_probe(probe);
	return copy;
}

bool device_is_part(const char *path)
{
	struct stat st;
	_cleanup_free_ char *dir =
		stat(path, &st) ? NULL : sysfs_device_dir(SYSFS_ROOT, st.st_rdev);
	size_t count = 0;
	char **names = dir ? sysfs_names(&count, "%s/holders", dir) : NULL;

	sysfs_names_free(names, count);
	return count > 0;
}

/* A device that carries the tag with another value. */
struct other {
	char *value, *path;
	size_t distance; /* from what was wanted */
};

struct search {
	const struct tag *tag;
	const char *wanted;
	char *found;	   /* first hit */
	struct strbuf all; /* every hit */
	struct other others[CANDIDATES_SHOWN]; /* the most similar, nearest first */
	size_t hits, others_count; /* in all */
};

static void other_deinit(struct other *o)
{
	free(o->value);
	free(o->path);
	*o = (struct other){ 0 };
}

/* Keeps it when it is nearer than one of those that are kept.  Of two UUIDs more than a
 * third of the letters differ unless one is the other, misspelt. */
static void add_other(struct search *s, const char *value, const char *path)
{
	struct other new = { NULL, NULL, nearest_distance(value, s->wanted) };
	size_t length = strlen(value), wanted = strlen(s->wanted);

	s->others_count++;
	if (s->tag->any_case && 3 * new.distance > (length > wanted ? length : wanted))
		return;
	new.value = strdup(value);
	new.path = strdup(path);
	/* A label may hold anything; in a message it must not steer a terminal. */
	for (char *p = new.value; p && *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	for (size_t i = 0; new.value && new.path && i < CANDIDATES_SHOWN; i++)
		if (!s->others[i].value || new.distance < s->others[i].distance) {
			struct other held = s->others[i];

			s->others[i] = new;
			new = held;
		}
	other_deinit(&new);
}

static void look_at(struct search *s, const char *path)
{
	_cleanup_free_ char *value = probe_value(path, s->tag);
	bool equal;

	if (!value || !*value)
		return;
	equal = s->tag->any_case ? !strcasecmp(value, s->wanted)
				 : !strcmp(value, s->wanted);
	if (!equal) {
		add_other(s, value, path);
		return;
	}
	if (device_is_part(path))
		return;
	strbuf_addf(&s->all, "%s%s", s->hits++ ? ", " : "", path);
	if (!s->found)
		s->found = strdup(path);
}

static int conclude(struct search *s, char **path, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf list = { 0 };
	const char *tag = s->tag->name;

	if (s->hits > 1)
		return err_refuse(e,
			"%s=%s is on more than one device: %s; name the right one by its "
			"path",
			tag, s->wanted, strbuf_text(&s->all));
	if (s->found) {
		*path = take_ptr(s->found);
		return 0;
	}
	if (!s->others_count)
		return err_say(e, ENOENT, "no device has %s=%s; none has one", tag,
			s->wanted);
	for (size_t i = 0; i < CANDIDATES_SHOWN && s->others[i].value; i++)
		strbuf_addf(&list, "%s%s (%s)", i ? ", " : "; similar: ", s->others[i].value,
			s->others[i].path);
	return err_say(e, ENOENT, "no device has %s=%s%s", tag, s->wanted, strbuf_text(&list));
}

/* Quotes around the value are allowed, as in fstab. */
static char *unquoted(const char *text)
{
	size_t n = strlen(text);

	if (n >= 2 && (*text == '"' || *text == '\'') && text[n - 1] == *text)
		return strndup(text + 1, n - 2);
	return strdup(text);
}

static int find_tag(const struct tag *tag, const char *value, char **path, struct err *e)
{
	_cleanup_free_ char *wanted = unquoted(value);
	struct search s = { .tag = tag, .wanted = wanted };
	char **paths;
	size_t count;
	int r;

	if (!wanted)
		return err_set(e, ENOMEM, "find %s=%s", tag->name, value);
	r = device_list(&paths, &count, e);
	if (r)
		return r;
	for (size_t i = 0; i < count; i++)
		look_at(&s, paths[i]);
	r = conclude(&s, path, e);
	device_list_free(paths, count);
	free(s.found);
	strbuf_deinit(&s.all);
	for (size_t i = 0; i < CANDIDATES_SHOWN; i++)
		other_deinit(&s.others[i]);
	return r;
}

static int find(const char *spec, char **path, struct err *e)
{
	char *real;

	for (size_t i = 0; i < ARRAY_SIZE(tags); i++) {
		size_t n = strlen(tags[i].name);

		if (!strncmp(spec, tags[i].name, n) && spec[n] == '=')
			return find_tag(&tags[i], spec + n + 1, path, e);
	}
	real = realpath(spec, NULL);
	if (!real)
		return err_set(e, errno, "%s", spec);
	*path = real;
	return 0;
}

/* Nothing was looked at and nothing was done: that is no failure of a device. */
int device_find(const char *spec, char **path, struct err *e)
{
	int r = find(spec, path, e);

	if (r == -ENOENT && e)
		e->kind = ERR_REFUSED;
	return r;
}
