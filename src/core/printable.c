/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Texts for a terminal; see printable.h. */

#include "core/printable.h"

#include <stddef.h>
#include <string.h>

/* Bytes of the control character that begins here; 0: it is another.  Those beyond ASCII,
 * U+0080 to U+009F, are two bytes in UTF-8. */
static size_t control_bytes(const char *at)
{
	unsigned char c = (unsigned char)at[0], next = (unsigned char)at[c != 0];

	if (c < 0x20 || c == 0x7f)
		return 1;
	return c == 0xc2 && next >= 0x80 && next <= 0x9f ? 2 : 0;
}

void printable_add(struct strbuf *out, const char *text)
{
	for (const char *at = text; *at;) {
		size_t n = *at == '\n' || *at == '\t' ? 0 : control_bytes(at);

		if (n)
			strbuf_addf(out, "\\x%02x", (unsigned)(unsigned char)at[n - 1]);
		else
			strbuf_addn(out, at, 1);
		at += n ? n : 1;
	}
}

void printable_make(struct strbuf *text)
{
	struct strbuf out = { .failed = strbuf_failed(text) };

	printable_add(&out, strbuf_text(text));
	strbuf_deinit(text);
	*text = out;
}

size_t printable_cut(const char *text, size_t bytes)
{
	size_t n = strnlen(text, bytes);

	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

bool printable_is_name(const char *text)
{
	for (const char *at = text; *at; at++)
		if (control_bytes(at))
			return false;
	return *text;
}
