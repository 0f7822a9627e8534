/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Undoing what happened to an output on its way; see text.h.
 *
 * Quoted-printable cannot be told by a line alone, because tiobench underlines its titles
 * with "====".  In a text that is really encoded so each "=" stands before two hexadecimal
 * digits or at the end of a line, and some "=3D", "=20" or "=09" occurs.
 */

#include "import/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "core/macros.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Length of a soft line break at p ("=\n", "=\r\n"), or 0. */
static size_t soft_break(const char *p, const char *end)
{
	if (p + 1 < end && p[1] == '\n')
		return 2;
	return p + 2 < end && p[1] == '\r' && p[2] == '\n' ? 3 : 0;
}

/* The byte that "=XX" at p stands for, or -1. */
static int encoded_byte(const char *p, const char *end)
{
	if (p + 2 >= end || hex_digit(p[1]) < 0 || hex_digit(p[2]) < 0)
		return -1;
	return hex_digit(p[1]) * 16 + hex_digit(p[2]);
}

static bool is_quoted_printable(const char *bytes, const char *end)
{
	bool sure = false;

	for (const char *p = bytes; p < end; p++) {
		int byte;

		if (*p != '=' || soft_break(p, end))
			continue;
		byte = encoded_byte(p, end);
		if (byte < 0)
			return false;
		sure = sure || byte == '=' || byte == ' ' || byte == '\t';
	}
	return sure;
}

/* A character of a line: control characters overprint or are replaced. */
static void put(char *line, size_t *at, size_t *length, char c)
{
	if (c == '\r') {
		*at = 0;
	} else if (c == '\b') {
		*at -= *at > 0;
	} else {
		if (c == '\t')
			c = ' ';
		else if ((unsigned char)c < ' ' || c == 127)
			c = '?';
		line[(*at)++] = c;
		if (*at > *length)
			*length = *at;
	}
}

/* Where the line begins behind marks of quotation. */
static size_t quotation(const char *line, size_t length)
{
	size_t i = 0, end = 0;

	while (i < length && (line[i] == '>' || line[i] == ' '))
		if (line[i++] == '>')
			end = i;
	return end && end < length && line[end] == ' ' ? end + 1 : end;
}

/* How many bytes at p are one character of UTF-8; 0: none is. */
static size_t character(const char *p, const char *end)
{
	unsigned char c = (unsigned char)*p;
	size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
	unsigned char second = n > 1 && p + 1 < end ? (unsigned char)p[1] : 0;

	if ((size_t)(end - p) < n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (((unsigned char)p[i] & 0xc0) != 0x80)
			return 0;
	/* Longer than needed, halves of pairs, and beyond the last plane. */
	if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) ||
		(c == 0xf0 && second < 0x90) || (c == 0xf4 && second > 0x8f))
		return 0;
	return n;
}

/* Other encodings are not known: what is no UTF-8 becomes "?". */
static void make_utf8(char *line, size_t length)
{
	for (size_t i = 0, n; i < length; i += n) {
		n = character(line + i, line + length);
		if (!n) {
			line[i] = '?';
			n = 1;
		} else if (n == 2 && (unsigned char)line[i] == 0xc2 &&
			(unsigned char)line[i + 1] < 0xa0) { /* control characters */
			line[i] = line[i + 1] = '?';
		}
	}
}

void text_make_name(char *name)
{
	for (char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	make_utf8(name, strlen(name));
}

static int add_line(
	struct text_lines *out, char *line, size_t length, unsigned number)
{
	size_t start = quotation(line, length);
	struct text_line *lines;

	make_utf8(line, length);

	while (length > start && line[length - 1] == ' ')
		length--;
	if (!(out->count & (out->count - 1))) { /* room for twice as many */
		lines = reallocarray(out->lines, out->count ? 2 * out->count : 1,
			sizeof(*lines));
		if (!lines)
			return -ENOMEM;
		out->lines = lines;
	}
	lines = &out->lines[out->count];
	lines->text = strndup(line + start, length - start);
	lines->number = number;
	if (!lines->text)
		return -ENOMEM;
	out->count++;
	return 0;
}

int text_split(struct text_lines *out, const char *bytes, size_t n)
{
	const char *end = bytes + n;
	bool encoded = is_quoted_printable(bytes, end);
	_cleanup_free_ char *line = malloc(n + 1);
	size_t at = 0, length = 0;
	unsigned number = 1, begun = 1;

	if (!line)
		return -ENOMEM;
	for (const char *p = bytes; p < end; p++) {
		size_t soft = encoded && *p == '=' ? soft_break(p, end) : 0;
		char c = *p;

		if (soft) {
			p += soft - 1;
			number++;
			continue;
		}
		if (encoded && c == '=') {
			c = (char)encoded_byte(p, end);
			p += 2;
		}
		if (c == '\n' || (c == '\r' && p + 1 < end && p[1] == '\n')) {
			p += c == '\r';
			if (add_line(out, line, length, begun))
				return -ENOMEM;
			at = length = 0;
			begun = ++number;
		} else {
			put(line, &at, &length, c);
		}
	}
	return length ? add_line(out, line, length, begun) : 0;
}

void text_lines_deinit(struct text_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->lines[i].text);
	free(lines->lines);
	*lines = (struct text_lines){0};
}
