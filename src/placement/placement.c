/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Reading and writing a placement; see placement.h. */

#include "placement/placement.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/nearest.h"
#include "core/strbuf.h"
#include "core/units.h"

static const char *const position_names[] = { [AT_ANYWHERE] = "", [AT_START] = "start",
	[AT_MIDDLE] = "middle", [AT_END] = "end" };

static int parse_position(struct placement *p, const char *text, struct err *e)
{
	uint64_t block;

	if (p->position != AT_ANYWHERE)
		return err_usage(e, "at= is given twice");
	for (size_t i = AT_START; i < ARRAY_SIZE(position_names); i++)
		if (!strcmp(text, position_names[i])) {
			p->position = (enum placement_position)i;
			return 0;
		}
	if (units_parse_count(text, 1, UINT64_MAX, &block, NULL))
		return err_usage(e,
			"at= takes start, middle, end or the number of a block, not \"%s\"",
			text);
	p->position = AT_BLOCK;
	p->block = block;
	return 0;
}

static int parse_attribute(struct placement *p, const char *word, struct err *e)
{
	struct nearest near = { .word = word };
	int r;

	if (!strncmp(word, "size=", 5)) {
		if (p->size_bytes)
			return err_usage(e, "size= is given twice");
		r = units_parse_bytes(word + 5, &p->size_bytes, e);
		if (!r && !p->size_bytes)
			r = err_usage(e, "size=0: a journal has a size");
		return r;
	}
	if (!strncmp(word, "at=", 3) && p->place == JOURNAL_INLINE)
		return parse_position(p, word + 3, e);
	if (!strncmp(word, "at=", 3))
		return err_usage(e, "at= is only for an inline journal");
	nearest_offer(&near, "size=");
	nearest_offer(&near, "at=");
	return err_usage(e, "unknown attribute \"%s\"%s%s", word,
		near.best ? "; did you mean " : " (known: size=, at=)",
		near.best ? near.best : "");
}

static int parse_place(struct placement *p, const char *word, struct err *e)
{
	if (!strcmp(word, "none")) {
		p->place = JOURNAL_NONE;
	} else if (!strcmp(word, "inline")) {
		p->place = JOURNAL_INLINE;
	} else if (!strncmp(word, "external=", 9) && word[9]) {
		p->place = JOURNAL_EXTERNAL;
		p->device = strdup(word + 9);
		if (!p->device)
			return err_set(e, ENOMEM, "placement");
	} else {
		return err_usage(e,
			"\"%s\" is no placement; it is none, inline[,size=SIZE][,at=WHERE] "
			"or external=DEVICE[,size=SIZE]",
			word);
	}
	return 0;
}

int placement_parse(struct placement *p, const char *text, struct err *e)
{
	_cleanup_(placement_deinit) struct placement result = { 0 };
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *word;
	int r;

	if (!copy)
		return err_set(e, ENOMEM, "placement");
	r = parse_place(&result, strsep(&rest, ","), e);
	while (!r && (word = strsep(&rest, ","))) {
		if (result.place == JOURNAL_NONE)
			r = err_usage(e, "none has no attributes, but \"%s\" was given", word);
		else
			r = parse_attribute(&result, word, e);
	}
	if (r)
		return r;
	*p = result;
	result = (struct placement){ 0 };
	return 0;
}

char *placement_format(const struct placement *p)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	char size[32];

	if (p->place == JOURNAL_NONE)
		strbuf_add(&b, "none");
	else if (p->place == JOURNAL_INLINE)
		strbuf_add(&b, "inline");
	else
		strbuf_addf(&b, "external=%s", p->device);
	if (p->size_bytes) {
		/* Only an exact short form may stand for the number. */
		if (p->size_bytes % (1 << 20) == 0)
			snprintf(size, sizeof(size), "%lluM",
				(unsigned long long)p->size_bytes >> 20);
		else
			snprintf(size, sizeof(size), "%llu",
				(unsigned long long)p->size_bytes);
		strbuf_addf(&b, ",size=%s", size);
	}
	if (p->position == AT_BLOCK)
		strbuf_addf(&b, ",at=%llu", (unsigned long long)p->block);
	else if (p->position != AT_ANYWHERE)
		strbuf_addf(&b, ",at=%s", position_names[p->position]);
	return strbuf_take(&b);
}

void placement_deinit(struct placement *p)
{
	free(p->device);
	*p = (struct placement){ 0 };
}
