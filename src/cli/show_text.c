/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Small texts that several facts of "show" are made of; see show_text.h. */

#include "cli/show_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "core/units.h"

char *show_printable(const char *text)
{
	json_t *probe = json_string(text); /* only valid UTF-8 makes one */
	bool utf8 = probe != NULL;
	char *copy = strdup(text);

	json_decref(probe);
	for (unsigned char *p = (unsigned char *)copy; p && *p; p++) {
		bool c1 = *p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0;

		if (*p < 0x20 || *p == 0x7f || (*p >= 0x80 && !utf8))
			*p = '?';
		else if (c1)
			p[0] = p[1] = '?';
	}
	return copy;
}

char *show_message(const char *text)
{
	char *copy = show_printable(text);
	const char *at = text;

	while (copy && (at = strstr(at, "\n  "))) {
		copy[at - text] = '\n';
		at++;
	}
	return copy;
}

char *show_format(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	return text;
}

char *show_copy(const char *text)
{
	return text && *text ? show_printable(text) : NULL;
}

char *show_bytes(uint64_t bytes)
{
	char out[16];

	units_format_bytes(bytes, out);
	return strdup(out);
}

char *show_answer(enum device_answer answer)
{
	static const char *const words[] = { "no", "yes", "unknown" };

	return strdup(words[answer]);
}

char *show_write_cache(enum device_answer answer)
{
	static const char *const words[] = { "write through", "write back", "unknown" };

	return strdup(words[answer]);
}
