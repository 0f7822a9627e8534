/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The mkfs line of a volume; see mkfs.h.  Options are looked up in one table of letters,
 * those with a value followed by a colon, as getopt would have it.
 */

#include "plan/mkfs.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char allowed_options[] = "b:C:DE:e:G:g:I:i:L:M:m:N:O:o:r:U:";

/* What the kernel would otherwise do in the background after the first mount. */
#define NO_LAZY_WORK "lazy_itable_init=0,lazy_journal_init=0"

static const char *const types[] = {"ext2", "ext3", "ext4"};

static int check_type(const char *type, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(type, types[i]))
			return 0;
	return err_usage(e, "\"%s\" is not a type of volume (ext2, ext3 or ext4)", type);
}

/* One word that begins an option, without its value.  *value: where the value begins,
 * NULL when the option takes none, "" when it is the next word. */
static int check_option(const char *word, const char **value, struct err *e)
{
	const char *at;

	if (word[0] != '-' || !word[1])
		return err_usage(e,
			"\"%s\" is not an option: mkfs takes a type and options of "
			"mke2fs, "
			"the device is added",
			word);
	at = word[1] == ':' ? NULL : strchr(allowed_options, word[1]);
	if (!at || (at[1] != ':' && word[2]))
		return err_usage(e, "mke2fs option \"%s\" is not allowed here", word);
	*value = at[1] == ':' ? word + 2 : NULL;
	return 0;
}

static int check_value(char letter, const char *value, struct err *e)
{
	if (letter == 'O' && strstr(value, "journal_dev"))
		return err_usage(e, "-O journal_dev makes no volume; the journal is "
				    "placed by the arms");
	if (letter == 'E' && strstr(value, "offset="))
		return err_usage(e, "-E offset would make the volume somewhere else");
	return 0;
}

static int check_options(char *words, struct err *e)
{
	const char *value = NULL;
	char *save = NULL;

	for (char *word = strtok_r(words, " \t", &save); word;
		word = strtok_r(NULL, " \t", &save)) {
		int r = check_option(word, &value, e);

		if (r)
			return r;
		if (value && !*value) {
			value = strtok_r(NULL, " \t", &save);
			if (!value || *value == '-')
				return err_usage(
					e, "mke2fs option %s needs a value", word);
		}
		if (value)
			r = check_value(word[1], value, e);
		if (r)
			return r;
	}
	return 0;
}

int mkfs_parse(const char *text, char **type, char **options, struct err *e)
{
	size_t n = strcspn(text, " \t");
	_cleanup_free_ char *type_copy = strndup(text, n);
	_cleanup_free_ char *options_copy = NULL, *words = NULL;
	int r;

	text += n + strspn(text + n, " \t");
	options_copy = strdup(text);
	words = strdup(text);
	if (!type_copy || !options_copy || !words)
		return err_set(e, ENOMEM, "mkfs");
	r = check_type(type_copy, e);
	if (!r)
		r = check_options(words, e);
	if (r)
		return r;
	*type = take_ptr(type_copy);
	*options = take_ptr(options_copy);
	return 0;
}

static bool add(char **words, size_t *count, const char *word)
{
	words[*count] = strdup(word);
	return words[*count] && ++*count;
}

/* Our own -E goes into the user's one, since mke2fs heeds only the last. */
static bool add_options(char **words, size_t *count, char *text, bool discard)
{
	_cleanup_free_ char *extended = NULL;
	char *save = NULL, *word;
	const char *given = NULL;

	for (word = strtok_r(text, " \t", &save); word;
		word = strtok_r(NULL, " \t", &save)) {
		if (strncmp(word, "-E", 2)) {
			if (!add(words, count, word))
				return false;
			continue;
		}
		given = word[2] ? word + 2 : strtok_r(NULL, " \t", &save);
	}
	if (asprintf(&extended, NO_LAZY_WORK "%s%s%s", discard ? "" : ",nodiscard",
		    given ? "," : "", given ? given : "") < 0) {
		extended = NULL;
		return false;
	}
	return add(words, count, "-E") && add(words, count, extended);
}

char **mkfs_words(
	const char *type, const char *options, const char *device, bool discard)
{
	static const char *const first[] = {"mke2fs", "-q", "-F", "-t"};
	_cleanup_free_ char *text = strdup(options);
	size_t count = 0;
	char **words = calloc(strlen(options) + ARRAY_SIZE(first) + 5, sizeof(*words));
	bool ok = words && text;

	for (size_t i = 0; ok && i < ARRAY_SIZE(first); i++)
		ok = add(words, &count, first[i]);
	if (ok && add(words, &count, type) && add_options(words, &count, text, discard) &&
		add(words, &count, device))
		return words;
	mkfs_words_free(words);
	return NULL;
}

void mkfs_words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}
