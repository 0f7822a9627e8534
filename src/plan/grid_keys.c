/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The keys of [grid]; see grid.h.  Each is a list of levels, and what may be a level is
 * checked word by word, so that an arm that is made of them is right.
 */

#include <errno.h>
#include <string.h>

#include "core/units.h"
#include "plan/grid.h"

typedef int (*check_level)(const char *word, struct err *e);

static bool is_there(const struct grid_levels *levels, const char *word)
{
	for (size_t i = 0; i < levels->count; i++)
		if (!strcmp(levels->words[i], word))
			return true;
	return false;
}

static int add_level(struct grid_levels *levels, const char *word, struct err *e)
{
	char **words = reallocarray(levels->words, levels->count + 1, sizeof(*words));

	if (words)
		levels->words = words;
	if (!words || !(words[levels->count] = strdup(word)))
		return err_set(e, ENOMEM, "read the grid");
	levels->count++;
	return 0;
}

static int set_levels(
	struct grid_levels *levels, const char *value, check_level check, struct err *e)
{
	_cleanup_free_ char *copy = strdup(value);
	char *save = NULL;
	int r = 0;

	if (!copy)
		return err_set(e, ENOMEM, "read the grid");
	for (char *word = strtok_r(copy, " \t", &save); !r && word;
		word = strtok_r(NULL, " \t", &save)) {
		if (is_there(levels, word))
			return err_usage(e, "%s is there twice", word);
		if (levels->count == GRID_MAX_LEVELS)
			return err_usage(e, "more than %d levels", GRID_MAX_LEVELS);
		r = check(word, e);
		if (!r)
			r = add_level(levels, word, e);
	}
	return !r && !levels->count ? err_usage(e, "a value is missing") : r;
}

/* Size and position have keys of their own here. */
static int check_journal(const char *word, struct err *e)
{
	_cleanup_(placement_deinit) struct placement p = {0};
	int r = placement_parse(&p, word, e);

	if (!r && (p.size_bytes || p.position != AT_ANYWHERE))
		r = err_usage(e, "\"%s\": in a grid, size= is the key journal_size and "
				 "at= the key position", word);
	return r;
}

static int check_size(const char *word, struct err *e)
{
	uint64_t bytes;
	int r = units_parse_bytes(word, &bytes, e);

	return !r && !bytes ? err_usage(e, "a journal has a size") : r;
}

static int one_of(
	const char *word, const char *const *words, const char *expected, struct err *e)
{
	for (; *words; words++)
		if (!strcmp(*words, word))
			return 0;
	return err_usage(e, "\"%s\" is not one of %s", word, expected);
}

static int check_position(const char *word, struct err *e)
{
	static const char *const words[] = {"start", "middle", "end", NULL};
	uint64_t block;

	if (!units_parse_count(word, 1, UINT64_MAX, &block, NULL))
		return 0;
	return one_of(word, words, "start, middle, end and the number of a block", e);
}

static int check_data(const char *word, struct err *e)
{
	static const char *const words[] = {"ordered", "writeback", "journal", NULL};

	return one_of(word, words, "ordered, writeback and journal", e);
}

static int check_commit(const char *word, struct err *e)
{
	uint64_t seconds;

	return units_parse_count(word, 1, 86400, &seconds, e);
}

static int check_yes_no(const char *word, struct err *e)
{
	static const char *const words[] = {"yes", "no", NULL};

	return one_of(word, words, "yes and no", e);
}

static int check_mount(const char *word _unused_, struct err *e _unused_)
{
	return 0;
}

static int set_design(void *object, const char *value, struct err *e)
{
	struct grid *g = object;

	if (strcmp(value, "full") && strcmp(value, "one-at-a-time"))
		return err_usage(
			e, "\"%s\" is neither \"one-at-a-time\" nor \"full\"", value);
	g->full = !strcmp(value, "full");
	return 0;
}

#define SETTER(name, factor, check)                                                      \
	static int set_##name(void *object, const char *value, struct err *e)            \
	{                                                                                \
		return set_levels(                                                       \
			&((struct grid *)object)->factors[factor], value, check, e);     \
	}
SETTER(journal, GRID_JOURNAL, check_journal)
SETTER(size, GRID_SIZE, check_size)
SETTER(position, GRID_POSITION, check_position)
SETTER(data, GRID_DATA, check_data)
SETTER(commit, GRID_COMMIT, check_commit)
SETTER(fast_commit, GRID_FAST_COMMIT, check_yes_no)
SETTER(mount, GRID_MOUNT, check_mount)

const struct plan_key grid_keys[GRID_KEYS] = {
	{"design", "one-at-a-time|full", "one-at-a-time",
		"arms that differ from the first in one factor, or all combinations",
		set_design},
	{"journal", "PLACEMENT...", "inline",
		"none, inline or external=DEVICE, without size= and at=", set_journal},
	{"journal_size", "SIZE...", "as move takes", "of the journal", set_size},
	{"position", "start|middle|end|BLOCK...", "anywhere", "of an inline journal",
		set_position},
	{"data", "ordered|writeback|journal...", "that of the volume",
		"mount option data=", set_data},
	{"commit", "SECONDS...", "that of the volume", "mount option commit=",
		set_commit},
	{"fast_commit", "yes|no...", "as the volume has it", "the feature of ext4",
		set_fast_commit},
	{"mount", "OPTIONS...", "none",
		"other mount options; each word is a level, \"defaults\" one without any",
		set_mount},
};
