/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The lines of a published output as its program printed them: what terminals, mail and
 * copying did to them is taken back.
 */

#include <stddef.h>

struct text_line {
	char *text;	 /* no newline, no blanks at the end */
	unsigned number; /* in the file, from 1 */
};

struct text_lines {
	struct text_line *lines;
	size_t count;
};

/*
 * Splits n bytes into lines.  Quoted-printable is decoded where the whole text is written
 * in it, marks of quotation ("> > ") are cut off, "\b" and "\r" overprint what stands
 * before them, tabs become blanks, and other control characters "?".  -ENOMEM.
 */
int text_split(struct text_lines *out, const char *bytes, size_t n);
void text_lines_deinit(struct text_lines *lines);

/* In place: what is a control character or no UTF-8 becomes "?". */
void text_make_name(char *name);
