/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What gnuplot draws, as SVG that may stand in a page with others, or alone.
 *
 * gnuplot never sees a text of a bundle: it is given marks, "[7]....", as long as the text,
 * which are replaced here.  It is given colours that nobody would choose, one for each role
 * of plot.h, which become CSS variables in a page (light and dark) and fixed colours in a
 * file of its own.  Its ids get a prefix, so that no two plots of a page share one.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"
#include "core/strbuf.h"
#include "report/plot.h"

struct svg_texts {
	char **list; /* owned */
	size_t count;
};

/* The mark for a text, which is copied: appends it to script.  Of a text of more than most
 * characters the middle is left out. */
void svg_mark(struct svg_texts *t, const char *text, size_t most, struct strbuf *script);
void svg_texts_deinit(struct svg_texts *t);

/* The colour that gnuplot is told for a role, "#070700". */
#define SVG_COLOUR "#%02x%02x00"
#define SVG_COLOUR_ARGUMENTS(role) (unsigned)(role) + 1, (unsigned)(role) + 1

struct svg_frame {
	const char *id;	   /* prefix of ids: letters, digits and "-" */
	const char *class; /* of the element */
	const char *title, *description;
	int width, height;
	bool standalone;
};

/* "--plot-N" in CSS of a page is the colour of role N; light: as in a standalone file. */
const char *svg_colour(unsigned role, bool dark);

/* Appends drawn, the output of gnuplot, with its marks replaced.  -EBADMSG when it is not
 * what gnuplot writes. */
int svg_adapt(const struct svg_frame *frame, const struct svg_texts *texts,
	const char *drawn, struct strbuf *out, struct err *e);
