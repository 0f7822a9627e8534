/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * What speaks against a comparison; see match_notes.h.  How large a journal was is taken
 * from its placement, or from an arm's name that says it: "400 MB SSD journal".
 */

#include "report/match_notes.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/comparison.h"

static const struct {
	const char *word, *sentence;
} marks[RESULT_MARKS] = {
	{"page cache", "page cache: no device has served these reads"},
	{"recovered", "~: recovered, the rate was \"######\" and is CPU efficiency times CPU"},
	{"not synced",
		"dd without sync: what was still in memory at the end is not in the time"},
	{"inflated",
		"inflated: random rates count the blocks of the file, not the operations "
		"done; import --correct divides"},
	{"impossible", "impossible: a rate above threads times block / latency"},
	{"latency sum", "latency sum: latencies are added up over several runs"},
	{"CPU sum", "CPU sum: the CPU of the process is counted once for each thread"},
	{"corrected", "corrected: a known fault of the program was taken out"},
};

const char *match_mark_word(unsigned i)
{
	return i < RESULT_MARKS ? marks[i].word : NULL;
}

static int add(struct match *m, struct err *e, const char *fmt, ...) _printf_(3, 4);

static int add(struct match *m, struct err *e, const char *fmt, ...)
{
	char **notes = reallocarray(m->notes, m->note_count + 1, sizeof(*notes));
	char *text;
	va_list ap;
	int n;

	if (!notes)
		return err_set(e, ENOMEM, "compare");
	m->notes = notes;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return err_set(e, ENOMEM, "compare");
	notes[m->note_count++] = text;
	return 0;
}

static int note_runs(struct match *m, struct err *e)
{
	size_t most[2] = {0};

	for (size_t i = 0; i < m->count; i++)
		for (size_t side = 0; side < 2; side++)
			most[side] = MAX(most[side], m->rows[i].runs[side]);
	if (most[0] == 1 && most[1] == 1)
		return add(m, e, "one run each: no statement about noise");
	if (m->paired && most[0] < 6) /* with fewer no interval of 95 % exists */
		return add(m, e, "%zu block%s: no statement about noise", most[0],
			PLURAL(most[0]));
	if (m->paired)
		return 0;
	return add(m, e,
		"%zu and %zu runs that share no blocks: whatever else changed between them is "
		"in the ratios",
		most[0], most[1]);
}

/* "400 MB" in "400 MB SSD journal", "64M" in "external=ssd,size=64M"; length 0: none. */
static size_t find_size(const struct match_side *side, const char **size)
{
	const char *p = strstr(side->placement, "size=");

	if (p) {
		*size = p + strlen("size=");
		return strcspn(*size, ",");
	}
	if (!strcasestr(side->arm, "journal"))
		return 0;
	for (p = side->arm; *p; p++) {
		size_t digits = strspn(p, "0123456789");
		const char *unit = p + digits;

		if (!digits)
			continue;
		unit += *unit == ' ';
		if (strchr("kKMGT", *unit) && *unit && toupper((unsigned char)unit[1]) == 'B' &&
			!isalnum((unsigned char)unit[2])) {
			*size = p;
			return (size_t)(unit + 2 - p);
		}
		p += digits - 1;
	}
	return 0;
}

static int note_journals(struct match *m, struct err *e)
{
	const char *size[2] = {"", ""};
	size_t n[2] = {find_size(&m->sides[0], &size[0]), find_size(&m->sides[1], &size[1])};
	size_t with = n[1] > 0;

	if (!n[0] && !n[1])
		return 0;
	if (n[0] && n[1]) {
		if (n[0] == n[1] && !strncasecmp(size[0], size[1], n[0]))
			return 0;
		return add(m, e, "unequal journals: %.*s and %.*s", (int)n[0], size[0],
			(int)n[1], size[1]);
	}
	return add(m, e, "unequal journals: %.*s, and one of %s size", (int)n[with],
		size[with],
		strcasestr(m->sides[!with].arm, "default") ? "the default" : "unknown");
}

static int note_marks(struct match *m, struct err *e)
{
	unsigned all = 0;
	int r = 0;

	for (size_t i = 0; i < m->count; i++)
		all |= m->rows[i].marks;
	for (unsigned i = 0; !r && i < RESULT_MARKS; i++)
		if (all & (1u << i))
			r = add(m, e, "%s", marks[i].sentence);
	return r;
}

static int note_short(struct match *m, struct err *e)
{
	bool any = false;

	for (size_t i = 0; i < m->count; i++)
		any = any || m->rows[i].too_short;
	return any ? add(m, e,
			     "rates of less than 200 ms are no measurement and left out")
		   : 0;
}

int match_notes_make(struct match *m, struct err *e)
{
	int r = m->count ? note_runs(m, e) : 0;

	if (!r)
		r = note_journals(m, e);
	if (!r)
		r = note_marks(m, e);
	return r ? r : note_short(m, e);
}
