/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Adapting the SVG of gnuplot; see svg.h.  It is read once from begin to end, and at each
 * place that matters something else is written.  A plot of thousands of points is a text of
 * half a megabyte, so that all but these places is copied as it is.
 */

#include "report/svg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/xml.h"

/* Each has at least 4.5 : 1 on the ground of a figure, grid and what only joins points
 * aside. */
static const char *const colours[PLOT_COLOURS][2] = {
	[PLOT_INK] = { "#1b1f24", "#e8eaed" },
	[PLOT_ARM] = { "#0b5cad", "#6cb6ff" },
	[PLOT_ARM + 1] = { "#b04700", "#ffa657" },
	[PLOT_ARM + 2] = { "#1a7340", "#63d68f" },
	[PLOT_ARM + 3] = { "#8431a6", "#d8a3f5" },
	[PLOT_ARM + 4] = { "#a81e52", "#ff8fb1" },
	[PLOT_ARM + 5] = { "#0b6e74", "#5fd6d0" },
	[PLOT_GRID] = { "#dfe3e8", "#3a4049" },
	[PLOT_AXIS] = { "#57606a", "#aab2bd" },
	[PLOT_REFERENCE] = { "#57606a", "#aab2bd" },
	[PLOT_BETTER] = { "#0b5cad", "#6cb6ff" },
	[PLOT_WORSE] = { "#b04700", "#ffa657" },
	[PLOT_NEUTRAL] = { "#57606a", "#aab2bd" },
	[PLOT_FAINT] = { "#b9c0c8", "#5b636e" },
	[PLOT_DATA] = { "#0b5cad", "#6cb6ff" },
	[PLOT_JOURNAL] = { "#b04700", "#ffa657" },
};

const char *svg_colour(unsigned role, bool dark)
{
	return colours[role][dark];
}

static size_t length_in_characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

/* Where character n of a text begins. */
static const char *character(const char *text, size_t n)
{
	while (*text && n) {
		text++;
		n -= (*text & 0xc0) != 0x80;
	}
	return text;
}

static char *shorten(const char *text, size_t length, size_t most)
{
	size_t end = most * 2 / 3;
	const char *rest = character(text, length - end);
	char *copy;

	if (length <= most || most < 8)
		return strdup(text);
	if (asprintf(&copy, "%.*s…%s", (int)(character(text, most - end - 1) - text), text,
		    rest) < 0)
		return NULL;
	return copy;
}

void svg_mark(struct svg_texts *t, const char *text, size_t most, struct strbuf *script)
{
	char **list = reallocarray(t->list, t->count + 1, sizeof(char *));
	size_t length = length_in_characters(text);
	char mark[24];
	int n;

	if (list)
		t->list = list;
	if (!list || !(list[t->count] = shorten(text, length, most))) {
		script->failed = true;
		return;
	}
	n = snprintf(mark, sizeof(mark), "[%zu]", t->count++);
	strbuf_add(script, mark);
	for (size_t i = (size_t)n; i < MIN(length, most); i++)
		strbuf_add(script, ".");
}

void svg_texts_deinit(struct svg_texts *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->list[i]);
	free(t->list);
	*t = (struct svg_texts){ 0 };
}

struct adapter {
	const struct svg_frame *frame;
	const struct svg_texts *texts;
	struct strbuf *out;
};

/* Each of these takes a place that begins as it wants: it writes what belongs there and
 * returns how much of the input that was for, 0 to have it copied. */

static size_t take_colour(const struct adapter *a, const char *at)
{
	unsigned red, green, blue;
	int n = 0;

	if (sscanf(at, "rgb(%u,%u,%u)%n", &red, &green, &blue, &n) != 3 || !n ||
		red != green || blue || !red || red > PLOT_COLOURS)
		return 0;
	if (a->frame->standalone)
		strbuf_add(a->out, svg_colour(red - 1, false));
	else
		strbuf_addf(a->out, "var(--plot-%u)", red - 1);
	return (size_t)n;
}

static size_t take_text(const struct adapter *a, const char *at)
{
	char *end;
	unsigned long index = strtoul(at + 2, &end, 10);
	size_t n = (size_t)(end - at);

	if (n == 2 || *end != ']' || index >= a->texts->count)
		return 0;
	strbuf_add(a->out, ">");
	xml_add(a->out, a->texts->list[index]);
	n++;
	return n + strspn(at + n, ".");
}

static size_t take_id(const struct adapter *a, const char *at _unused_)
{
	strbuf_addf(a->out, " id=%c%s-", at[4], a->frame->id);
	return 5;
}

static size_t take_reference(const struct adapter *a, const char *at _unused_)
{
	strbuf_addf(a->out, "href='#%s-", a->frame->id);
	return 7;
}

/* Colour and font are inherited. */
static size_t take_black(const struct adapter *a _unused_, const char *at _unused_)
{
	return strlen(" color=\"black\"");
}

static size_t take_fill(const struct adapter *a, const char *at _unused_)
{
	strbuf_add(a->out, "fill=\"currentColor\"");
	return strlen("fill=\"black\"");
}

static size_t take_font(const struct adapter *a _unused_, const char *at)
{
	const char *end = strchr(at + strlen(" font-family=\""), '"');

	return end ? (size_t)(end + 1 - at) : 0;
}

static size_t take_until(const char *at, const char *what)
{
	const char *end = strstr(at, what);

	return end ? (size_t)(end - at) + strlen(what) : 0;
}

/* gnuplot's names of series would show up beside the pointer. */
static size_t take_title(const struct adapter *a _unused_, const char *at)
{
	return take_until(at, "</title>");
}

static size_t take_filter(const struct adapter *a _unused_, const char *at)
{
	return take_until(at, "</filter>");
}

/* Groups in which nothing was drawn are most of its output. */
static size_t take_group(const struct adapter *a _unused_, const char *at)
{
	const char *end = strchr(at, '>');

	return end && !strncmp(end, ">\n</g>\n", 7) ? (size_t)(end + 7 - at) : 0;
}

static const struct place {
	const char *begins;
	size_t (*take)(const struct adapter *a, const char *at);
} places[] = {
	{ "rgb(", take_colour },
	{ ">[", take_text },
	{ " id='", take_id },
	{ " id=\"", take_id },
	{ "href='#", take_reference },
	{ " color=\"black\"", take_black },
	{ "fill=\"black\"", take_fill },
	{ " font-family=\"", take_font },
	{ "<title>", take_title },
	{ "<filter ", take_filter },
	{ "<g fill=", take_group },
};

/* The place that begins here; NULL: none. */
static const struct place *place_at(const char *at)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (!strncmp(at, places[i].begins, strlen(places[i].begins)))
			return &places[i];
	return NULL;
}

static void adapt(const struct adapter *a, const char *from)
{
	const char *copied = from;

	/* What a place may begin with. */
	while (*(from += strcspn(from, "r> hf<"))) {
		const struct place *place = place_at(from);
		size_t n;

		if (place) {
			strbuf_addn(a->out, copied, (size_t)(from - copied));
			copied = from;
		}
		n = place ? place->take(a, from) : 0;
		from += n ? n : 1;
		if (n)
			copied = from;
	}
	strbuf_add(a->out, copied);
}

static void open_frame(const struct svg_frame *f, struct strbuf *out)
{
	if (f->standalone)
		strbuf_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	strbuf_addf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
		"xmlns:xlink=\"http://www.w3.org/1999/xlink\" viewBox=\"0 0 %d %d\"",
		f->width, f->height);
	if (f->standalone)
		strbuf_addf(out, " width=\"%d\" height=\"%d\" color=\"%s\" "
			"font-family=\"sans-serif\"",
			f->width, f->height, svg_colour(PLOT_INK, false));
	else
		strbuf_addf(out, " class=\"%s\"", f->class);
	strbuf_add(out, " role=\"img\" aria-label=\"");
	xml_add(out, f->title);
	strbuf_addf(out, "\" aria-describedby=\"%s-about\">\n", f->id);
	if (f->standalone) {
		strbuf_add(out, "<title>");
		xml_add(out, f->title);
		strbuf_add(out, "</title>\n");
	}
	strbuf_addf(out, "<desc id=\"%s-about\">", f->id);
	xml_add(out, f->description);
	strbuf_add(out, "</desc>\n");
	if (f->standalone)
		strbuf_add(out, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
}

int svg_adapt(const struct svg_frame *frame, const struct svg_texts *texts,
	const char *drawn, struct strbuf *out, struct err *e)
{
	const struct adapter a = { frame, texts, out };
	const char *body = strstr(drawn, "<g id=\"gnuplot_canvas\"");

	if (!body || !strstr(body, "</svg>"))
		return err_say(e, EBADMSG, "gnuplot did not draw %s", frame->title);
	open_frame(frame, out);
	adapt(&a, body);
	return strbuf_failed(out) ? err_set(e, ENOMEM, "draw %s", frame->title) : 0;
}
