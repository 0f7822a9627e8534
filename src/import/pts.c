/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Tables of the Phoronix Test Suite with two systems and a ratio, as they are published:
 *
 *	| HDD | SSD | |||
 *	| Dbench v4.0 | 1 Clients | 75.37 |
 *	151.72 |
 *	201% |
 *	| 12 Clients | 42.53 | ...
 *
 * Cells end with "|" or with the line.  A row is whatever stands before a cell "N%" whose
 * two cells before are numbers: the test (the one before, if the row has no own), what was
 * done, and the numbers of both systems.  "*" behind a test means that less is better.
 * Units are not told.
 */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/printable.h"
#include "import/formats.h"

enum { PENDING = 6, CELL = 72 };

struct state {
	int active; /* 0: not looked yet, 1: this is such a table, -1: it is not */
	char systems[2][CELL];
	char test[CELL];
	char pending[PENDING][CELL]; /* cells since the last row */
	size_t count;
};

/* "153%" */
static bool is_percent(const char *cell, double *value)
{
	const char *rest;

	return fields_leading(cell, value, &rest) && !strcmp(rest, "%") && *value > 0;
}

/* Next cell of a line, without blanks around it; false at the end. */
static bool next_cell(const char **line, char cell[CELL])
{
	size_t n;

	*line += strspn(*line, "| ");
	if (!**line)
		return false;
	n = strcspn(*line, "|");
	snprintf(cell, CELL, "%.*s", (int)printable_cut(*line, MIN(n, (size_t)CELL - 1)),
		*line);
	*line += n;
	for (n = strlen(cell); n && cell[n - 1] == ' ';)
		cell[--n] = '\0';
	return true;
}

/* A text is such a table when two of its lines have a bar and a cell "N%". */
static bool looks_like_one(const struct reader *r)
{
	size_t found = 0;

	for (size_t i = r->at; i < r->lines.count && found < 2; i++) {
		const char *line = r->lines.lines[i].text;
		char cell[CELL];
		double value;

		if (!strchr(line, '|'))
			continue;
		while (next_cell(&line, cell))
			found += is_percent(cell, &value);
	}
	return found == 2;
}

static void put(struct reader *r, const struct state *s, const char *what, const double v[2])
{
	size_t n = strlen(s->test);
	bool less = n && s->test[n - 1] == '*';
	char name[2 * CELL + 4], test[CELL];

	memcpy(test, s->test, CELL);
	while (less && n && strchr(" *", test[n - 1]))
		test[--n] = '\0';
	snprintf(name, sizeof(name), "%s%s%s", test, *test && *what ? ", " : "", what);
	if (!*name) {
		reader_malformed(r, "expected what was measured before its two numbers");
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		struct result_phase *phase = reader_phase(
			r, reader_named_arm(r, s->systems[i]), "pts", name, name);

		reader_metric(r, phase, "value", UNIT_COUNT,
			less ? LOWER_IS_BETTER : HIGHER_IS_BETTER, v[i]);
	}
}

static void take_row(struct reader *r, struct state *s, double percent)
{
	const char *what = "";
	double v[2], ratio;
	size_t n = s->count;

	s->count = 0;
	if (n < 2 || !fields_number(s->pending[n - 2], &v[0]) ||
		!fields_number(s->pending[n - 1], &v[1]) || v[0] <= 0 || v[1] <= 0) {
		reader_malformed(r, "expected two numbers before the ratio");
		return;
	}
	n -= 2;
	if (n)
		what = s->pending[n - 1];
	if (n > 1)
		memcpy(s->test, s->pending[n - 2], CELL);
	if (!*s->systems[0]) {
		snprintf(s->systems[0], CELL, "first");
		snprintf(s->systems[1], CELL, "second");
	}
	ratio = strchr(s->test, '*') ? v[0] / v[1] : v[1] / v[0];
	if (fabs(100 * ratio - percent) > 1.5)
		reader_warn(r, reader_number(r),
			"the ratio of %g and %g is %.0f %%, not %.0f %%", v[0], v[1],
			100 * ratio, percent);
	put(r, s, what, v);
}

/* Before the first row a line with two cells names the systems. */
static void take_systems(struct state *s, const char *line)
{
	char cells[3][CELL];
	const char *rest;
	size_t n = 0;
	double value;

	if (*line != '|')
		return;
	while (n < 3 && next_cell(&line, cells[n]))
		n++;
	if (n != 2 || strchr(cells[1], '%') || fields_leading(cells[1], &value, &rest))
		return;
	memcpy(s->systems, cells, sizeof(s->systems));
	s->count = 0;
}

static size_t take(struct reader *r, void *data)
{
	struct state *s = data;
	const char *line = reader_line(r);
	char cell[CELL];
	double percent;

	if (!s->active && !strchr(line, '|'))
		return 0;
	if (!s->active)
		s->active = looks_like_one(r) ? 1 : -1;
	if (s->active < 0 || !*line || !strcmp(line, "rc=0"))
		return 0;
	if (!*s->test)
		take_systems(s, line);
	while (next_cell(&line, cell)) {
		if (is_percent(cell, &percent)) {
			take_row(r, s, percent);
			continue;
		}
		if (s->count == PENDING) {
			memmove(s->pending[0], s->pending[1], sizeof(s->pending) - CELL);
			s->count--;
		}
		memcpy(s->pending[s->count++], cell, CELL);
	}
	return 1;
}

const struct import_format import_pts = {
	.name = "pts",
	.help = "published ratio tables of the Phoronix Test Suite",
	.state_bytes = sizeof(struct state),
	.take = take,
};
