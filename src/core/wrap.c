/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Breaking lines; see wrap.h. */

#include "core/wrap.h"

#include <string.h>

void wrap_text(struct strbuf *b, const char *text, size_t column, size_t indent)
{
	bool first = true;

	while (*text) {
		size_t n = strcspn(text, " \n");

		if (!first && column + 1 + n > WRAP_WIDTH) {
			strbuf_addf(b, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			strbuf_add(b, " ");
			column++;
		}
		first = false;
		strbuf_addn(b, text, n);
		column += n;
		text += n + (text[n] != '\0');
	}
	strbuf_add(b, "\n");
}
