/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A string that grows; see strbuf.h. */

#include "core/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool grow(struct strbuf *b, size_t more)
{
	size_t need = b->length + more + 1;
	size_t room = b->room ? b->room : 64;
	char *text;

	if (b->failed)
		return false;
	while (room < need)
		room *= 2;
	if (room == b->room)
		return true;
	text = realloc(b->text, room);
	if (!text) {
		b->failed = true;
		return false;
	}
	b->text = text;
	b->room = room;
	return true;
}

void strbuf_addn(struct strbuf *b, const char *bytes, size_t n)
{
	if (!grow(b, n))
		return;
	memcpy(b->text + b->length, bytes, n);
	b->length += n;
	b->text[b->length] = '\0';
}

void strbuf_add(struct strbuf *b, const char *text)
{
	strbuf_addn(b, text, strlen(text));
}

void strbuf_addf(struct strbuf *b, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0) {
		text = NULL;
		b->failed = true;
		return;
	}
	strbuf_addn(b, text, (size_t)n);
}

bool strbuf_failed(const struct strbuf *b)
{
	return b->failed;
}

const char *strbuf_text(const struct strbuf *b)
{
	return b->text ? b->text : "";
}

char *strbuf_take(struct strbuf *b)
{
	char *text = NULL;

	strbuf_addn(b, "", 0);
	if (!b->failed)
		text = take_ptr(b->text);
	strbuf_deinit(b);
	return text;
}

void strbuf_deinit(struct strbuf *b)
{
	free(b->text);
	*b = (struct strbuf){ 0 };
}
