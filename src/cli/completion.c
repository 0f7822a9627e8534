/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * What a word on the command line can be.  Words come from the command's `offer`; for
 * anything else the capitals say it that --help shows as the name of the value, "DIR" or
 * "DEV", so that an option which is added to a table completes like its siblings.
 */

#include "cli/completion.h"

#include <ctype.h>
#include <string.h>

#include "cli/cli.h"

static const struct {
	const char *name;
	enum completion_kind kind;
} kinds[] = {
	{ "PLACEMENT", COMPLETE_PLACEMENT },
	{ "DEV", COMPLETE_DEVICE },
	{ "FILE", COMPLETE_FILE },
	{ "WHERE", COMPLETE_FILE },
	{ "A", COMPLETE_FILE }, /* of compare: bundles or published outputs */
	{ "B", COMPLETE_FILE },
	{ "DIR", COMPLETE_DIRECTORY },
	{ "BUNDLE", COMPLETE_DIRECTORY },
};

/* The kind of "[NAME|DEV]" or "FILE.ini...": of its first capitals that have one. */
static enum completion_kind kind_of(const char *text, size_t length)
{
	for (size_t at = 0, n; at < length; at += n + !n) {
		for (n = 0; at + n < length && isupper((unsigned char)text[at + n]); n++)
			;
		for (size_t i = 0; n && i < ARRAY_SIZE(kinds); i++)
			if (strlen(kinds[i].name) == n &&
				!strncmp(kinds[i].name, text + at, n))
				return kinds[i].kind;
	}
	return COMPLETE_NOTHING;
}

static void complete(const struct command *command, int id, struct completion *out)
{
	*out = (struct completion){ .kind = COMPLETE_NOTHING };
	if (!command)
		global_offer(id, &out->words);
	else if (command->offer)
		command->offer(id, &out->words);
	if (out->words.length)
		out->kind = COMPLETE_WORDS;
}

void completion_of_option(const struct command *command, const struct option_spec *spec,
	struct completion *out)
{
	complete(command, spec->id, out);
	if (!out->words.length)
		out->kind = kind_of(spec->value, strlen(spec->value));
}

void completion_of_operand(const struct command *command, unsigned place,
	struct completion *out)
{
	const char *word = command->arguments;
	size_t length = strcspn(word, " ");

	if (place) {
		const char *next = word + length + (word[length] == ' ');
		bool again = length > 3 && strstr(word, "...") && strstr(word, "...") < next;

		*out = (struct completion){ .kind = COMPLETE_NOTHING };
		word = again ? word : next;
	} else {
		complete(command, 0, out);
	}
	length = strcspn(word, " ");
	if (!out->words.length && length && word[0] != '-' && word[1] != '-')
		out->kind = kind_of(word, length);
}

void completion_deinit(struct completion *c)
{
	strbuf_deinit(&c->words);
}
