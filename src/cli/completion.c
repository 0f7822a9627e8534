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

/* The kind of the operand in that place of one form of a command, "A [B...] [options]"; one
 * with dots may be given again. */
static enum completion_kind kind_in_form(const char *form, unsigned place)
{
	const char *end = form + strcspn(form, "\n");

	for (unsigned i = 0; form < end; i++) {
		size_t length = strcspn(form, " \n");

		if (form[0] == '-' || !strncmp(form, "[-", 2))
			break;
		if (i == place || memmem(form, length, "...", 3))
			return kind_of(form, length);
		form += length + (form + length < end);
	}
	return COMPLETE_NOTHING;
}

void completion_of_operand(const struct command *command, unsigned place,
	struct completion *out)
{
	const char *form = command->arguments;

	*out = (struct completion){ .kind = COMPLETE_NOTHING };
	if (!place)
		complete(command, 0, out);
	for (; out->kind == COMPLETE_NOTHING && *form; form += *form == '\n') {
		out->kind = kind_in_form(form, place);
		form += strcspn(form, "\n");
	}
}

void completion_deinit(struct completion *c)
{
	strbuf_deinit(&c->words);
}
